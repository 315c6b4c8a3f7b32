"""Losses between similarity distributions: worked numbers, the direct form in float64, chunks, limits."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from methods.core import distributions
from methods.core.distributions import PIECE, Match, match_distributions, pick_among_keys
from methods.core.fast.linear import fits_onednn
from methods.core.losses import info_nce, unit

ROWS, WIDTH, QUEUE = 5, 6, 17


def vectors(rows: int, seed: int, width: int = WIDTH) -> Tensor:
    return unit(torch.randn(rows, width, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)))


def direct(online: Tensor, reference: Tensor, keys: Tensor, on: float, ref: float) -> tuple[Tensor, Tensor]:
    """Cross-entropy and entropy as the formula reads: two loops, no log-sum-exp, keys joined."""
    cross, entropy = [], []
    for z, r in zip(online, reference, strict=True):
        p = torch.stack([torch.exp(r @ key / ref) for key in keys])
        q = torch.stack([torch.exp(z @ key / on) for key in keys])
        p, q = p / p.sum(), q / q.sum()
        cross.append(-sum(share * other.log() for share, other in zip(p, q, strict=True)))
        entropy.append(-sum(share * share.log() for share in p if share > 0))
    return torch.stack(cross).mean(), torch.stack(entropy).mean()


def matched(online: Tensor, reference: Tensor, keys: list[Tensor], **changes: object) -> Match:
    settings = {"online_temperature": 0.3, "reference_temperature": 0.2, **changes}
    return match_distributions(online, reference, keys, **settings)  # type: ignore[arg-type]


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Returns a function that sets how many scores are held at once, however few rows these are."""

    def hold(scores: int) -> None:
        monkeypatch.setattr(distributions, "SCRATCH", scores)
        monkeypatch.setattr(distributions, "FEWEST_ROWS", 0)

    return hold


@pytest.mark.parametrize("scratch", [1, 200, 10**7])
def test_value_and_gradient_equal_the_double_loop(scratch: int, small_chunks: Callable[[int], None]) -> None:
    """float64, to 1e-10; a scratch of 1 is one row at a time, 200 two rows with a smaller last chunk."""
    small_chunks(scratch)
    r, queue = vectors(ROWS, 1), vectors(QUEUE, 2)
    z = vectors(ROWS, 3).requires_grad_()
    fast = matched(z, r, [queue, r])
    cross, entropy = direct(z, r, torch.cat([queue, r]), 0.3, 0.2)
    (mine,) = torch.autograd.grad(fast.divergence, z)
    (theirs,) = torch.autograd.grad(cross - entropy, z)
    assert fast.cross_entropy.item() == pytest.approx(cross.item(), abs=1e-10)
    assert fast.entropy.item() == pytest.approx(entropy.item(), abs=1e-10)
    assert torch.allclose(mine, theirs, atol=1e-10)
    assert theirs.abs().max() > 0.01


def test_gradients_in_fp32_keep_four_digits_where_one_key_has_nearly_all_mass() -> None:
    """Random queue, own key nearest, temperatures 0.04 and 0.05: 1 - p is below 1e-6, where the plain fp32
    difference q - p loses its digits. The fp64 gradient is the yardstick, relative to its largest entry."""
    r, queue = vectors(64, 1, width=32), vectors(4096, 2, width=32)
    z = unit(r + 0.1 * vectors(64, 3, width=32)).requires_grad_()
    exact = matched(z, r, [queue, r], online_temperature=0.05, reference_temperature=0.04)
    (wanted,) = torch.autograd.grad(exact.divergence, z)
    narrow = z.detach().float().requires_grad_()
    keys = [queue.float(), r.float()]
    single = matched(narrow, keys[1], keys, online_temperature=0.05, reference_temperature=0.04)
    (got,) = torch.autograd.grad(single.divergence, narrow)
    assert (got.double() - wanted).abs().max() < 1e-4 * wanted.abs().max()
    assert single.divergence.item() == pytest.approx(exact.divergence.item(), abs=2e-6)


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this torch was built without oneDNN")
@pytest.mark.parametrize("loss", ["match", "pick"])
def test_products_by_onednn_change_loss_and_gradient_by_rounding_alone(loss: str) -> None:
    """Two pieces of keys with a smaller last one, against torch's own products and float64."""
    r, queue = vectors(64, 1, width=128), vectors(2 * PIECE + 77, 2, width=128)
    z = unit(r + 0.3 * vectors(64, 3, width=128))

    def computed(dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        online, keys = z.to(dtype).requires_grad_(), [queue.to(dtype), r.to(dtype)]
        if loss == "match":
            value = matched(online, keys[1], keys).cross_entropy
        else:
            value = pick_among_keys(online, keys, temperature=0.05)
        return value.detach().double(), torch.autograd.grad(value, online)[0].double()

    assert fits_onednn(z.float(), queue.float())
    value, gradient = computed(torch.float32)
    with torch.backends.mkldnn.flags(enabled=False):
        plain_value, plain_gradient = computed(torch.float32)
    exact_value, exact_gradient = computed(torch.float64)
    for other_value, other_gradient in ((plain_value, plain_gradient), (exact_value, exact_gradient)):
        assert value.item() == pytest.approx(other_value.item(), abs=2e-6)
        assert (gradient - other_gradient).abs().max() < 1e-5 * other_gradient.abs().max()


def test_the_order_of_a_queue_and_its_division_into_blocks_have_no_effect() -> None:
    r, queue, z = vectors(ROWS, 1), vectors(QUEUE, 2), vectors(ROWS, 3)
    plain = matched(z, r, [queue, r]).divergence.item()
    assert matched(z, r, [queue.flip(0), r]).divergence.item() == pytest.approx(plain, abs=1e-12)
    assert matched(z, r, [queue[:4], queue[4:], r]).divergence.item() == pytest.approx(plain, abs=1e-12)
    assert matched(z, r, [queue[:4], r]).divergence.item() != pytest.approx(plain, abs=1e-3)


def test_a_hot_online_side_tends_to_log_n_minus_the_entropy() -> None:
    """Online temperature 1e6: q is uniform, KL = log 22 - H(p)."""
    r, queue, z = vectors(ROWS, 1), vectors(QUEUE, 2), vectors(ROWS, 3)
    match = matched(z, r, [queue, r], online_temperature=1e6)
    assert match.cross_entropy.item() == pytest.approx(math.log(QUEUE + ROWS), abs=1e-5)


@pytest.mark.parametrize("scratch", [1, 60, 10**7])
def test_picking_the_own_key_is_info_nce_with_a_queue(
    scratch: int, small_chunks: Callable[[int], None]
) -> None:
    """Value and gradient of the shared InfoNCE, which joins queue and batch; also without a queue."""
    small_chunks(scratch)
    r, queue = vectors(ROWS, 1), vectors(QUEUE, 2)
    for earlier in (queue, None):
        z = vectors(ROWS, 3).requires_grad_()
        blocks = [r] if earlier is None else [earlier, r]
        mine = pick_among_keys(z, blocks, temperature=0.1)
        theirs = info_nce(z, r, temperature=0.1, negatives=earlier)
        (got,), (wanted,) = (torch.autograd.grad(loss, z) for loss in (mine, theirs))
        assert mine.item() == pytest.approx(theirs.item(), abs=1e-12)
        tangent = wanted - (wanted * z).sum(-1, keepdim=True) * z  # info_nce: through the length too
        assert torch.allclose(got - (got * z).sum(-1, keepdim=True) * z, tangent, atol=1e-12)


def test_keys_that_require_a_gradient_are_refused() -> None:
    r, z = vectors(ROWS, 1).requires_grad_(), vectors(ROWS, 2)
    with pytest.raises(ValueError, match="must be constants"):
        matched(z, r, [r.detach()])
    with pytest.raises(ValueError, match="must be constants"):
        pick_among_keys(z, [r], temperature=0.1)
