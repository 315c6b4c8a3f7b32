"""The configurations of glove that the conformance kit runs."""

from tests.support.tiny import Sample

SAMPLES = [Sample("glove", "plain", {"max_length": 32}, backbone="words", trained=False, portable=False)]
