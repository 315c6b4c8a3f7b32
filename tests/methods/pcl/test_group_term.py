"""The group term of PCL's released code: its bounds and what it rewards."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from methods.pcl import objective


def logits(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


BOUNDS = {
    (64, 9): (0.686396, 0.698380, 0.701760),
    (64, 4): (0.686150, 0.699747, 0.702403),
    (64, 1): (0.687211, 0.700746, 0.702836),
    (256, 9): (0.691306, 0.694914, 0.695496),
}


@pytest.mark.parametrize("size", BOUNDS)
def test_group_term_has_its_bounds(size: tuple[int, int]) -> None:
    """Least: mass even over the positives; in between: even over all; largest: all on one negative."""
    sentences, positives = size
    extremes = torch.full((3, positives + sentences - 1), -1e4, dtype=torch.float64)
    extremes[0, :positives] = 0.0
    extremes[1] = 0.0
    extremes[2, -1] = 0.0
    found = [float(objective.group_term(row[None], positives=positives)) for row in extremes]
    assert found == pytest.approx(BOUNDS[size], abs=1e-6)
    assert len(BOUNDS) == 4
    for row in logits(50, extremes.shape[1]) * 10:
        assert (
            found[0] - 1e-9 <= float(objective.group_term(row[None], positives=positives)) <= found[2] + 1e-9
        )


def test_group_term_prefers_an_even_spread_to_a_single_positive() -> None:
    extremes = torch.full((1, 72), -1e4, dtype=torch.float64)
    extremes[0, 4] = 0.0
    assert float(objective.group_term(extremes, positives=9)) == pytest.approx(0.687871, abs=1e-6)


def test_group_term_is_first_order_in_the_mass_on_the_positives() -> None:
    for row in logits(40, 12) * 3:
        probabilities = row.softmax(0)
        first_order = math.log(2) + (0.5 - float(probabilities[:4].sum())) / 12
        excess = float(objective.group_term(row[None], positives=4)) - first_order
        assert 0 <= excess <= float(probabilities.square().sum()) / (8 * 12)
