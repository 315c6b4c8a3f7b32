"""The batched solver against one regression at a time."""

import numpy as np
import pytest
import torch

from harness.tasks import logistic
from harness.tasks.logistic import ClassifierProtocol, Features, Fold, fit, initial_weights
from tests.harness.tasks.plain_loop import PlainRegression

LONG = ClassifierProtocol(
    learning_rate=1e-2, batch_size=16, tenacity=2, epoch_size=2, max_epochs=20, seed=1111
)
SHORT = ClassifierProtocol(learning_rate=1e-2, batch_size=24, tenacity=1, epoch_size=1, max_epochs=12, seed=7)


def three_classes(n: int = 150, width: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    centres = rng.standard_normal((3, width))
    return (centres[labels] + rng.standard_normal((n, width))).astype(np.float32), labels


def held(matrix: np.ndarray | list[list[float]]) -> Features:
    """Returns rows [N, D] as features."""
    rows = torch.as_tensor(matrix, dtype=torch.float32)
    return Features(rows, [torch.arange(len(rows))])


def folds_of_three_sizes(n: int) -> list[Fold]:
    """Two folds of one size, one a row larger, and one whose rows were permuted first."""
    rows = np.arange(n)
    return [
        Fold(rows[40:], rows[:40]),
        Fold(np.delete(rows, rows[20:60]), rows[20:60]),
        Fold(rows[39:], rows[:39]),
        Fold(rows[::-1][:100].copy(), rows[:50], shuffled=n),
    ]


def plain_fit(x: np.ndarray, y: np.ndarray, fold: Fold, penalty: float, protocol: ClassifierProtocol):
    model = PlainRegression(x.shape[1], 3, penalty, protocol)
    if fold.shuffled:
        np.random.permutation(fold.shuffled)  # noqa: NPY002
    accuracy = model.fit(x[fold.train], y[fold.train], (x[fold.dev], y[fold.dev]))
    weight = torch.cat([model.model.weight, model.model.bias[:, None]], dim=1).detach().numpy()
    return round(accuracy * len(fold.dev)), weight


@pytest.mark.parametrize("protocol", [LONG, SHORT], ids=["long", "short"])
def test_every_fit_equals_its_own_loop(protocol: ClassifierProtocol) -> None:
    x, y = three_classes()
    folds, penalties = folds_of_three_sizes(len(x)), np.array([[1e-5, 1e-2, 0.3]] * 3 + [[0.0, 1e-3, 1e-1]])
    fits = fit(held(x), y, folds, penalties, classes=3, protocol=protocol)
    compared = 0
    for f, fold in enumerate(folds):
        for i, penalty in enumerate(penalties[f]):
            correct, weight = plain_fit(x, y, fold, float(penalty), protocol)
            assert fits.correct[f, i] == correct
            np.testing.assert_allclose(fits.weights[f, i].numpy(), weight, atol=2e-5)
            compared += 1
    assert compared == 12


def test_first_adam_step_moves_each_weight_by_the_learning_rate_against_its_gradient() -> None:
    """Adam's first step is lr * g / (|g| + eps), so lr * sign(g).

    One row x = (1, -2) of class 0 of two: the gradient of class 0 is (p0 - 1) x, of class 1 p1 x. With
    p0 < 1 the signs are -, + and - for the bias of class 0, and the opposite for class 1; Adam moves against.
    """
    once = ClassifierProtocol(learning_rate=0.1, batch_size=1, tenacity=0, epoch_size=1, max_epochs=0, seed=3)
    features = held([[1.0, -2.0]])
    row = np.zeros(1, dtype=np.int64)
    fits = fit(features, row, [Fold(row, row)], np.array([[0.0]]), classes=2, protocol=once)
    moved = fits.weights[0, 0] - initial_weights(3, 2, seed=3)
    expected = 0.1 * torch.tensor([[1.0, -1.0, 1.0], [-1.0, 1.0, -1.0]])
    torch.testing.assert_close(moved, expected, atol=1e-5, rtol=0)


def test_penalty_pulls_weights_through_the_gradient_before_adam_scales_it() -> None:
    """With a penalty far above the data's gradient Adam's first step is -lr * sign(weight).

    Decoupled decay would shrink every weight by the same share instead.
    """
    once = ClassifierProtocol(learning_rate=0.1, batch_size=1, tenacity=0, epoch_size=1, max_epochs=0, seed=3)
    features = held([[1e-6, 1e-6]])
    row = np.zeros(1, dtype=np.int64)
    fits = fit(features, row, [Fold(row, row)], np.array([[1e4]]), classes=2, protocol=once)
    start = initial_weights(3, 2, seed=3)[:, :2]
    torch.testing.assert_close(fits.weights[0, 0][:, :2], start - 0.1 * start.sign(), atol=1e-5, rtol=0)


def test_a_step_of_gradients_near_epsilon_is_shortened_by_it() -> None:
    """g / (|g| + 1e-8): a feature of 1e-7 has a gradient near 5e-8, so it moves by 5 / 6 of the rate."""
    once = ClassifierProtocol(learning_rate=0.1, batch_size=1, tenacity=0, epoch_size=1, max_epochs=0, seed=3)
    row = np.zeros(1, dtype=np.int64)
    fits = fit(held([[1e-7]]), row, [Fold(row, row)], np.array([[0.0]]), classes=2, protocol=once)
    start = initial_weights(2, 2, seed=3)
    error = start[:, 1].softmax(dim=0) - torch.tensor([1.0, 0.0])
    gradient = 1e-7 * error
    expected = -0.1 * gradient / (gradient.abs() + 1e-8)
    torch.testing.assert_close(fits.weights[0, 0][:, 0] - start[:, 0], expected, atol=1e-4, rtol=0)


SCRIPT = [3, 2, 4, 4, 4, 4, 4, 4, 9, 9]
"""Improve, fail, improve, then five failures: the sixth failure in all is check 8, before the 9 is seen."""


def test_the_count_of_failed_checks_survives_an_improvement(monkeypatch: pytest.MonkeyPatch) -> None:
    """A counter reset by the improvement at check 3 would go on to check 9 and keep its 9 right rows."""
    x, y = three_classes(60)
    protocol = ClassifierProtocol(
        learning_rate=1e-3, batch_size=64, tenacity=5, epoch_size=1, max_epochs=200, seed=1
    )
    seen = []

    def scripted(features, weights, rows, classes):
        seen.append(SCRIPT[len(seen)])
        right = torch.arange(rows.shape[1]) < seen[-1]
        gold = torch.as_tensor(y)[rows]
        return torch.where(right, gold, (gold + 1) % 3)[:, None]

    monkeypatch.setattr(logistic, "_predicted", scripted)
    fold = Fold(np.arange(20, 60), np.arange(20))
    fits = fit(held(x), y, [fold], np.array([[0.0]]), classes=3, protocol=protocol)
    assert seen == SCRIPT[:8]
    assert fits.correct.tolist() == [[4]]


def test_a_fit_that_keeps_improving_ends_with_the_block_after_max_epochs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Blocks of 4 passes start while at most 8 were done: at 0, 4 and 8, so three checks."""
    x, y = three_classes(60)
    checks = []

    def improving(features, weights, rows, classes):
        checks.append(len(checks))
        gold = torch.as_tensor(y)[rows]
        return torch.where(torch.arange(rows.shape[1]) <= len(checks), gold, (gold + 1) % 3)[:, None]

    monkeypatch.setattr(logistic, "_predicted", improving)
    protocol = ClassifierProtocol(
        learning_rate=1e-3, batch_size=64, tenacity=5, epoch_size=4, max_epochs=8, seed=1
    )
    fold = Fold(np.arange(20, 60), np.arange(20))
    fit(held(x), y, [fold], np.array([[0.0]]), classes=3, protocol=protocol)
    assert len(checks) == 3


def test_results_do_not_depend_on_how_many_folds_are_solved_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, y = three_classes()
    folds, penalties = folds_of_three_sizes(len(x)), np.full((4, 2), 1e-4)
    features = held(x)
    together = fit(features, y, folds, penalties, classes=3, protocol=LONG)
    monkeypatch.setattr(logistic, "BATCH_BYTES", 1)
    alone = fit(features, y, folds, penalties, classes=3, protocol=LONG)
    assert np.array_equal(together.correct, alone.correct)
    torch.testing.assert_close(together.weights, alone.weights, atol=2e-5, rtol=0)


@pytest.mark.parametrize("at_once", [1, 4, 5, 10, 11, 512])
def test_every_row_is_classified_however_many_at_once(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten rows on axes of their own classes: blocks that end before, at and after the last row."""
    monkeypatch.setattr(logistic, "PREDICTED_ROWS", at_once)
    weights = torch.cat([torch.eye(10), torch.zeros(10, 1)], dim=1)[None]
    rows = torch.tensor([[9, 2, 4, 1, 0, 3, 8, 7, 5, 6]])
    actual = logistic._predicted(held(np.eye(10)), weights, rows, 10)
    assert actual.tolist() == [rows.tolist()]


def test_the_rows_gathered_for_one_step_stay_within_the_limit() -> None:
    """[F, 64, 769] fp32 is F * 196,864 bytes: 26 folds fit in 5 MiB, so 100 folds make 4 groups."""
    features = held(np.zeros((1, 768)))
    folds = [Fold(np.arange(10), np.arange(2))] * 100
    groups = list(logistic._groups_of_one_size(folds, features, batch_size=64))
    assert [len(group) for group in groups] == [26, 26, 26, 22]
    assert sorted(i for group in groups for i in group) == list(range(100))


def test_fitting_leaves_the_global_random_streams_alone() -> None:
    x, y = three_classes(60)
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    fold = Fold(np.arange(20, 60), np.arange(20), shuffled=60)
    fit(held(x), y, [fold], np.array([[0.0]]), classes=3, protocol=LONG)
    assert torch.equal(before[0], torch.get_rng_state())
    assert np.array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002
