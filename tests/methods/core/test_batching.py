"""Batches partition the texts, respect the budget and carry next to no padding."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from methods.core.batching import plan_batches, unique


def test_unique_keeps_first_use_and_restores_order() -> None:
    distinct, inverse = unique(["b", "a", "b", "c", "a"])
    assert distinct == ["b", "a", "c"]
    assert inverse.tolist() == [0, 1, 0, 2, 1]


def test_a_batch_that_fills_an_eighth_of_the_budget_ends_where_lengths_change() -> None:
    """Of 64 positions 8: four of 3 do, two of 3 do not and take in the two of 2 after them."""
    many = plan_batches(np.array([3, 3, 3, 3, 2]), token_budget=64, max_padding=0.5)
    assert [batch.tolist() for batch in many] == [[0, 1, 2, 3], [4]]
    few = plan_batches(np.array([3, 3, 2, 2]), token_budget=64, max_padding=0.5)
    assert [batch.tolist() for batch in few] == [[0, 1, 2, 3]]


def test_a_batch_may_fill_the_budget_exactly() -> None:
    """Four texts of 4 tokens have 16 positions; a budget of 15 holds three."""
    for budget, sizes in ((16, [4, 4]), (15, [3, 3, 2])):
        plan = plan_batches(np.full(8, 4), token_budget=budget)
        assert [len(batch) for batch in plan] == sizes


@given(
    lengths=some.lists(some.integers(1, 60), max_size=80),
    budget=some.integers(8, 200),
    share=some.sampled_from([0.0, 0.02, 0.2]),
)
def test_every_plan_is_a_partition_within_budget_and_padding(
    lengths: list[int], budget: int, share: float
) -> None:
    sizes = np.array(lengths, dtype=np.int64)
    batches = plan_batches(sizes, token_budget=budget, max_padding=share)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        padded = sizes[batch].max() * len(batch)
        assert len(batch) == 1 or padded <= budget
        assert padded - sizes[batch].sum() <= share * padded + 1e-9
