"""The configurations of pooled that the conformance kit runs."""

from tests.support.tiny import Sample

SAMPLES = [Sample("pooled", "mean", {"max_length": 32}, trained=False)]
