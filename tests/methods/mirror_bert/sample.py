"""The configurations of Mirror-BERT that the conformance kit runs."""

from typing import Any

from tests.support.tiny import Sample

RELEASED: dict[str, Any] = {
    "max_length": 50,
    "temperature": 0.04,
    "vector": "padded-mean",
    "dropout": 0.0,
    "drophead": 0.2,
    "drophead_all": "redraw",
    "span_length": 5,
    "span_shortest": 30,
    "span_place": "first-occurrence",
    "mask_token": "text",
}
PAPER: dict[str, Any] = {**RELEASED, "span_place": "drawn", "mask_token": "tokenizer"}
PORTABLE: dict[str, Any] = {**PAPER, "vector": "pooled"}

SAMPLES = [
    Sample("mirror-bert", "released", RELEASED),
    Sample("mirror-bert", "paper", PAPER),
    Sample("mirror-bert", "portable", PORTABLE),
    Sample("mirror-bert", "dropout", {**RELEASED, "dropout": None, "drophead": 0.0}),
]
