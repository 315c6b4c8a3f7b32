"""Steps, epochs and learning rates by hand; the streams of random numbers."""

import pytest
from pydantic import ValidationError

from methods.core.errors import InputError
from methods.core.streams import generator, subset, torch_seed
from methods.core.train_config import StepPlan, TrainConfig
from tests.support import tiny


def settings(**changes: object) -> TrainConfig:
    return TrainConfig.model_validate({**tiny.TRAIN, **changes})


def test_the_incomplete_batch_is_kept_or_dropped_as_stated() -> None:
    """10 rows in batches of 4: 3 steps with a last one of 2 rows, or 2 steps."""
    kept = StepPlan(rows=10, batch_size=4, drop_last=False, steps=None, epochs=2)
    assert (kept.per_epoch, kept.total) == (3, 6)
    assert [kept.position(step) for step in (2, 3)] == [(0, slice(8, 10)), (1, slice(0, 4))]
    dropped = StepPlan(rows=10, batch_size=4, drop_last=True, steps=None, epochs=2)
    assert (dropped.per_epoch, dropped.total) == (2, 4)
    assert [dropped.ends_epoch(done) for done in range(5)] == [False, False, True, False, True]
    assert [kept.inside_epoch(done) for done in range(1, 7)] == [1, 2, 3, 1, 2, 3]
    for length in ({"steps": 5, "epochs": None}, {"steps": None, "epochs": 5}):
        with pytest.raises(InputError, match="3 rows make no batch of 4"):
            _ = StepPlan(rows=3, batch_size=4, drop_last=True, **length).total
    assert StepPlan(rows=3, batch_size=4, drop_last=True, steps=0, epochs=None).total == 0


def test_rates_with_ten_steps_of_warmup_in_a_hundred() -> None:
    expected = {
        "linear": {0: 0.0, 5: 0.5, 10: 1.0, 55: 0.5},
        "cosine": {5: 0.5, 10: 1.0, 55: 0.5},
        "constant": {5: 0.5, 99: 1.0},
    }
    for schedule, rates in expected.items():
        config = settings(schedule=schedule, warmup_share=0.1)
        assert {step: config.rate_factor(step, total=100) for step in rates} == pytest.approx(rates)


def test_an_incomplete_step_of_warmup_is_a_whole_one() -> None:
    """A tenth of 15 steps is 1.5, so two steps rise from 0; the last 13 fall to 0 after the last one."""
    config = settings(schedule="linear", warmup_share=0.1)
    rates = [config.rate_factor(step, total=15) for step in range(15)]
    assert rates == pytest.approx([0.0, 0.5, *(1 - done / 13 for done in range(13))])


def test_a_piecewise_rate_holds_until_after_the_step_of_its_drop() -> None:
    """The rates of contrastive tension: 1e-5 up to step 500 itself, then 8e-6, and so on."""
    drops = [[500, 0.8], [1000, 0.6], [1500, 0.4], [2000, 0.2]]
    expected = {0: 1.0, 500: 1.0, 501: 0.8, 1001: 0.6, 1501: 0.4, 2001: 0.2, 4999: 0.2}
    config = settings(schedule="piecewise", rate_drops=drops)
    assert {step: config.rate_factor(step, total=5000) for step in expected} == expected
    for schedule, wrong in (
        ("piecewise", []),
        ("linear", drops),
        ("piecewise", drops[::-1]),
        ("piecewise", [[500, 0.8], [500, 0.6]]),
    ):
        with pytest.raises(ValidationError, match="expected ascending steps"):
            settings(schedule=schedule, rate_drops=wrong)


def test_streams_differ_by_seed_name_and_step_and_repeat_otherwise() -> None:
    keys = [(0, "collate", 0), (1, "collate", 0), (0, "order", 0), (0, "collate", 1)]
    draws = [generator(*key).integers(2**62) for key in keys]
    assert len(set(draws)) == len(keys)
    assert draws == [generator(*key).integers(2**62) for key in keys]
    assert len({torch_seed(*key) for key in keys}) == len(keys)


def test_smaller_shares_of_one_seed_are_nested() -> None:
    small, large = (subset(range(1000), share, seed=0) for share in (0.03, 0.3))
    assert (len(small), len(large)) == (30, 300)
    assert set(small) <= set(large)
    assert set(small) != set(subset(range(1000), 0.03, seed=1))


@pytest.mark.parametrize(
    ("share", "rows"), [(0.0004, 1), (0.0014, 1), (0.0016, 2), (0.2996, 300), (0.9996, 1000), (1.0, 1000)]
)
def test_a_share_is_rounded_to_whole_rows_of_which_one_is_left(share: float, rows: int) -> None:
    """Of 1,000 rows 0.4 would be none, and 1.6 are two; they stay in the order of the corpus."""
    chosen = subset(range(1000), share, seed=0)
    assert len(chosen) == len(set(chosen)) == rows
    assert chosen == sorted(chosen)
