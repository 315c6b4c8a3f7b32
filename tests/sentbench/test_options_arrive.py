"""Every keyword of `evaluate` and `compare` with an unusual value arrives at each model."""

from typing import Any

import numpy as np
import pytest

import sentbench

PAIRS = [("a dog", "a", 1.0), ("two", "a a a", 2.0), ("b", "cat", 3.0), ("dogs", "aa", 4.0)]


class Recording:
    """A model that keeps the options of every call."""

    def __init__(self, shift: int) -> None:
        self.shift = shift
        self.seen: list[dict[str, Any]] = []

    def encode(self, texts: list[str], **options: Any) -> np.ndarray:
        self.seen.append(options)
        return np.array([[len(text) + self.shift, 1 + text.count("a")] for text in texts], np.float32)


@pytest.fixture
def own() -> Any:
    return sentbench.pairs(PAIRS, name="own")


@pytest.mark.parametrize(("given", "arrives"), [({"batch_size": 7}, {"batch_size": 7}), ({}, {})])
def test_an_option_arrives_at_the_model_of_evaluate(own: Any, given: Any, arrives: Any) -> None:
    model = Recording(0)
    sentbench.evaluate(model, [own], **given)
    assert [{key: options[key] for key in arrives} for options in model.seen] == [arrives]
    assert ("batch_size" in model.seen[0]) == bool(given)


@pytest.mark.parametrize("given", [{"batch_size": 7}, {}])
def test_an_option_arrives_at_both_models_of_compare(own: Any, given: Any) -> None:
    both = Recording(0), Recording(3)
    sentbench.compare(*both, [own], names=("a", "b"), **given)
    for model in both:
        assert model.seen
        assert all(options.get("batch_size") == given.get("batch_size") for options in model.seen)
