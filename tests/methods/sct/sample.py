"""The configurations of SCT that the conformance kit runs."""

from typing import Any

from tests.support.tiny import Sample

SELF_SUPERVISION: dict[str, Any] = {
    "loss": "kl",
    "crossing": True,
    "both_directions": True,
    "momentum": None,
    "reference_dropout": True,
    "projector_blocks": 3,
    "projector_factor": 2,
    "queues": "two",
    "queue_update": True,
}
RELEASED: dict[str, Any] = {
    "max_length": 32,
    "views": [1, 2],
    "online_temperature": 0.05,
    "reference_temperature": 0.04,
    "queue_size": 20,
    "queue_holds_batch": False,
    "loss_weight": 1.0,
    "self_supervision": SELF_SUPERVISION,
    "distillation": None,
}
PAPER: dict[str, Any] = {
    **RELEASED,
    "queue_holds_batch": True,
    "loss_weight": 0.5,
    "self_supervision": {**SELF_SUPERVISION, "reference_dropout": False},
}
SECOND_STAGE: dict[str, Any] = {
    **RELEASED,
    "self_supervision": None,
    "distillation": {"loss": "distributions", "mapping": "tanh"},
}
JOINT: dict[str, Any] = {**PAPER, "distillation": SECOND_STAGE["distillation"]}


def with_self_supervision(**changes: Any) -> dict[str, Any]:
    """Returns the released configuration with some settings of the self-supervised loss changed."""
    return {**RELEASED, "self_supervision": {**SELF_SUPERVISION, **changes}}


SAMPLES = [
    Sample("sct", "released", RELEASED),
    Sample("sct", "paper", PAPER),
    Sample("sct", "second-stage", SECOND_STAGE, parent="teacher"),
    Sample("sct", "joint", JOINT, parent="teacher"),
    Sample("sct", "momentum-reference", with_self_supervision(momentum=0.9, loss="cross-entropy")),
    Sample(
        "sct", "one-queue-contrastive", with_self_supervision(queues="one", loss="info-nce", crossing=False)
    ),
]

REFUSED = [
    ({"views": [1]}, "at least 2"),
    ({"views": [1, -1]}, "0 for the sentence"),
    ({"self_supervision": None}, "self_supervision or distillation must be set"),
    ({"self_supervision": {**SELF_SUPERVISION, "momentum": 1.5}}, "less than or equal to 1"),
    ({"self_supervision": {**SELF_SUPERVISION, "loss": "contrastive"}}, "info-nce"),
]
