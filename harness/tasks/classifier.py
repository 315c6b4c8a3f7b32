"""Accuracy of a linear classifier on frozen vectors, under SentEval's three schemes.

The parts of a data set determine the scheme, as in SentEval:

    train              nested cross-validation: an outer fold's penalty is chosen by inner folds
    train, test        the penalty is chosen by cross-validation on train, the score is on test
    train, dev, test   the penalty is chosen on dev, the score is on test

Accuracies are percentages rounded to two decimals *before* they are averaged over outer folds and before the
best penalty is taken, as SentEval does: a tie after rounding goes to the smaller index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from harness.errors import InputError
from harness.tasks.features import Features
from harness.tasks.logistic import Fits, Fold, fit
from harness.tasks.protocols import SEED, Protocol, Training


class Outcome(NamedTuple):
    """Accuracies in percent with two decimals; `predicted` are the classes of the test rows, if any."""

    dev: float
    test: float
    predicted: np.ndarray | None


class BatchedClassifier:
    """Trains SentEval's regression for each fold f and each value of `values[f]`, all fits at once."""

    DEV_SHARE = 0.05

    def __init__(self, features: Features, labels: np.ndarray, classes: int, training: Training) -> None:
        self.features, self.labels, self.classes, self.training = features, labels, classes, training

    def fit(self, folds: Sequence[Fold], values: np.ndarray) -> Fits:
        return fit(self.features, self.labels, folds, values, classes=self.classes, training=self.training)

    def final_fold(self, train: np.ndarray) -> Fold:
        """Returns `train` with a random twentieth as held-out rows, drawn from the fit's own stream."""
        permutation = np.random.RandomState(self.training.seed).permutation(len(train))
        held_out = int(self.DEV_SHARE * len(train))
        if not held_out:
            raise InputError(
                f"{len(train)} training rows are too few: a twentieth is held out, so give 20 or more"
            )
        return Fold(train[permutation[held_out:]], train[permutation[:held_out]], shuffled=len(train))


def classify(
    features: Features,
    labels: np.ndarray,
    parts: Mapping[str, np.ndarray],
    *,
    classes: int,
    protocol: Protocol,
) -> Outcome:
    """Returns the accuracies of `protocol` on rows of `features` with their class numbers `labels`.

    `parts` gives the row numbers of `train`, perhaps `test`, perhaps `dev`; they decide the scheme.
    Errors: InputError if a class has too few rows for every fold to see it, or is missing from `train`.
    """
    classifier = BatchedClassifier(features, labels, classes, protocol.training)
    counts = np.bincount(labels[parts["train"]], minlength=classes)
    if not counts.all():
        raise InputError(
            f"no training row has class {counts.argmin()}; expected rows of all {classes} classes"
        )
    if "test" not in parts:
        return _nested_cross_validation(classifier, labels, parts["train"], protocol)
    if "dev" not in parts:
        return _cross_validation(classifier, labels, parts["train"], parts["test"], protocol)
    return _train_dev_test(classifier, labels, parts, protocol)


def stratified_folds(labels: np.ndarray, rows: np.ndarray, count: int) -> list[Fold]:
    """Returns `count` stratified folds of `rows`, shuffled with SentEval's seed."""
    from sklearn.model_selection import StratifiedKFold

    present, sizes = np.unique(labels[rows], return_counts=True)
    if sizes.min() < count:
        raise InputError(
            f"class {present[sizes.argmin()]} has {sizes.min()} rows, so it is missing in a fold; "
            f"{count} folds need at least {count} rows of every class"
        )
    folds = StratifiedKFold(n_splits=count, shuffle=True, random_state=SEED)
    return [Fold(rows[train], rows[held]) for train, held in folds.split(rows, labels[rows])]


def _mean_percentages(correct: np.ndarray, folds: Sequence[Fold]) -> list[float]:
    """Returns for each value the mean accuracy over folds, in percent and rounded; `correct` is [F, L]."""
    sizes = np.array([len(fold.dev) for fold in folds])
    return [round(100 * np.mean(column / sizes), 2) for column in correct.T]


def _percentage(predicted: np.ndarray, gold: np.ndarray) -> float:
    return round(100 * (int((predicted == gold).sum()) / len(gold)), 2)


def _nested_cross_validation(
    classifier: BatchedClassifier, labels: np.ndarray, rows: np.ndarray, protocol: Protocol
) -> Outcome:
    """Inner folds choose the penalty of each outer fold."""
    outer = stratified_folds(labels, rows, protocol.folds)
    inner = [stratified_folds(labels, fold.train, protocol.folds) for fold in outer]
    flat = [fold for folds in inner for fold in folds]
    correct = classifier.fit(flat, np.tile(protocol.grid, (len(flat), 1))).correct
    by_outer = correct.reshape(len(outer), protocol.folds, -1)
    grids = [_mean_percentages(counts, folds) for counts, folds in zip(by_outer, inner, strict=True)]
    chosen = np.array([[protocol.grid[int(np.argmax(grid))]] for grid in grids])
    final = classifier.fit([classifier.final_fold(fold.train) for fold in outer], chosen)
    tests = [_percentage(final.predict(i, 0, fold.dev), labels[fold.dev]) for i, fold in enumerate(outer)]
    dev = round(np.mean([max(grid) for grid in grids]), 2)
    return Outcome(float(dev), float(round(np.mean(tests), 2)), None)


def _cross_validation(
    classifier: BatchedClassifier, labels: np.ndarray, train: np.ndarray, test: np.ndarray, protocol: Protocol
) -> Outcome:
    values, folds = protocol.grid, stratified_folds(labels, train, protocol.folds)
    grid = _mean_percentages(classifier.fit(folds, np.tile(values, (len(folds), 1))).correct, folds)
    final = classifier.fit([classifier.final_fold(train)], np.array([[values[int(np.argmax(grid))]]]))
    predicted = final.predict(0, 0, test)
    return Outcome(float(max(grid)), _percentage(predicted, labels[test]), predicted)


def _train_dev_test(
    classifier: BatchedClassifier, labels: np.ndarray, parts: Mapping[str, np.ndarray], protocol: Protocol
) -> Outcome:
    """SentEval refits with the chosen penalty; that repeats the grid's fit draw for draw, so it is reused."""
    fold = Fold(parts["train"], parts["dev"])
    fits = classifier.fit([fold], np.array([protocol.grid]))
    grid = [round(100 * (int(right) / len(fold.dev)), 2) for right in fits.correct[0]]
    predicted = fits.predict(0, int(np.argmax(grid)), parts["test"])
    return Outcome(max(grid), _percentage(predicted, labels[parts["test"]]), predicted)
