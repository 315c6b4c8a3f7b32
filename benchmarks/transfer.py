"""Times the batched transfer classifiers against the plain loop, alternately, on equal work.

Run from the repository root:

    python -m benchmarks.transfer                      TREC, MRPC and CR; minutes a round
    python -m benchmarks.transfer --short              a small made-up set; seconds, needs no data
    python -m benchmarks.transfer --tasks TREC --rounds 5 --threads 2

Of a set with a train part alone the loop solves two of its ten outer folds and its time is scaled to ten, as
the output says; the batched side solves all ten. The texts come from the data root or the mirror, the vectors
from hashed words, so no model is needed. A round runs both sides once, in turns; the figure is the median over
rounds of the ratio of their times, beside its range. A speed counts only with equal accuracies: a difference
ends the run with exit code 1.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import sklearn
import torch

from harness.tasks.classifier import BatchedClassifier, classify, outer_fold_accuracies, stratified_folds
from harness.tasks.features import MatrixFeatures, difference_and_product
from harness.tasks.protocols import SENTEVAL, Protocol
from harness.tasks.transfer import TRANSFER_TASKS
from harness.tasks.vectors import encode_unique
from tests.harness.tasks import plain_loop
from tests.harness.tasks.word_vectors import encode_words

Accuracies = list[tuple[float, float]]
Side = Callable[[], Accuracies]
"""One run of one side: returns (dev, test) accuracy, of every outer fold where there are some."""

LOOP_FOLDS = 2
"""Outer folds that the loop solves."""


class Sides(NamedTuple):
    """The two sides; the loop's time counts `scale` times, for it solves a part of the work."""

    plain: Side
    batched: Side
    scale: float = 1.0


def task_rows(name: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Returns features, labels and the number of training rows of a task; other rows are its test part."""
    task = TRANSFER_TASKS[name]("senteval")
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


def two_part_sides(x: np.ndarray, y: np.ndarray, train: int, protocol: Protocol) -> Sides:
    """Both sides of a set with train and test parts."""
    classes = int(y.max()) + 1

    def plain() -> Accuracies:
        found = plain_loop.train_test(x[:train], y[:train], x[train:], y[train:], classes, protocol)
        return [found[:2]]

    def batched() -> Accuracies:
        parts = {"train": np.arange(train), "test": np.arange(train, len(y))}
        features = MatrixFeatures(torch.from_numpy(x))
        found = classify(features, y, parts, classes=classes, protocol=protocol)
        return [(found.dev, found.test)]

    return Sides(plain, batched)


def nested_sides(x: np.ndarray, y: np.ndarray, protocol: Protocol) -> Sides:
    """Both sides of a set with a train part alone: the loop solves LOOP_FOLDS of its outer folds."""
    outer = stratified_folds(y, np.arange(len(y)), protocol.folds)
    training = protocol.training
    assert training is not None

    def plain() -> Accuracies:
        return [plain_loop.outer_fold(x, y, fold.train, fold.dev, 2, protocol) for fold in outer[:LOOP_FOLDS]]

    def batched() -> Accuracies:
        classifier = BatchedClassifier(MatrixFeatures(torch.from_numpy(x)), y, 2, training)
        return list(zip(*outer_fold_accuracies(classifier, y, outer, protocol), strict=True))

    return Sides(plain, batched, scale=len(outer) / LOOP_FOLDS)


def sides_of(task: str) -> Sides:
    if task == "made-up":
        training = SENTEVAL.training
        assert training is not None
        return two_part_sides(*made_up_rows(), replace(SENTEVAL, training=replace(training, max_epochs=12)))
    x, y, train = task_rows(task)
    if train == len(y):
        return nested_sides(x, y, SENTEVAL)
    return two_part_sides(x, y, train, SENTEVAL)


def timed(side: Side) -> tuple[float, Accuracies]:
    start = time.perf_counter()
    accuracies = side()
    return time.perf_counter() - start, [(float(dev), float(test)) for dev, test in accuracies]


def compare(task: str, rounds: int) -> bool:
    """Prints the times, ratios and accuracies of a task; returns whether the accuracies agree.

    The side that starts alternates from round to round.
    """
    sides = sides_of(task)
    ratios, agree = [], True
    scaled = f" (x {sides.scale:g}: part of the folds)" if sides.scale != 1 else ""
    for number in range(rounds):
        order = ("plain", "batched") if number % 2 == 0 else ("batched", "plain")
        found = {name: timed(getattr(sides, name)) for name in order}
        (slow, expected), (fast, accuracies) = found["plain"], found["batched"]
        equal = expected == accuracies[: len(expected)]
        agree &= equal
        ratios.append(sides.scale * slow / fast)
        print(
            f"{task:8} round {number + 1}: plain {slow:7.2f} s{scaled}, batched {fast:6.2f} s, ratio "
            f"{ratios[-1]:.1f}, accuracies {expected} {'equal' if equal else f'BUT {accuracies}'}",
            flush=True,
        )
    print(f"{task:8} median ratio {statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})")
    return agree


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", nargs="+", default=["TREC", "MRPC", "CR"], choices=[*TRANSFER_TASKS])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--short", action="store_true", help="a small made-up set in place of the tasks")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(
        f"{platform.machine()} {platform.system()}, {torch.get_num_threads()} threads, "
        f"Python {platform.python_version()}, torch {torch.__version__}, numpy {np.__version__}, "
        f"scikit-learn {sklearn.__version__}"
    )
    tasks = ["made-up"] if arguments.short else arguments.tasks
    agreements = [compare(task, arguments.rounds) for task in tasks]
    return 0 if all(agreements) else 1


if __name__ == "__main__":
    sys.exit(main())
