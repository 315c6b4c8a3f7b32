"""The batched transfer classifiers against the plain loop on equal work: TREC, MRPC, a fold of the others.

The texts come from the data root or the mirror, the vectors from hashed words, so no model is needed; `short`
takes a made-up set and no data. A speed counts only with equal accuracies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from benchmarks.measurement import Disagreement, Result, alternate, summarised
from harness.data.tiers import mirror_folder
from harness.tasks.classifier import BatchedClassifier, classify, outer_fold_accuracies, stratified_folds
from harness.tasks.features import MatrixFeatures, difference_and_product
from harness.tasks.protocols import SENTEVAL, Protocol
from harness.tasks.registry import build_tasks
from harness.tasks.transfer import ClassificationTask
from harness.tasks.vectors import encode_unique
from tests.harness.tasks import plain_loop
from tests.harness.tasks.word_vectors import encode_words

TARGETS = {"TREC": 11.0, "MRPC": 11.0, "CR": 25.0, "MR": 25.0, "SUBJ": 25.0, "MPQA": 25.0}
"""Least ratio of the loop's time to ours; the last four are tasks of nested folds."""
ONE_ROUND = ("MR", "SUBJ", "MPQA")
"""A fold of these takes the loop minutes, so they are measured once."""
LOOP = "loop as in SentEval"

Side = Callable[[], tuple[float, float]]
"""One whole run of one side: returns (dev, test) accuracy."""


def task_rows(name: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Returns features, labels and the number of training rows of a task; other rows are its test part."""
    (task,) = build_tasks([name], text="senteval")
    assert isinstance(task, ClassificationTask)
    encoded = encode_unique(encode_words, task.texts(), name)
    examples = [texts for part in task.parts.values() for texts in part.texts]
    sides = [torch.from_numpy(encoded.matrix[encoded.rows(side)]) for side in zip(*examples, strict=True)]
    features = sides[0] if len(sides) == 1 else difference_and_product(*sides)
    labels = np.concatenate([part.labels for part in task.parts.values()])
    return features.numpy(), labels, len(task.parts["train"].labels)


def made_up_rows() -> tuple[np.ndarray, np.ndarray, int]:
    """Returns 600 training and 200 test rows of two overlapping classes."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 800)
    return (labels[:, None] * 0.2 + rng.standard_normal((800, 96))).astype(np.float32), labels, 600


def two_part_sides(x: np.ndarray, y: np.ndarray, train: int, protocol: Protocol) -> tuple[Side, Side]:
    classes = int(y.max()) + 1

    def plain() -> tuple[float, float]:
        return plain_loop.train_test(x[:train], y[:train], x[train:], y[train:], classes, protocol)[:2]

    def batched() -> tuple[float, float]:
        parts = {"train": np.arange(train), "test": np.arange(train, len(y))}
        features = MatrixFeatures(torch.from_numpy(x))
        return classify(features, y, parts, classes=classes, protocol=protocol)[:2]

    return plain, batched


def outer_fold_sides(x: np.ndarray, y: np.ndarray, protocol: Protocol) -> tuple[Side, Side]:
    """The first outer fold of the nested scheme; a whole run solves all outer folds together."""
    fold = stratified_folds(y, np.arange(len(y)), protocol.folds)[0]
    training = protocol.training
    assert training is not None

    def plain() -> tuple[float, float]:
        return plain_loop.outer_fold(x, y, fold.train, fold.dev, 2, protocol)

    def batched() -> tuple[float, float]:
        classifier = BatchedClassifier(MatrixFeatures(torch.from_numpy(x)), y, 2, training)
        (dev,), (test,) = outer_fold_accuracies(classifier, y, [fold], protocol)
        return dev, test

    return plain, batched


def sides_of(task: str) -> tuple[Side, Side]:
    if task == "made-up":
        training = SENTEVAL.training
        assert training is not None
        return two_part_sides(*made_up_rows(), replace(SENTEVAL, training=replace(training, max_epochs=12)))
    x, y, train = task_rows(task)
    if train == len(y):
        return outer_fold_sides(x, y, SENTEVAL)
    return two_part_sides(x, y, train, SENTEVAL)


def measure(rounds: int, short: bool) -> list[Result]:
    """Returns each task's time on our side and in the plain loop.

    Without a mirror, as with `short`, the set is made up.

    Errors: Disagreement if an accuracy differs by a digit.
    """
    if short or mirror_folder() is None:
        return [compared("made-up", rounds)]
    return [compared(task, 1 if task in ONE_ROUND else rounds) for task in TARGETS]


def compared(task: str, rounds: int) -> Result:
    """Runs both sides of a task, compares their accuracies and returns the times."""
    plain, batched = sides_of(task)
    accuracies: list[tuple[float, float]] = []
    times, rates = alternate(
        {"batched": lambda: accuracies.append(batched()), LOOP: lambda: accuracies.append(plain())},
        rounds=rounds,
    )
    found = sorted({(float(dev), float(test)) for dev, test in accuracies})
    if len(found) > 1:
        raise Disagreement(f"{task}: the two sides reach {found}, expected equal accuracies")
    ((dev, test),) = found
    return summarised(
        f"transfer classifiers, {task}",
        times,
        rates,
        targets={LOOP: TARGETS[task]} if task in TARGETS else {},
        unit="s",
        agreement=f"accuracies equal to the last digit: dev {dev:.2f}, test {test:.2f}",
    )
