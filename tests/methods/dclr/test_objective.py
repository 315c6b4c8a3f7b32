"""Weights, losses and noise of DCLR: worked examples, slow forms, limits and invariances."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from methods.dclr import objective
from tests.support.vectors import assert_equal_with_gradients, cosine, drawn

PAIRS = torch.tensor([[0.9, 0.1, 0.95], [0.2, 0.8, 0.3], [0.5, -0.1, 0.7]], dtype=torch.float64)
NOISE = torch.tensor([[0.05, -0.05], [0.0, 0.1], [-0.1, 0.02]], dtype=torch.float64)
MASKED = torch.tensor([[False, False, True], [False, False, False], [False, False, False]])
CASES = [
    # tau, masked pair (None: nothing is masked), noise, cross-entropy, binary, without positive
    (0.5, None, False, 0.658456347, 0.413816619, -0.090264211),
    (0.5, None, True, 0.855663114, 0.301629079, 0.297065336),
    (0.5, "zero-logit", False, 0.484051108, 0.305124608, -0.513479931),
    (0.5, "excluded", False, 0.441097524, 0.279168536, -0.712859554),
    (0.5, "zero-logit", True, 0.708923807, 0.251111767, 0.013150091),
    (0.5, "excluded", True, 0.674814601, 0.240011232, -0.076722114),
    (0.05, None, False, 0.443821100, 0.295880724, -4.291021934),
    (0.05, "zero-logit", True, 0.006068010, 0.002427202, -9.804884116),
    (0.05, "excluded", True, 0.006068004, 0.002427200, -9.835276610),
]


def random_cosines(rows: int, columns: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(rows, columns, generator=generator, dtype=torch.float64) * 2 - 1


def slow_softmax(logits: Tensor, row: int, left_out: tuple[int, ...] = ()) -> dict[int, Tensor]:
    terms = {c: logits[row, c].exp() for c in range(logits.shape[1]) if c not in left_out}
    return {c: term / sum(terms.values()) for c, term in terms.items()}


def slow_binary(logits: Tensor) -> Tensor:
    total = torch.zeros((), dtype=logits.dtype)
    for row in range(len(logits)):
        for column, share in slow_softmax(logits, row).items():
            total = total - (share if column == row else 1 - share).log()
    return total / logits.numel()


def slow_cross_entropy(logits: Tensor) -> Tensor:
    total = torch.zeros((), dtype=logits.dtype)
    for row in range(len(logits)):
        total = total - slow_softmax(logits, row)[row].log()
    return total / len(logits)


def slow_without_positive(logits: Tensor) -> Tensor:
    total = torch.zeros((), dtype=logits.dtype)
    for row in range(len(logits)):
        others = sum(logits[row, c].exp() for c in range(logits.shape[1]) if c != row)
        total = total - (logits[row, row].exp() / others).log()
    return total / len(logits)


SLOW: dict[str, Callable[[Tensor], Tensor]] = {
    "binary-cross-entropy": slow_binary,
    "cross-entropy": slow_cross_entropy,
    "cross-entropy-without-positive": slow_without_positive,
}


@pytest.mark.parametrize(("temperature", "mask", "noise", "entropy", "binary", "printed"), CASES)
def test_losses_of_the_worked_example(
    temperature: float, mask: str | None, noise: bool, entropy: float, binary: float, printed: float
) -> None:
    similarities = torch.cat([PAIRS, NOISE], dim=1) if noise else PAIRS
    logits = objective.weighted_logits(
        similarities,
        None if mask is None else MASKED,
        temperature=temperature,
        masked_pair="excluded" if mask == "excluded" else "zero-logit",
    )
    actual = [objective.OBJECTIVES[name](logits).item() for name in sorted(objective.OBJECTIVES)]
    assert actual == pytest.approx([binary, entropy, printed], abs=1e-9)
    assert len(CASES) == 9


@pytest.mark.parametrize("name", sorted(objective.OBJECTIVES))
@pytest.mark.parametrize("masked_pair", ["zero-logit", "excluded"])
def test_losses_and_gradients_equal_the_double_loop(name: str, masked_pair: objective.MaskedPair) -> None:
    similarities = random_cosines(5, 8, seed=1).requires_grad_()
    masked = objective.false_negatives(random_cosines(5, 5, seed=2), threshold=0.3, comparison="above")
    assert 3 < masked.sum() < 17
    logits = objective.weighted_logits(similarities, masked, temperature=0.2, masked_pair=masked_pair)
    fast = objective.OBJECTIVES[name](logits)
    # The slow form writes a masked pair as the factor that the reading names.
    weights = torch.nn.functional.pad((~masked).double(), (0, 3), value=1.0)
    if masked_pair == "zero-logit":
        slow = SLOW[name](weights * similarities / 0.2)
    else:
        slow = SLOW[name]((similarities / 0.2).where(weights > 0, torch.tensor(-1e4, dtype=torch.float64)))
    assert_equal_with_gradients(fast, slow, [similarities])


def test_binary_cross_entropy_of_two_columns_is_twice_the_cross_entropy_of_the_row() -> None:
    """1 - p of the negative is p of the positive; the sum over a row is 2 CE, the mean over entries CE."""
    for similarities in (random_cosines(2, 2, seed=3), random_cosines(1, 2, seed=4)):
        logits = similarities / 0.05
        summed = objective.binary_cross_entropy(logits) * logits.numel()
        expected = 2 * objective.cross_entropy(logits) * len(logits)
        assert summed.item() == pytest.approx(expected.item(), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_binary_gradient_at_the_positive_is_one_to_two_times_the_cross_entropys(seed: int) -> None:
    """The ratio is 1 + p_ii S / (1 - p_ii), S the sum of p / (1 - p) over negatives; in [1 + p_ii, 2]."""
    logits = (random_cosines(1, 6, seed=seed) * 4).requires_grad_()
    shares = logits.detach().softmax(dim=1)[0]
    (binary,) = torch.autograd.grad(objective.binary_cross_entropy(logits) * 6, logits)
    (entropy,) = torch.autograd.grad(objective.cross_entropy(logits), logits)
    ratio = float(binary[0, 0] / entropy[0, 0])
    positive, others = shares[0], shares[1:]
    assert ratio == pytest.approx(
        float(1 + positive * (others / (1 - others)).sum() / (1 - positive)), rel=1e-9
    )
    assert 1 + positive - 1e-12 <= ratio <= 2


def test_binary_cross_entropy_is_finite_where_a_share_rounds_to_one_and_the_direct_form_is_not() -> None:
    """Four orthonormal pairs at tau 0.05: each row has -log p + 3 (-log(1 - p)) = 6 e^-20, to first order."""
    logits = torch.eye(4) / 0.05
    shares = logits.softmax(dim=1)
    direct = -(torch.eye(4) * shares.log() + (1 - torch.eye(4)) * (1 - shares).log()).mean()
    assert not math.isfinite(direct)
    actual = objective.binary_cross_entropy(logits)
    assert actual.dtype == torch.float32
    assert actual.item() == pytest.approx(6 * math.exp(-20) / 4, rel=1e-5)


def test_binary_cross_entropy_is_exact_for_the_worst_pair_of_all() -> None:
    """B = 2, positive at cosine -1, negative at 1, tau 0.02: row i costs -log p_ii - log(1 - p_ij) = 200.

    Both terms are 100 nats, and 1 - p of the negative is below the resolution even of fp64.
    """
    logits = torch.tensor([[-1.0, 1.0], [1.0, -1.0]]).div(0.02).requires_grad_()
    loss = objective.binary_cross_entropy(logits)
    loss.backward()
    assert loss.item() == pytest.approx(100.0)
    torch.testing.assert_close(logits.grad, torch.tensor([[-0.5, 0.5], [0.5, -0.5]]))
    assert objective.cross_entropy(logits).item() == pytest.approx(100.0)
    assert objective.cross_entropy_without_positive(logits).item() == pytest.approx(100.0)


def test_thresholds_at_the_ends_mask_no_pair_or_every_pair() -> None:
    """A cosine that rounding lifts above 1 is still not above a threshold of 1."""
    scores = torch.full((3, 3), 1.0000001)
    assert not objective.false_negatives(scores, threshold=1.0, comparison="above").any()
    assert objective.false_negatives(scores, threshold=1.0, comparison="at-or-above").sum() == 6
    assert not objective.false_negatives(scores, threshold=1.1, comparison="at-or-above").any()
    everything = objective.false_negatives(random_cosines(3, 3, 9), threshold=-1.1, comparison="above")
    assert everything.sum() == 6


def test_distillation_has_its_worked_value_and_teaches_the_student_only() -> None:
    """KL of (3/4, 1/4) from (1/2, 1/2) is log 2 - (1/2) log(16/12) - ..., summed by hand per row."""
    teacher = torch.tensor([[math.log(3.0), 0.0], [0.0, math.log(3.0)]], requires_grad=True)
    student = torch.zeros(2, 2, requires_grad=True)
    loss = objective.distillation(student, teacher, temperature=1.0)
    loss.backward()
    assert loss.item() == pytest.approx(0.75 * math.log(1.5) + 0.25 * math.log(0.5))
    assert teacher.grad is None
    torch.testing.assert_close(student.grad, torch.tensor([[-0.125, 0.125], [0.125, -0.125]]))


def test_noise_share_is_the_mass_of_noise_among_negatives() -> None:
    """One negative of weight 1 and two noise vectors of weights 1 and 2: 3 of 4; with weight 3: 3 of 6."""
    logits = torch.tensor([[9.0, 0.0, 0.0, math.log(2.0)], [math.log(3.0), 9.0, 0.0, math.log(2.0)]])
    assert objective.noise_share(logits).item() == pytest.approx((3 / 4 + 3 / 6) / 2)
    assert objective.noise_share(logits[:, :2]).item() == 0.0
    assert objective.noise_share(torch.tensor([[9.0, 0.0]])).item() == 1.0
    assert objective.noise_share(torch.tensor([[9.0]])).item() == 0.0


HAND: dict[str, Any] = {"temperature": 1.0, "steps": 1, "step_size": 0.1, "denominator": "all"}


def non_uniformity(
    noise: Tensor, anchors: Tensor, positives: Tensor, *, temperature: float, denominator: str
) -> Tensor:
    """The loss that the noise climbs, DCLR eq. 2 averaged over anchors, pair by pair."""
    losses = []
    for row, anchor in enumerate(anchors):
        columns = [cosine(anchor, other) for other in noise]
        if denominator == "all":
            columns += [cosine(anchor, other) for other in positives]
        below = sum((value / temperature).exp() for value in columns)
        losses.append(-cosine(anchor, positives[row]) / temperature + torch.as_tensor(below).log())
    return torch.stack(losses).mean()


def slow_ascent(
    noise: Tensor, anchors: Tensor, positives: Tensor, *, steps: int, step_size: float, **settings: Any
) -> Tensor:
    """The loop of the paper with autograd."""
    for _ in range(steps):
        noise = noise.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(non_uniformity(noise, anchors, positives, **settings), noise)
        noise = noise + step_size * gradient / gradient.norm(dim=1, keepdim=True)
    return noise.detach()


def test_one_step_worked_by_hand() -> None:
    """Anchors e1 and e2 are their own positives, one noise vector 2 e3, tau 1, step 0.1.

    Each row: -1 + log(e + 1 + 1) = 0.551444714. Both anchors pull alike, so the direction is
    (1, 1, 0) / sqrt 2 and the vector ends at (0.0707107, 0.0707107, 2).
    """
    anchors = torch.eye(3, dtype=torch.float64)[:2]
    noise = torch.tensor([[0.0, 0.0, 2.0]], dtype=torch.float64)
    value = non_uniformity(noise, anchors, anchors, temperature=1.0, denominator="all")
    assert value.item() == pytest.approx(0.551444714, abs=1e-9)
    expected = torch.tensor([[0.1 / math.sqrt(2), 0.1 / math.sqrt(2), 2.0]], dtype=torch.float64)
    moved = objective.ascend(noise, anchors, anchors, **HAND)
    torch.testing.assert_close(moved, expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("denominator", ["all", "noise-only"])
@pytest.mark.parametrize("temperature", [0.05, 1.0])
def test_the_closed_form_equals_autograd(denominator: Any, temperature: float) -> None:
    noise, anchors, positives = drawn(5, 6, seed=1), drawn(4, 6, seed=2), drawn(4, 6, seed=3)
    settings: dict[str, Any] = {"temperature": temperature, "denominator": denominator}
    expected = slow_ascent(noise, anchors, positives, steps=3, step_size=0.2, **settings)
    actual = objective.ascend(noise, anchors, positives, steps=3, step_size=0.2, **settings)
    torch.testing.assert_close(actual, expected, atol=1e-12, rtol=0)


def test_norms_grow_by_pythagoras_and_the_loss_never_falls() -> None:
    """The gradient of a cosine is orthogonal to its argument: |n|^2 grows by step_size^2 a step."""
    noise, anchors, positives = drawn(6, 8, seed=7), drawn(4, 8, seed=8), drawn(4, 8, seed=9)
    height, moved = -math.inf, noise
    for step in range(5):
        moved = objective.ascend(noise, anchors, positives, **{**HAND, "steps": step, "step_size": 0.03})
        grown = moved.square().sum(dim=1) - noise.square().sum(dim=1)
        torch.testing.assert_close(grown, torch.full_like(grown, step * 0.03**2), atol=1e-12, rtol=0)
        reached = non_uniformity(moved, anchors, positives, temperature=1.0, denominator="all").item()
        assert reached > height
        height = reached


def test_a_gradient_too_small_for_fp32_still_has_a_direction() -> None:
    """Cosine -1 to the anchors' side at tau 0.005: the softmax share is about e^-400, zero in fp32."""
    anchors = torch.nn.functional.normalize(torch.tensor([[1.0, 0.1, 0.0], [1.0, -0.1, 0.0]]))
    noise = torch.tensor([[-1.0, 0.0, 0.01]])
    settings: dict[str, Any] = {**HAND, "temperature": 0.005}
    expected = objective.ascend(noise.double(), anchors.double(), anchors.double(), **settings)
    moved = objective.ascend(noise, anchors, anchors, **settings)
    torch.testing.assert_close(moved.double(), expected, atol=1e-4, rtol=0)
    assert moved.ne(0).any()


def test_noise_on_top_of_the_only_anchor_becomes_zero_and_may_move_again() -> None:
    anchor = torch.tensor([[2.0, 0.0, 0.0]])
    noise = torch.tensor([[3.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    once = objective.ascend(noise, anchor, anchor, **HAND)
    torch.testing.assert_close(once, torch.tensor([[0.0, 0.0, 0.0], [0.1, 1.0, 0.0]]))
    twice = objective.ascend(noise, anchor, anchor, **{**HAND, "steps": 2, "step_size": 1e-3})
    torch.testing.assert_close(twice[0], torch.tensor([1e-3, 0.0, 0.0]))
