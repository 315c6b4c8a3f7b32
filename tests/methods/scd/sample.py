"""The configurations of SCD that the conformance kit runs."""

from typing import Any

from tests.support.tiny import Sample

RELEASED: dict[str, Any] = {
    "max_length": 32,
    "dropout_low": 0.05,
    "dropout_high": 0.155,
    "self_contrast_weight": 1.0,
    "self_contrast_scale": 20.0,
    "self_contrast": "mean",
    "decorrelation_weight": 0.005225,
    "off_diagonal_weight": 0.012,
    "projector_width": 24,
}
PAPER: dict[str, Any] = {
    **RELEASED,
    "dropout_high": 0.15,
    "self_contrast_scale": 1.0,
    "decorrelation_weight": 0.005,
    "off_diagonal_weight": 0.013,
}
CHECKPOINT: dict[str, Any] = {**RELEASED, "self_contrast": "sum", "decorrelation_weight": 1.05}

SAMPLES = [
    Sample("scd", "released", RELEASED),
    Sample("scd", "paper", PAPER),
    Sample("scd", "checkpoint", CHECKPOINT),
]

REFUSED = [({"dropout_low": 0.3}, "above dropout_high")]
