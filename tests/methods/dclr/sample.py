"""The configurations of DCLR that the conformance kit runs: both presets and the paper's variants."""

from typing import Any

from tests.support.tiny import Sample

PAPER: dict[str, Any] = {
    "max_length": 32,
    "temperature": 0.05,
    "objective": "cross-entropy",
    "masked_pair": "excluded",
    "student_from": "backbone",
    "weights_from": "complement",
    "threshold": 0.9,
    "comparison": "at-or-above",
    "threshold_scale": "cosine",
    "complement_vector": "own",
    "complement_dropout": False,
    "noise_ratio": 1.0,
    "noise_scale": 1.0,
    "noise_steps": 4,
    "noise_step_size": 1.0e-3,
    "noise_temperature": 0.05,
    "noise_denominator": "noise-only",
    "distillation_weight": 0.0,
    "head": "mlp",
    "attend_padding": False,
    "positive": "dropout",
    "cutoff_rate": None,
}
RELEASED = {
    **PAPER,
    "objective": "binary-cross-entropy",
    "masked_pair": "zero-logit",
    "comparison": "above",
    "threshold_scale": "twenty",
    "complement_dropout": True,
    "noise_denominator": "all",
    "head": "pooler-mlp",
    "attend_padding": True,
}
UNWEIGHTED = {"weights_from": "none", "threshold": None}
CUTOFF = {"cutoff_rate": 0.2}

SAMPLES = [
    Sample("dclr", "released", RELEASED, parent="encoder"),
    Sample("dclr", "paper", PAPER, parent="encoder"),
    Sample("dclr", "simcse", {**PAPER, **UNWEIGHTED, "noise_ratio": 0.0}),
    Sample("dclr", "self-weighting", {**PAPER, "weights_from": "student", "head": "two-mlp"}),
    Sample(
        "dclr",
        "distill-random-noise",
        {**RELEASED, **UNWEIGHTED, "distillation_weight": 0.1, "noise_steps": 0, "head": "pooler"},
        parent="encoder",
    ),
    Sample("dclr", "token-shuffle", {**RELEASED, "positive": "token-shuffle"}, parent="encoder"),
    Sample("dclr", "feature-cutoff", {**PAPER, **UNWEIGHTED, **CUTOFF, "positive": "feature-cutoff"}),
]

REFUSED = [
    ({"threshold": None}, "expected a number with weights"),
    ({"weights_from": "none"}, "null without"),
    ({"positive": "token-cutoff"}, "expected a number for a cutoff"),
    ({"cutoff_rate": 0.2}, "null otherwise"),
]
