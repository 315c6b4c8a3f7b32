"""The configurations of moco that the conformance kit runs."""

from tests.support.tiny import Sample

RELEASED = {
    "max_length": 32,
    "temperature": 0.05,
    "momentum": 0.885,
    "momentum_start": "random",
    "queue_size": 20,
    "queue_holds_batch": False,
    "head": "mlp",
    "key_dropout": True,
    "key_view": "same",
    "edit_share": 0.0,
    "unedited_share": 1.0,
}
PAPER = {**RELEASED, "momentum_start": "backbone", "queue_holds_batch": True, "head": "none"}

SAMPLES = [
    Sample("moco", "released", RELEASED),
    Sample("moco", "paper", PAPER),
    Sample(
        "moco",
        "duplication-no-queue",
        {**RELEASED, "key_view": "duplication", "edit_share": 0.3, "unedited_share": 0.5, "queue_size": 0},
    ),
    Sample(
        "moco",
        "deletion-still-keys",
        {**RELEASED, "key_view": "deletion", "edit_share": 0.3, "unedited_share": 0.5, "key_dropout": False},
    ),
]
