"""The configurations of ConSERT that the conformance kit runs."""

from tests.support.tiny import Sample

RELEASED = {
    "max_length": 32,
    "temperature": 0.1,
    "contrast_weight": 0.15,
    "first_view": "feature-cutoff",
    "second_view": "shuffle",
    "token_rate": 0.15,
    "feature_rate": 0.2,
    "element_rate": 0.2,
    "element_dropout": "exact-count",
    "cut_at": "after-layernorm",
    "positions": "backbone",
    "dropout": 0.0,
    "training_pooling": "mean",
}
PAPER = {
    **RELEASED,
    "contrast_weight": 0.5,
    "element_dropout": "bernoulli",
    "cut_at": "word-embeddings",
}

SAMPLES = [
    Sample("consert", "released", RELEASED),
    Sample("consert", "paper", PAPER),
    Sample("consert", "released-large", {**RELEASED, "first_view": "none", "dropout": None}),
    Sample("consert", "cutoffs", {**RELEASED, "first_view": "token-cutoff", "second_view": "dropout"}),
    Sample("consert", "none-none", {**RELEASED, "first_view": "none", "second_view": "none"}),
]
