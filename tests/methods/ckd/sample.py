"""The configurations of CKD that the conformance kit runs: the re-run's preset, the original's, variants."""

from typing import Any

from tests.support.tiny import Sample

RELEASED: dict[str, Any] = {
    "max_length": 32,
    "teacher_view": 0,
    "mapping": "tanh",
    "queue_size": 8,
    "queue_start": "corpus",
    "queue_seed": 16349,
    "temperature": 0.05,
    "learn_temperature": False,
    "keep_mapping": True,
    "student_vector": "pooled",
    "teacher": "vectors",
    "teacher_dropout": False,
    "teacher_pooling": None,
}
"""The loss that the authors of ConGen and SCT ran."""

ORIGINAL: dict[str, Any] = {
    **RELEASED,
    "mapping": "linear",
    "queue_start": "empty",
    "queue_seed": None,
    "temperature": 0.36787944,
    "learn_temperature": True,
    "keep_mapping": False,
    "teacher": "network",
    "teacher_dropout": True,
}
"""The code of Wu et al., with the first token as the student's vector."""

SAMPLES = [
    Sample("ckd", "released", RELEASED, parent="teacher"),
    Sample("ckd", "original", ORIGINAL, parent="encoder"),
    Sample(
        "ckd",
        "no-queue",
        {**RELEASED, "queue_size": 0, "queue_start": "empty", "queue_seed": None, "mapping": "none"},
        parent="teacher",
    ),
    Sample(
        "ckd",
        "random-queue",
        {**RELEASED, "queue_start": "random", "queue_seed": None, "teacher_view": 1, "mapping": "linear"},
        parent="teacher",
    ),
]

REFUSED = [
    ({"teacher_dropout": True}, "`teacher: vectors` needs teacher_dropout false"),
    ({"teacher_pooling": "cls"}, "needs teacher_dropout false and teacher_pooling null"),
    ({"teacher": "network"}, "queue_start corpus needs `teacher: vectors`"),
    ({"student_vector": "pooler"}, "the pooler is the exported layer: set `keep_mapping: false`"),
    ({"queue_start": "empty"}, "queue_seed 16349 with queue_start empty: expected a seed with `corpus`"),
]
