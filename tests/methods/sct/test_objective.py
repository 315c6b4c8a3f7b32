"""The cross-view loss: worked numbers, the slow form with gradients, exchanges, limits."""

from typing import Any

import pytest
import torch
from torch import Tensor

from methods.core.losses import unit
from methods.sct.objective import CrossView, cross_view_loss
from tests.support.vectors import assert_equal_with_gradients, drawn

B, D, M = 4, 8, 11
TAUS = {"online_temperature": 0.3, "reference_temperature": 0.2}


def vectors(*shape: int, seed: int) -> Tensor:
    return unit(drawn(*shape, seed=seed)).detach()


def setting() -> tuple[Tensor, Tensor, list[Tensor]]:
    online, references = vectors(2, B, D, seed=1), vectors(2, B, D, seed=2)
    return online.requires_grad_(), references, [vectors(M, D, seed=3), vectors(M, D, seed=4)]


def crossed(online: Tensor, references: Tensor, queues: list[Tensor], **changes: Any) -> CrossView:
    earlier = [[queue] if len(queue) else [] for queue in queues]
    return cross_view_loss(online, references, earlier, **{**TAUS, **changes})


def slow_loss(
    online: Tensor,
    references: Tensor,
    queues: list[Tensor],
    *,
    online_temperature: float,
    reference_temperature: float,
    crossing: bool = True,
) -> Tensor:
    """The sum over both directions of the mean KL, key by key; one queue has the references of both views."""
    total = torch.zeros((), dtype=torch.float64)
    for learner in (0, 1):
        view = 1 - learner if crossing else learner
        parts = [queues[0], *references] if len(queues) == 1 else [queues[view], references[view]]
        keys = torch.cat(parts)
        for z, r in zip(online[learner], references[view], strict=True):
            target = [torch.exp(r @ key / reference_temperature) for key in keys]
            guess = [torch.exp(z @ key / online_temperature) for key in keys]
            for p, q in zip(target, guess, strict=True):
                p, q = p / sum(target), q / sum(guess)
                total = total + p * (p.log() - q.log()) / len(references[view])
    return total


def golden(**taus: float) -> tuple[Tensor, Tensor]:
    references = torch.tensor([[[1.0, 0.0], [0.6, 0.8]], [[0.8, 0.6], [0.0, 1.0]]]).double()
    online = torch.tensor([[[0.6, 0.8], [0.0, 1.0]], [[1.0, 0.0], [0.8, -0.6]]]).double().requires_grad_()
    queues = [torch.tensor([[0.0, 1.0]]).double(), torch.tensor([[-1.0, 0.0]]).double()]
    return crossed(online, references, queues, **taus).total, online


def test_the_golden_values_of_the_specification() -> None:
    """d = 2, K = 1, B = 2: KL(P2 || C1) = 0.134087 and KL(P1 || C2) = 0.574140 sum to 0.708227; at the
    temperatures 1/20 and 1/25 the sum is 8.039456. Gradients are (C - P) Q / (B tau)."""
    total, online = golden(online_temperature=0.5, reference_temperature=0.25)
    (gradient,) = torch.autograd.grad(total, online)
    first = torch.tensor([[-0.2376, 0.0823], [0.0241, -0.1176]]).double()
    second = torch.tensor([[-0.1176, 0.1649], [0.4022, -0.5805]]).double()
    assert total.item() == pytest.approx(0.708227, abs=1e-6)
    assert torch.allclose(gradient, torch.stack([first, second]), atol=5e-5)
    sharp, _ = golden(online_temperature=0.05, reference_temperature=0.04)
    assert sharp.item() == pytest.approx(8.039456, abs=1e-6)


def test_each_direction_has_its_own_value() -> None:
    """Of the golden values, the first view alone learns 0.134087."""
    total, online = golden(online_temperature=0.5, reference_temperature=0.25, both_directions=False)
    (gradient,) = torch.autograd.grad(total, online)
    assert total.item() == pytest.approx(0.134087, abs=1e-6)
    assert gradient[1].abs().max() == 0


@pytest.mark.parametrize("count", [2, 1])
@pytest.mark.parametrize("crossing", [True, False])
def test_value_and_gradient_equal_the_slow_form(count: int, crossing: bool) -> None:
    """Two queues or one, crossed or not, to 1e-10 in float64."""
    online, references, queues = setting()
    fast = crossed(online, references, queues[:count], crossing=crossing).total
    slow = slow_loss(online, references, queues[:count], crossing=crossing, **TAUS)
    assert_equal_with_gradients(fast, slow, [online], atol=1e-10)


def test_equal_views_and_temperatures_have_zero_loss() -> None:
    """z_1 = r_2 and z_2 = r_1: both KL terms are 0 and so is the gradient."""
    _, references, queues = setting()
    online = references.flip(0).clone().requires_grad_()
    total = crossed(online, references, queues, online_temperature=0.2).total
    (gradient,) = torch.autograd.grad(total, online)
    assert total.item() == pytest.approx(0.0, abs=1e-12)
    assert gradient.abs().max() < 1e-12


@pytest.mark.parametrize("both", [True, False])
def test_cross_entropy_has_the_gradient_of_kl_and_exceeds_it_by_the_entropies(both: bool) -> None:
    """The logged entropy is the mean over the directions that learn, two or one."""
    online, references, queues = setting()
    kl, ce = (
        crossed(online, references, queues, loss=loss, both_directions=both)
        for loss in ("kl", "cross-entropy")
    )
    (of_kl,), (of_ce,) = (torch.autograd.grad(match.total, online) for match in (kl, ce))
    assert torch.equal(of_kl, of_ce)
    assert (ce.total - kl.total).item() == pytest.approx((1 + both) * kl.entropy.item(), abs=1e-12)
    assert kl.entropy.item() > 0.1


@pytest.mark.parametrize("count", [2, 1])
def test_a_cold_reference_makes_it_the_contrastive_variant(count: int) -> None:
    """Reference temperature 0.002: one-hot targets with shares that underflow to 0, equal to 1e-9."""
    online, references, queues = setting()
    cold = crossed(online, references, queues[:count], reference_temperature=0.002).total
    contrastive = crossed(online, references, queues[:count], loss="info-nce").total
    assert cold.item() == pytest.approx(contrastive.item(), abs=1e-9)
