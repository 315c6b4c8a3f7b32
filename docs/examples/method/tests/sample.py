"""The configurations of template that the conformance kit runs: one for each switch."""

from tests.support.tiny import Sample

SAMPLES = [Sample("template", "only", {"max_length": 32, "temperature": 0.05})]
