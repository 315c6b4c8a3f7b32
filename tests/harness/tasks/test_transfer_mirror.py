"""Real data: the batched solver gives the accuracies of the plain loop, digit for digit; sets run whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from harness.tasks.classifier import BatchedClassifier, classify, outer_fold_accuracies, stratified_folds
from harness.tasks.features import MatrixFeatures, difference_and_product
from harness.tasks.protocols import SENTEVAL, Protocol
from harness.tasks.registry import build_tasks
from harness.tasks.reranking import RerankingTask, bm25_scores
from harness.tasks.transfer import ClassificationTask
from harness.tasks.vectors import encode_unique
from tests.harness.tasks import plain_loop
from tests.harness.tasks.word_vectors import encode_words

Side = Callable[[], tuple[float, float]]
"""One whole run of one side: returns (dev, test) accuracy."""


@pytest.fixture(autouse=True)
def data_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTBENCH_DATA", str(tmp_path))


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
    x, y, train = task_rows(task)
    return outer_fold_sides(x, y, SENTEVAL) if train == len(y) else two_part_sides(x, y, train, SENTEVAL)


@pytest.mark.mirror
@pytest.mark.slow
@pytest.mark.parametrize("task", ["TREC", "MRPC", "CR"])
def test_accuracies_equal_those_of_the_plain_loop(task: str, mirror: Path) -> None:
    """TREC and MRPC whole, CR for its first outer fold; dev and test accuracy to the second decimal."""
    plain, batched = sides_of(task)
    assert plain() == batched()


@pytest.mark.mirror
def test_inference_sets_run_on_word_vectors(mirror: Path) -> None:
    """Above the majority share, below a perfect score; SNLI says that its training part is reduced."""
    settings = {"SICK-E": "senteval", "SNLI": "senteval/reduced-train"}
    for name, setting in settings.items():
        (task,) = build_tasks([name], text="senteval")
        score = task.evaluate(lambda texts: encode_words(texts, 64))[0]
        assert score.setting == setting
        assert 0.36 < score.value < 0.9
        assert score.n == {"SICK-E": 4927, "SNLI": 9824}[name]


@pytest.mark.mirror
def test_trecqa_orders_constant_vectors_word_vectors_and_bm25(mirror: Path) -> None:
    (task,) = build_tasks(["TRECQA"], text="raw")
    assert isinstance(task, RerankingTask)
    constant = task.evaluate(lambda texts: np.ones((len(texts), 4)))[0]
    words = task.evaluate(lambda texts: encode_words(texts, 256))[0]
    bm25 = bm25_scores(task)[0]
    assert (constant.metric, constant.n) == ("map", 68)
    assert constant.value < words.value < bm25.value < 1
