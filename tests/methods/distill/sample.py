"""The configurations of distill that the conformance kit runs."""

from tests.support.tiny import Sample

SAMPLES = [
    Sample("distill", "same-width", {"max_length": 32, "mapping": "none"}, parent="teacher"),
    Sample("distill", "mapped", {"max_length": 32, "mapping": "linear"}, parent="teacher"),
]
