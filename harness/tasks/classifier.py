"""Accuracy of a linear classifier on frozen vectors, under SentEval's three schemes.

The parts of a data set determine the scheme, as in SentEval:

    train              nested cross-validation: an outer fold's penalty is chosen by inner folds
    train, test        the penalty is chosen by cross-validation on train, the score is on test
    train, dev, test   the penalty is chosen on dev, the score is on test

Accuracies are percentages rounded to two decimals *before* they are averaged over outer folds and before the
best penalty is taken, as SentEval does: a tie after rounding goes to the smaller index.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from harness.errors import InputError
from harness.tasks.logistic import ClassifierProtocol, Features, Fold, fit

HELD_OUT = 0.05
"""Share of the training rows on which the final fit is checked."""


class Outcome(NamedTuple):
    """Accuracies in percent with two decimals; `predicted` are the classes of the test rows, if any."""

    dev: float
    test: float
    predicted: np.ndarray | None


def classify(
    features: Features,
    labels: np.ndarray,
    parts: Mapping[str, np.ndarray],
    *,
    classes: int,
    protocol: ClassifierProtocol,
) -> Outcome:
    """Returns the accuracies of `protocol` on rows of `features` with their class numbers `labels`.

    `parts` has the row numbers of `train`, and optionally of `test` and `dev`, which determine the scheme.
    Errors: InputError if a class has too few rows for every fold to see it, or is missing from `train`.
    """
    counts = np.bincount(labels[parts["train"]], minlength=classes)
    if not counts.all():
        raise InputError(
            f"no training row has class {counts.argmin()}; expected rows of all {classes} classes"
        )
    fitted = partial(fit, features, labels, classes=classes, protocol=protocol)
    if "dev" in parts:
        # SentEval refits with the chosen penalty, which repeats the grid's fit exactly, so that fit is reused
        fits = fitted([Fold(parts["train"], parts["dev"])], np.array([protocol.grid]))
        grid = [round(100 * (int(right) / len(parts["dev"])), 2) for right in fits.correct[0]]
        predicted = fits.predict(0, int(np.argmax(grid)), parts["test"])
        return Outcome(max(grid), _percentage(predicted, labels[parts["test"]]), predicted)
    whole = "test" in parts
    outer = [Fold(parts["train"], parts["test"])] if whole else _folds(labels, parts["train"], protocol)
    inner = [_folds(labels, fold.train, protocol) for fold in outer]
    flat = [fold for folds in inner for fold in folds]
    correct = fitted(flat, np.tile(protocol.grid, (len(flat), 1))).correct
    by_outer = correct.reshape(len(outer), protocol.folds, -1)
    grids = [_mean_percentages(counts, folds) for counts, folds in zip(by_outer, inner, strict=True)]
    chosen = np.array([[protocol.grid[int(np.argmax(grid))]] for grid in grids])
    final = fitted([_final_fold(fold.train, protocol) for fold in outer], chosen)
    classed = [final.predict(i, 0, fold.dev) for i, fold in enumerate(outer)]
    tests = [_percentage(assigned, labels[fold.dev]) for assigned, fold in zip(classed, outer, strict=True)]
    dev, test = (float(round(np.mean(values), 2)) for values in (list(map(max, grids)), tests))
    return Outcome(dev, test, classed[0] if whole else None)


def _folds(labels: np.ndarray, rows: np.ndarray, protocol: ClassifierProtocol) -> list[Fold]:
    """Returns stratified folds of `rows`, shuffled with SentEval's seed."""
    from sklearn.model_selection import StratifiedKFold

    present, sizes = np.unique(labels[rows], return_counts=True)
    if sizes.min() < protocol.folds:
        raise InputError(
            f"class {present[sizes.argmin()]} has {sizes.min()} rows, so it is missing in a fold; "
            f"{protocol.folds} folds need at least {protocol.folds} rows of every class"
        )
    folds = StratifiedKFold(n_splits=protocol.folds, shuffle=True, random_state=protocol.seed)
    return [Fold(rows[train], rows[held]) for train, held in folds.split(rows, labels[rows])]


def _final_fold(train: np.ndarray, protocol: ClassifierProtocol) -> Fold:
    """Returns `train` with a random share HELD_OUT as held-out rows, drawn from the fit's stream."""
    permutation = np.random.RandomState(protocol.seed).permutation(len(train))
    held_out = int(HELD_OUT * len(train))
    if not held_out:
        raise InputError(
            f"{len(train)} training rows are too few: a twentieth is held out, so at least 20 are needed"
        )
    return Fold(train[permutation[held_out:]], train[permutation[:held_out]], shuffled=len(train))


def _mean_percentages(correct: np.ndarray, folds: Sequence[Fold]) -> list[float]:
    """Returns for each value the mean accuracy over folds, in percent and rounded; `correct` is [F, L]."""
    sizes = np.array([len(fold.dev) for fold in folds])
    return [float(round(100 * np.mean(column / sizes), 2)) for column in correct.T]


def _percentage(predicted: np.ndarray, gold: np.ndarray) -> float:
    return round(100 * (int((predicted == gold).sum()) / len(gold)), 2)
