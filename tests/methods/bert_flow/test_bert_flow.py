"""BERT-flow: the flow as a map, frozen and trained parts, and its initialisation."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from methods.bert_flow.method import bits_per_dimension, log_normal
from methods.core.coupling_flow import CouplingFlow, FlowSettings, Scaling
from methods.core.errors import InputError
from tests.methods.bert_flow.sample import PAPER, RELEASED, SAMPLES
from tests.support import tiny
from tests.support.vectors import assert_equal_with_gradients


def ready(backbone: Path, config: dict[str, Any]) -> tuple[Any, Any]:
    method = tiny.changed(SAMPLES[0], backbone, **config)
    return method, tiny.batch_of(method, corpus=tiny.rows(augmentations=1))


@pytest.mark.parametrize(("sides", "count"), [("sentences", 1), ("pairs", 2)])
def test_the_total_is_the_sum_of_the_sides_means(backbone: Path, sides: str, count: int) -> None:
    method, batch = ready(backbone, {**PAPER, "sides": sides})
    vectors = method.encoder(batch["anchor"])
    assert len(vectors) == 6 * count
    bits = bits_per_dimension(method.flow(vectors), method.flow.log_determinant())
    loss = method.loss(batch)
    torch.testing.assert_close(loss.total, sum(side.mean() for side in bits.chunk(count)))
    torch.testing.assert_close(loss.parts["bits"], bits.mean().detach())


def test_the_flow_starts_from_the_first_sentences_of_the_corpus(backbone: Path) -> None:
    method, _ = ready(backbone, RELEASED)
    texts = [row.text for row in tiny.rows(augmentations=1)]
    latent = method.exported().encode(texts[:16])
    np.testing.assert_allclose(latent.mean(0), 0.0, atol=1e-3)
    np.testing.assert_allclose(latent.std(0), 1.0, atol=1e-2)
    assert np.abs(method.exported().encode(texts).mean(0)).max() > 1e-2


@pytest.mark.parametrize("active", [True, False])
def test_dropout_of_the_fixed_encoder_is_as_stated_while_fitting(backbone: Path, active: bool) -> None:
    method, batch = ready(backbone, {**RELEASED, "encoder_dropout": active})
    method.eval()
    method.train()
    first, second = method.loss(batch).total, method.loss(batch).total
    assert torch.equal(first, second) is not active


WIDTH = 24


def settings(**changes: Any) -> FlowSettings:
    base = {"width": WIDTH, "levels": 3, "depth": 3, "hidden": 5, "permutation": "reversal"}
    return FlowSettings.model_validate({**base, **changes})


def flow(*, moved: bool, **changes: Any) -> CouplingFlow:
    """Returns a flow in fp64; moved: with every weight off its start."""
    torch.manual_seed(0)
    made = CouplingFlow(settings(**changes)).double()
    if moved:
        with torch.no_grad():
            for value in made.parameters():
                value.add_(0.2 * torch.randn_like(value))
    return made


def vectors(count: int = 6, *, seed: int = 1) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    scale = torch.linspace(0.5, 3.0, WIDTH, dtype=torch.float64)
    return torch.randn(count, WIDTH, generator=generator, dtype=torch.float64) * scale + 2.0


def scaled(x: list[Tensor], by: Scaling) -> list[Tensor]:
    return [torch.exp(3 * by.scale[c]) * (value + by.bias[c]) for c, value in enumerate(x)]


def product(weight: Tensor, x: list[Tensor]) -> list[Tensor]:
    return [torch.stack([w * value for w, value in zip(row, x, strict=True)]).sum() for row in weight]


def slow(made: CouplingFlow, given: Tensor, orders: dict[tuple[int, int], list[int]]) -> Tensor:
    """One vector at a time and one channel at a time, by the formulas of the specification.

    orders: (level, step) -> channel at each position after the permutation; by default reversed.
    """
    latents = []
    for row in given:
        x, done = list(row), []
        for number, steps in enumerate(made.levels):
            for index, step in enumerate(steps):
                x = scaled(x, step.scaling)
                x = [x[c] for c in orders.get((number, index), [*range(len(x))][::-1])]
                half, net = len(x) // 2, step.coupling
                inner = x[:half]
                for layer, scaling in ((net.first, net.first_scaling), (net.second, net.second_scaling)):
                    inner = [value.clamp(min=0) for value in scaled(product(layer.weight, inner), scaling)]
                for c, moved in enumerate(product(net.last.weight, inner)):
                    shift = moved + net.last.bias[c]
                    x[half + c] = x[half + c] + shift * torch.exp(3 * net.last_scale[c])
            if number < len(made.levels) - 1:
                done += x[len(x) // 2 :]
                x = x[: len(x) // 2]
        latents.append(torch.stack([*done, *x]))
    return torch.stack(latents)


@pytest.mark.parametrize("permutation", ["reversal", "random"])
def test_latents_loss_and_all_gradients_equal_the_loop(permutation: str) -> None:
    made, given = flow(moved=True, permutation=permutation), vectors(3).requires_grad_()
    orders, rng = {}, np.random.default_rng(5)
    for level, steps in enumerate(made.levels if permutation == "random" else ()):
        for index, step in enumerate(steps):
            orders[level, index] = rng.permutation(WIDTH // 2**level).tolist()
            step.load_state_dict({**step.state_dict(), "order": torch.tensor(orders[level, index])})
    inputs = [given, *made.parameters()]
    scales = [step.scaling.scale.sum() for steps in made.levels for step in steps]
    by_hand = slow(made, given, orders)
    density = -0.5 * (by_hand**2).sum(1) - WIDTH / 2 * math.log(2 * math.pi)
    expected = (-(density + 3 * sum(scales)) / (WIDTH * math.log(2))).mean()
    total = bits_per_dimension(made(given), made.log_determinant()).mean()
    torch.testing.assert_close(made(given), by_hand, rtol=0, atol=1e-8)
    assert_equal_with_gradients(total, expected, inputs)


def test_a_random_order_is_any_permutation_drawn_for_every_step_and_kept(tmp_path: Path) -> None:
    """Of 4 channels all 24 orders occur in 400 draws; a saved flow has the order it was trained with."""
    orders = set()
    for seed in range(100):
        torch.manual_seed(seed)
        made = CouplingFlow(settings(width=4, levels=1, depth=4, permutation="random"))
        drawn = [tuple(step.order.tolist()) for step in made.levels[0]]
        assert all(sorted(order) == [0, 1, 2, 3] for order in drawn)
        orders |= set(drawn)
    assert len(orders) == 24
    made.save(tmp_path)
    kept = CouplingFlow.load(tmp_path)
    assert [tuple(step.order.tolist()) for step in kept.levels[0]] == drawn
    reversed_ = CouplingFlow(settings(width=8, levels=2, depth=1))
    assert [steps[0].order.tolist() for steps in reversed_.levels] == [[7, 6, 5, 4, 3, 2, 1, 0], [3, 2, 1, 0]]


@pytest.mark.parametrize("permutation", ["reversal", "random"])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_the_determinant_equals_the_jacobians_for_every_vector(levels: int, permutation: str) -> None:
    made = flow(moved=True, levels=levels, permutation=permutation)
    for row in vectors(3):
        jacobian = torch.autograd.functional.jacobian(lambda u: made(u[None])[0], row)
        assert torch.linalg.slogdet(jacobian).logabsdet.item() == pytest.approx(
            made.log_determinant().item(), abs=1e-8
        )


def test_at_the_start_the_map_standardises_and_only_reorders_the_channels() -> None:
    """Objective of the batch: (0.5 log(2 pi e) - log|det| / d) / ln 2, the deviation's guard apart."""
    made, given = flow(moved=False), vectors(64)
    latent = made.fit(given)
    torch.testing.assert_close(latent, made(given))
    torch.testing.assert_close(latent.mean(0), torch.zeros(WIDTH, dtype=torch.float64), rtol=0, atol=1e-9)
    standard = (given - given.mean(0)) / given.std(0, correction=0)
    assert sorted(latent[0].tolist()) == pytest.approx(sorted(standard[0].tolist()), abs=1e-4)
    bits = bits_per_dimension(latent, made.log_determinant()).mean()
    expected = (0.5 * math.log(2 * math.pi * math.e) - made.log_determinant().item() / WIDTH) / math.log(2)
    assert bits.item() == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("error", [KeyboardInterrupt, None])
def test_only_a_fit_changes_scalings_also_after_one_that_was_interrupted(
    error: type[BaseException] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, given, others = flow(moved=False), vectors(64), vectors(9) + 5
    with monkeypatch.context() as patch:
        if error is None:
            made.fit(given)
        else:
            patch.setattr(type(made), "forward", lambda flow, batch: (_ for _ in ()).throw(error))
            with pytest.raises(error):
                made.fit(given)
    before = {name: value.clone() for name, value in made.state_dict().items()}
    made(others)
    assert all(torch.equal(value, before[name]) for name, value in made.state_dict().items())


def test_a_scaling_of_two_numbers_is_worked_by_hand() -> None:
    """1 and 5: mean 3, deviation 2: b = -3, s = -log(2) / 3; out come -1 and 1."""
    layer, given = Scaling(1).double(), torch.tensor([[1.0], [5.0]], dtype=torch.float64)
    layer.fit(given)
    actual = layer(given)
    assert layer.bias.item() == -3.0
    assert layer.scale.item() == pytest.approx(-math.log(2) / 3, abs=1e-6)
    assert actual.flatten().tolist() == pytest.approx([-1.0, 1.0], abs=1e-6)


def test_bits_of_a_zero_vector_and_of_normal_draws() -> None:
    """z = 0 in d = 2: 0.5 log2(2 pi) = 1.32575 a dimension; normal z: 0.5 log2(2 pi e) = 2.04710."""
    none = torch.zeros(())
    assert log_normal(torch.zeros(1, 2)).item() == pytest.approx(-math.log(2 * math.pi))
    assert bits_per_dimension(torch.zeros(1, 2), none).item() == pytest.approx(1.32575, abs=1e-5)
    drawn = torch.randn(4000, 50, generator=torch.Generator().manual_seed(0))
    assert bits_per_dimension(drawn, none).mean().item() == pytest.approx(2.04710, abs=0.01)
    doubled = bits_per_dimension(torch.zeros(1, 2), torch.tensor(2 * math.log(2.0)))
    assert doubled.item() == pytest.approx(1.32575 - 1.0, abs=1e-5)


@pytest.mark.parametrize(
    ("width", "levels", "weights"), [(768, 3, 151_488), (768, 2, 127_872), (1024, 3, 198_528)]
)
def test_the_flow_has_as_many_weights_as_the_released_one(width: int, levels: int, weights: int) -> None:
    made = CouplingFlow(settings(width=width, levels=levels, hidden=32))
    assert sum(value.numel() for value in made.parameters()) == weights


def test_a_width_that_cannot_be_halved_is_refused_in_one_line() -> None:
    with pytest.raises(InputError, match="flow of 4 levels needs a width divisible by 16, not 24"):
        CouplingFlow(settings(levels=4))
