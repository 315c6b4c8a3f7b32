"""The configurations of simcse that the conformance kit runs."""

from tests.support.tiny import Sample

_PLAIN = {
    "max_length": 32,
    "temperature": 0.05,
    "objective": "info-nce",
    "positive": "dropout",
    "head": "mlp",
    "dropout": None,
}

SAMPLES = [
    Sample("simcse", "info-nce", _PLAIN),
    Sample("simcse", "nt-xent", {**_PLAIN, "objective": "nt-xent", "head": "none"}),
    Sample("simcse", "no-dropout", {**_PLAIN, "dropout": 0.0}),
    Sample("simcse", "paraphrase", {**_PLAIN, "positive": "paraphrase", "objective": "nt-xent"}),
    Sample("simcse", "uniformity", {**_PLAIN, "objective": "uniformity"}),
    Sample("simcse", "negated", {**_PLAIN, "control": "negated"}),
    Sample("simcse", "permuted", {**_PLAIN, "control": "permuted"}),
]
