"""MODALS: the effect of each move on a vector, and its identity cases."""

import math
from pathlib import Path

import pytest
import torch

from methods.modals.method import (
    AUGMENTATIONS,
    extrapolation,
    gaussian_noise,
    interpolation,
    jitter,
    linear_sampling,
)
from tests.methods.modals.sample import SAMPLES
from tests.methods.simcse.sample import SAMPLES as SIMCSE
from tests.support import tiny

NT_XENT = SIMCSE[1]
POOL = torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.0, 4.0]])


def test_moves_of_a_worked_pool() -> None:
    """Pool (0,0), (2,0), (0,4), m = 1/2, mean (2/3, 4/3).

    Nearest others: (2,0), (0,0), (0,0), as |(0,0)-(0,4)| = 4 < |(2,0)-(0,4)|; half way: (1,0), (1,0), (0,2).
    Away from the mean: v + (v - mean)/2 = (-1/3,-2/3), (8/3,-2/3), (-1/3,16/3).
    """
    half_way = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    torch.testing.assert_close(interpolation(POOL, POOL, 0.5), half_way)
    away = torch.tensor([[-1.0, -2.0], [8.0, -2.0], [-1.0, 16.0]]) / 3
    torch.testing.assert_close(extrapolation(POOL, POOL, 0.5), away)


def slow_move(name: str, vectors: list[list[float]], m: float) -> list[list[float]]:
    """Returns the two moves without random numbers by loops over rows and dimensions."""
    count, width = len(vectors), len(vectors[0])
    mean = [sum(row[k] for row in vectors) / count for k in range(width)]
    moved = []
    for i, v in enumerate(vectors):
        if name == "interpolation":
            near = min((j for j in range(count) if j != i), key=lambda j, v=v: math.dist(v, vectors[j]))
            moved.append([v[k] + m * (vectors[near][k] - v[k]) for k in range(width)])
        else:
            moved.append([v[k] + m * (v[k] - mean[k]) for k in range(width)])
    return moved


@pytest.mark.parametrize(("name", "slope"), [("interpolation", 0.7), ("extrapolation", 1.3)])
def test_moves_equal_the_slow_loop_with_gradients(name: str, slope: float) -> None:
    """The pool is detached: d moved / d v is 1 - m for interpolation and 1 + m for extrapolation."""
    torch.manual_seed(0)
    vectors = torch.randn(7, 5, dtype=torch.float64, requires_grad=True)
    moved = AUGMENTATIONS[name](vectors, vectors.detach(), 0.3)
    expected = torch.tensor(slow_move(name, vectors.tolist(), 0.3), dtype=torch.float64)
    torch.testing.assert_close(moved, expected, rtol=0, atol=1e-12)
    moved.sum().backward()
    torch.testing.assert_close(vectors.grad, torch.full_like(vectors, slope), rtol=0, atol=1e-12)


def test_linear_sampling_adds_a_difference_of_two_different_rows() -> None:
    differences = {tuple((a - b).tolist()) for i, a in enumerate(POOL) for j, b in enumerate(POOL) if i != j}
    torch.manual_seed(0)
    moves = linear_sampling(torch.zeros(600, 2), POOL, 1.0)
    actual = {tuple(move.tolist()) for move in moves}
    assert actual == differences
    assert len(actual) == 6


def test_gaussian_noise_has_the_deviation_of_the_pool() -> None:
    """Deviations that divide by N: x of (0, 2, 0) is sqrt(8/9), y of (0, 0, 4) is sqrt(32/9)."""
    torch.manual_seed(0)
    moves = gaussian_noise(torch.zeros(100_000, 2), POOL, 0.5)
    expected = 0.5 * torch.tensor([math.sqrt(8 / 9), math.sqrt(32 / 9)])
    torch.testing.assert_close(moves.std(dim=0), expected, rtol=0.01, atol=0)
    torch.testing.assert_close(moves.mean(dim=0), torch.zeros(2), rtol=0, atol=0.02)


def test_the_jitter_is_in_the_principal_directions() -> None:
    """Tokens along x with variance 4 and along y with variance 1, and a masked outlier along y.

    One direction: only x moves, by a normal draw times the eigenvalue 4; every token of a sentence alike.
    """
    tokens = torch.tensor([[[2.0, 1.0], [-2.0, 1.0], [0.0, 99.0]], [[2.0, -1.0], [-2.0, -1.0], [0.0, 99.0]]])
    mask = torch.tensor([[1, 1, 0], [1, 1, 0]])
    many, masks = tokens.repeat(4000, 1, 1), mask.repeat(4000, 1)  # the same covariance
    torch.manual_seed(0)
    moves = jitter(many, masks, magnitude=0.1, directions=1)
    assert moves.shape == (8000, 1, 2)
    torch.testing.assert_close(moves[..., 1], torch.zeros(8000, 1), rtol=0, atol=1e-6)
    assert moves[..., 0].std() == pytest.approx(0.4, rel=0.03)
    both = jitter(many, masks, magnitude=0.1, directions=2)
    assert both[..., 1].std() == pytest.approx(0.1, rel=0.03)
    torch.manual_seed(0)
    again = jitter(many + 10.0, masks, magnitude=0.1, directions=1)
    torch.testing.assert_close(again, moves, rtol=0, atol=1e-4)
    torch.manual_seed(0)
    two = jitter(tokens, mask, magnitude=0.1, directions=1)
    torch.manual_seed(0)
    torch.testing.assert_close(
        jitter(tokens + 10.0, mask, magnitude=0.1, directions=1), two, rtol=0, atol=1e-4
    )


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_a_batch_of_one_is_not_moved(name: str) -> None:
    alone = torch.tensor([[3.0, -1.0]])
    torch.testing.assert_close(AUGMENTATIONS[name](alone, alone, 0.5), alone)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.label)
def test_magnitude_zero_is_simcse_with_nt_xent(sample: tiny.Sample, backbone: Path) -> None:
    method = tiny.changed(sample, backbone, magnitude=0.0)
    batch = tiny.batch_of(method)
    simcse = tiny.changed(NT_XENT, backbone, head=sample.config["head"])
    simcse.load_state_dict(method.state_dict())
    if sample.label == "pca-jittering":  # its noise is drawn before the encoder's dropout: compare without
        method.eval()
        simcse.eval()
    torch.manual_seed(5)
    ours = method.loss(batch)
    torch.manual_seed(5)
    theirs = simcse.loss(batch)
    torch.testing.assert_close(ours.total, theirs.total, rtol=1e-6, atol=0)
    assert float(ours.parts["moved"]) == 0.0
