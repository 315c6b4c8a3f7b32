"""The configurations of contrastive tension that the conformance kit runs."""

from typing import Any

from tests.support.tiny import Sample

RELEASED: dict[str, Any] = {
    "max_length": 32,
    "negative_pairs": "two-random",
    "negatives": 3,
    "sampling": "with-replacement",
    "reduction": "mean",
    "scale": None,
    "dropout": 0.0,
    "exported": "better",
}
PAPER: dict[str, Any] = {**RELEASED, "negative_pairs": "anchored", "exported": "second"}
SBERT: dict[str, Any] = {
    **RELEASED,
    "sampling": "one-pass",
    "reduction": "sum",
    "dropout": None,
    "exported": "second",
}
IN_BATCH: dict[str, Any] = {**SBERT, "negative_pairs": "in-batch", "negatives": 0, "scale": 20.0}

SAMPLES = [
    Sample("ct", "released", RELEASED),
    Sample("ct", "paper", PAPER),
    Sample("ct", "sbert", SBERT),
    Sample("ct", "sbert-inbatch", IN_BATCH),
    Sample("ct", "sbert-inbatch-dot", {**IN_BATCH, "scale": 1.0, "similarity": "dot"}),
]

REFUSED = [
    ({"scale": 20.0}, "expected 0 and a number for `in-batch`"),
    ({"negatives": 0}, "expected 0 and a number for `in-batch`"),
    ({"negative_pairs": "in-batch"}, "expected 0 and a number for `in-batch`"),
    ({"similarity": "dot"}, "similarity 'dot' with negative_pairs"),
]
