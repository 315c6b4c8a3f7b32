"""Untrained baselines: a pre-trained backbone and a pooling."""

from methods.core.method import Method


class Pooled(Method):
    """Exports the backbone with the run's pooling; its runs have zero steps."""

    word_vectors = "accepted"
