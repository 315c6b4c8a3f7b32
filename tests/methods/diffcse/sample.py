"""The configurations of DiffCSE that the conformance kit runs."""

from typing import Any

from tests.support.tiny import Sample

RELEASED: dict[str, Any] = {
    "max_length": 32,
    "temperature": 0.05,
    "head": "batch-norm",
    "detection_weight": 0.005,
    "mask_share": 0.3,
    "generator_layer": "own",
    "generator_output": "argmax",
    "generator_dropout": True,
    "rewrite_places": "all",
    "detection_mean": "all",
    "detection_views": "both",
}
PAPER: dict[str, Any] = {
    **RELEASED,
    "generator_output": "sample",
    "generator_dropout": False,
    "rewrite_places": "masked",
    "detection_mean": "real",
    "detection_views": "one",
}

SAMPLES = [
    Sample("diffcse", "released", RELEASED, parent="generator"),
    Sample("diffcse", "paper", PAPER, parent="generator"),
    Sample("diffcse", "contrast-alone", {**RELEASED, "detection_weight": 0.0}),
    Sample(
        "diffcse",
        "tanh-and-embeddings",
        {**RELEASED, "head": "mlp", "generator_layer": "word-embeddings", "detection_weight": 1.0},
        parent="encoder",
    ),
]
