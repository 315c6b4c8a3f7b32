"""What an encoder costs, with a clock and an encoder whose figures are known."""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import pytest
import torch

from harness.tasks.cost import measure_cost


class Counting(torch.nn.Module):
    """Three weights of 2 x 5, tied twice, and a buffer; four word pieces a text."""

    dim = 5

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(5, 2, bias=False)
        self.tied = torch.nn.Linear(5, 2, bias=False)
        self.tied.weight = self.first.weight
        self.register_buffer("mean", torch.zeros(5))
        self.register_buffer("steps", torch.zeros(3, dtype=torch.int64))
        self.asked: list[list[str]] = []

    def encode(self, texts: Sequence[str], *, batch_size: int) -> np.ndarray:
        self.asked.append(list(texts))
        return np.zeros((len(texts), 5))

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        return [[0, 1, 2, 3] for _ in texts]


def test_rates_are_medians_over_rounds_worked_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds take 1, 5 and 2 seconds; median 2. Two distinct texts: 1 a second, 8 word pieces: 4 a second.

    Tied weights count once, counters not at all: 2 * 5 + 5.
    """
    ticks = iter([*accumulate([0.0, 1.0, 0.0, 5.0, 0.0, 2.0])])
    encoder = Counting()
    monkeypatch.setattr("harness.tasks.cost.perf_counter", lambda: next(ticks))
    cost = measure_cost(encoder, ["a", "b", "a"], rounds=3, batch_size=8)
    assert (cost.sentences_per_second, cost.tokens_per_second) == (1.0, 4.0)
    assert (cost.parameters, cost.dim, cost.sentences, cost.rounds, cost.device) == (15, 5, 2, 3, "cpu")
    assert encoder.asked == 4 * [["a", "b"]]
    assert cost.peak_memory > 10_000_000
