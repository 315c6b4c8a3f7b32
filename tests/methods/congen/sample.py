"""The configurations of ConGen that the conformance kit runs."""

from typing import Any

from tests.support.tiny import Sample

RELEASED: dict[str, Any] = {
    "max_length": 32,
    "teacher_view": 1,
    "student_view": 2,
    "mapping": "tanh",
    "queue_size": 8,
    "queue_start": "corpus",
    "queue_seed": 16349,
    "teacher_temperature": 0.05,
    "student_temperature": 0.05,
    "control_weight": 0.5,
    "divergence": "cross-entropy",
}
RANDOM_QUEUE = {**RELEASED, "queue_start": "random", "queue_seed": None}
NO_QUEUE = {**RELEASED, "queue_size": 0, "queue_start": "empty", "queue_seed": None}

SAMPLES = [
    Sample("congen", "released", RELEASED, parent="teacher"),
    Sample("congen", "random-queue", {**RANDOM_QUEUE, "divergence": "kl"}, parent="teacher"),
    Sample("congen", "no-queue", {**NO_QUEUE, "mapping": "none"}, parent="teacher"),
    Sample("congen", "control-only", {**RELEASED, "control_weight": 1.0}, parent="teacher"),
]

REFUSED = [
    ({"queue_seed": None}, "queue_seed None with queue_start corpus"),
    ({"queue_start": "random"}, "queue_seed 16349 with queue_start random"),
    ({"queue_size": 0}, "queue_start corpus with queue_size 0: expected `empty`"),
]
