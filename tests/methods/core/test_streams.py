"""The size of a random share of the rows, and of seeds."""

import pytest

from methods.core.streams import subset, torch_seed


@pytest.mark.parametrize(
    ("rows", "share", "count"), [(7, 0.4, 3), (7, 0.35, 2), (10, 0.26, 3), (3, 0.1, 1), (7, 1.0, 7)]
)
def test_a_share_is_rounded_to_the_nearest_number_of_rows_and_keeps_at_least_one(
    rows: int, share: float, count: int
) -> None:
    """7 times 0.4 is 2.8, 7 times 0.35 is 2.45, 10 times 0.26 is 2.6, 3 times 0.1 is 0.3."""
    kept = subset(range(rows), share, seed=1)
    assert len(kept) == count
    assert kept == sorted(set(kept))


def test_a_seed_of_torch_has_63_bits_of_two_words() -> None:
    """Half of all seeds would have the 64th bit; with it torch draws other numbers."""
    seeds = [torch_seed(seed, "step", step) for seed in range(8) for step in range(8)]
    assert len(set(seeds)) == 64
    assert max(seeds) < 2**63
    assert max(seeds) >= 2**62
