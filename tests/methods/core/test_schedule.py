"""Steps, epochs and learning rates by hand; the optimiser without bias correction against its formula."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from methods.core.errors import InputError
from methods.core.optimizer import build_optimizer, set_rate
from methods.core.schedule import plan_steps, rate_factor
from methods.core.streams import generator, row_order, subset, torch_seed
from methods.core.train_config import TrainConfig
from tests.support.tiny import TRAIN


def test_a_million_sentences_in_batches_of_64_are_15625_steps() -> None:
    plan = plan_steps(rows=1_000_000, batch_size=64, drop_last=False, steps=None, epochs=1)
    assert plan.total == 15_625
    assert plan.place(15_624) == (0, slice(999_936, 1_000_000))


def test_the_incomplete_batch_is_kept_or_dropped_as_stated() -> None:
    """10 rows in batches of 4: 3 steps with a last one of 2 rows, or 2 steps."""
    kept = plan_steps(rows=10, batch_size=4, drop_last=False, steps=None, epochs=2)
    assert (kept.per_epoch, kept.total, kept.place(2), kept.place(3)) == (
        3,
        6,
        (0, slice(8, 10)),
        (1, slice(0, 4)),
    )
    dropped = plan_steps(rows=10, batch_size=4, drop_last=True, steps=None, epochs=2)
    assert (dropped.per_epoch, dropped.total) == (2, 4)
    assert [dropped.ends_epoch(done) for done in range(5)] == [False, False, True, False, True]


def test_fewer_rows_than_a_batch_are_refused() -> None:
    with pytest.raises(InputError, match="3 rows make no batch of 4"):
        plan_steps(rows=3, batch_size=4, drop_last=True, steps=5, epochs=None)


@pytest.mark.parametrize(
    ("schedule", "step", "expected"),
    [
        ("linear", 0, 0.0),
        ("linear", 5, 0.5),
        ("linear", 10, 1.0),
        ("linear", 55, 0.5),
        ("constant", 99, 1.0),
        ("cosine", 55, 0.5),
        ("cosine", 10, 1.0),
    ],
)
def test_rates_with_ten_steps_of_warmup_in_a_hundred(schedule: str, step: int, expected: float) -> None:
    assert rate_factor(schedule, step=step, warmup=10, total=100) == pytest.approx(expected)


def test_without_warmup_the_rate_is_one_minus_the_share_done() -> None:
    assert rate_factor("linear", step=0, warmup=0, total=15_625) == 1.0
    assert rate_factor("linear", step=15_624, warmup=0, total=15_625) == pytest.approx(1 / 15_625)


def settings(**changes: object) -> TrainConfig:
    return TrainConfig.model_validate({**TRAIN, **changes})


def test_first_update_without_bias_correction_is_worked_by_hand() -> None:
    """Gradient g, rate 1: m = 0.1 g, v = 0.001 g^2: update 0.1 g / (sqrt(0.001) g + 1e-6), about 3.162."""
    layer = nn.Linear(1, 1, bias=False)
    nn.init.constant_(layer.weight, 5.0)
    config = settings(learning_rate=1.0, epsilon=1.0e-6, bias_correction=False)
    optimizer = build_optimizer(layer, config)
    layer.weight.grad = torch.full((1, 1), 2.0)
    set_rate(optimizer, config, step=0, factor=1.0)
    optimizer.step()
    expected = 5.0 - 0.2 / (math.sqrt(0.001) * 2.0 + 1e-6)
    assert layer.weight.item() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("corrected", [True, False])
def test_twenty_updates_equal_the_textbook_loop(corrected: bool) -> None:
    config = settings(learning_rate=0.01, weight_decay=0.1, bias_correction=corrected, epsilon=1.0e-6)
    layer = nn.Linear(3, 1, bias=False).double()
    weight = layer.weight.detach().clone()
    first, second = torch.zeros_like(weight), torch.zeros_like(weight)
    optimizer = build_optimizer(layer, config)
    for step in range(20):
        gradient = torch.sin(torch.arange(3.0, dtype=torch.float64) + step)[None]
        layer.weight.grad = gradient.clone()
        rate = set_rate(optimizer, config, step=step, factor=1.0 - step / 20)
        optimizer.step()
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        c1, c2 = (1 - 0.9 ** (step + 1), 1 - 0.999 ** (step + 1)) if corrected else (1.0, 1.0)
        weight = weight - rate * 0.1 * weight - rate * (first / c1) / ((second / c2).sqrt() + 1e-6)
    torch.testing.assert_close(layer.weight.detach(), weight, rtol=1e-9, atol=1e-12)


def test_biases_and_norms_are_exempt_from_decay_only_when_told() -> None:
    module = nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2))
    groups = build_optimizer(module, settings(weight_decay=0.01, decay_everything=False)).param_groups
    assert [len(group["params"]) for group in groups] == [1, 3]
    assert [group["decay"] for group in groups] == [0.01, 0.0]
    assert len(build_optimizer(module, settings(decay_everything=True)).param_groups) == 1


def test_streams_differ_by_seed_name_and_step_and_repeat_otherwise() -> None:
    keys = [(0, "collate", 0), (1, "collate", 0), (0, "order", 0), (0, "collate", 1)]
    draws = [generator(*key).integers(2**62) for key in keys]
    assert len(set(draws)) == len(keys)
    assert draws == [generator(*key).integers(2**62) for key in keys]
    assert len({torch_seed(*key) for key in keys}) == len(keys)


def test_an_epoch_visits_every_row_once_and_each_in_its_own_order() -> None:
    first, second = row_order(0, 0, 100), row_order(0, 1, 100)
    assert sorted(first) == sorted(second) == list(range(100))
    assert first.tolist() != second.tolist()


def test_smaller_shares_of_one_seed_are_nested() -> None:
    small, large = subset(0, 1000, 0.03), subset(0, 1000, 0.3)
    assert (len(small), len(large)) == (30, 300)
    assert set(small) <= set(large)
    assert set(small) != set(subset(1, 1000, 0.03))
