"""SentEval's three schemes, batched, against the plain loop; sanity checks; bad input."""

from dataclasses import replace

import numpy as np
import pytest

from harness.errors import InputError
from harness.tasks import classifier
from harness.tasks.classifier import Outcome, classify
from harness.tasks.logistic import SENTEVAL, ClassifierProtocol
from tests.harness.tasks import plain_loop
from tests.harness.tasks.test_logistic import held

SHORT = replace(SENTEVAL, folds=3, learning_rate=1e-2, max_epochs=8)


def two_classes(n: int, width: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = (rng.random(n) < 0.4).astype(np.int64)
    return (labels[:, None] * 0.8 + rng.standard_normal((n, width))).astype(np.float32), labels


def outcome(
    x: np.ndarray, y: np.ndarray, protocol: ClassifierProtocol, *ends: int, classes: int = 2
) -> Outcome:
    """Classifies rows cut at `ends` into train, then test or dev and test."""
    names = {0: ["train"], 1: ["train", "test"], 2: ["train", "dev", "test"]}[len(ends)]
    parts = dict(zip(names, np.split(np.arange(len(y)), ends), strict=True))
    return classify(held(x), y, parts, classes=classes, protocol=protocol)


def test_two_schemes_with_folds_equal_the_plain_loop() -> None:
    x, y = two_classes(120)
    ours = outcome(x, y, SHORT)
    assert (ours.dev, ours.test) == plain_loop.nested(x, y, 2, SHORT)
    x, y = two_classes(300)
    ours = outcome(x, y, SHORT, 200)
    dev, test, predicted = plain_loop.train_test(x[:200], y[:200], x[200:], y[200:], 2, SHORT)
    assert (ours.dev, ours.test) == (dev, test)
    assert np.array_equal(ours.predicted, predicted)


@pytest.mark.parametrize(
    "protocol", [SHORT, replace(SHORT, grid=(1e-9,), epoch_size=1)], ids=["search", "no-search"]
)
def test_three_part_scheme_equals_the_plain_loop_that_refits(protocol: ClassifierProtocol) -> None:
    x, y = two_classes(300)
    parts = {"train": slice(0, 150), "dev": slice(150, 220), "test": slice(220, 300)}
    plain = plain_loop.train_dev_test({name: (x[at], y[at]) for name, at in parts.items()}, 2, protocol)
    ours = outcome(x, y, protocol, 150, 220)
    assert (ours.dev, ours.test) == plain


def test_rounding_comes_before_the_best_penalty_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dev accuracies 66.666 and 66.668 percent are both 66.67 once rounded, so the first penalty wins.

    66,666 and 66,668 of 100,000 rows right; unrounded, the second would win and its test rows be reported.
    """
    chosen = []

    class Fits:
        correct = np.array([[66_666, 66_668]])

        def predict(self, fold: int, penalty: int, rows: np.ndarray) -> np.ndarray:
            chosen.append(penalty)
            return np.zeros(len(rows), dtype=np.int64)

    monkeypatch.setattr(classifier, "fit", lambda *given, **options: Fits())
    y = np.zeros(100_012, dtype=np.int64)
    y[0] = 1
    result = outcome(np.zeros((len(y), 1), np.float32), y, SHORT, 2, 100_002)
    assert chosen == [0]
    assert (result.dev, result.test) == (66.67, 100.0)


def test_fold_accuracies_are_averaged_before_rounding_within_a_grid() -> None:
    """1/3 and 2/7 right: mean 0.30952..., so 30.95; the rounded accuracies 33.33 and 28.57 agree here."""
    folds = [classifier.Fold(np.arange(1), np.arange(n)) for n in (3, 7)]
    assert classifier._mean_percentages(np.array([[1], [2]]), folds) == [30.95]


def test_outer_folds_are_rounded_before_they_are_averaged(monkeypatch: pytest.MonkeyPatch) -> None:
    """6, 7 and 18 of 42 right: (14.29 + 16.67 + 42.86) / 3 = 24.6067, so 24.61.

    Unrounded, 31 of 126 is 24.6032 and would print as 24.60.
    """
    y = np.tile([0, 1], 63)
    trained: list[np.ndarray] = []

    class Fits:
        correct = np.zeros((9, 4))

        def predict(self, fold: int, penalty: int, rows: np.ndarray) -> np.ndarray:
            right = np.arange(len(rows)) < (6, 7, 18)[fold]
            return np.where(right, y[rows], 1 - y[rows])

    def fit(features: object, labels: object, folds: object, penalties: np.ndarray, **more: object) -> Fits:
        trained.append(penalties)
        return Fits()

    monkeypatch.setattr(classifier, "fit", fit)
    assert outcome(np.zeros((126, 1), np.float32), y, SHORT).test == 24.61
    assert [penalties.shape for penalties in trained] == [(9, 4), (3, 1)]
    assert set(trained[1].ravel()) == {SHORT.grid[0]}, "of penalties that are equally good the first counts"


def test_a_class_with_exactly_a_row_for_each_fold_is_in_every_fold() -> None:
    labels = np.array([0] * 30 + [1] * SHORT.folds)
    folds = classifier._folds(labels, np.arange(len(labels)), SHORT)
    assert [int(labels[fold.dev].sum()) for fold in folds] == [1, 1, 1]


def test_a_class_with_too_few_rows_is_one_clear_line() -> None:
    y = np.array([0] * 20 + [1] * 4)
    with pytest.raises(InputError, match="class 1 has 4 rows, so it is missing in a fold; 10 folds need"):
        outcome(np.ones((24, 2), np.float32), y, SENTEVAL)
    x, y = two_classes(90)
    with pytest.raises(InputError, match="no training row has class 2; expected rows of all 3 classes"):
        outcome(x, y, SHORT, 30, 60, classes=3)
    with pytest.raises(InputError, match="training rows are too few"):
        outcome(np.ones((18, 2), np.float32), np.tile([0, 1], 9), SHORT, 12)


@pytest.mark.parametrize(("rows", "held"), [(20, 1), (39, 1), (40, 2), (59, 2), (100, 5)])
def test_a_twentieth_of_the_training_rows_rounded_down_is_held_out_of_the_final_fit(
    rows: int, held: int
) -> None:
    """The rows are any numbers of a larger set; the first of the permutation of the seed are held out."""
    numbers = 1000 + 3 * np.arange(rows)
    fold = classifier._final_fold(numbers, SENTEVAL)
    drawn = numbers[np.random.RandomState(1111).permutation(rows)]
    assert fold.dev.tolist() == drawn[:held].tolist()
    assert fold.train.tolist() == drawn[held:].tolist()
    assert fold.shuffled == rows


def test_nineteen_training_rows_are_too_few_to_hold_one_out() -> None:
    with pytest.raises(InputError, match=r"19 training rows are too few: .* at least 20 are needed"):
        classifier._final_fold(np.arange(19), SENTEVAL)
