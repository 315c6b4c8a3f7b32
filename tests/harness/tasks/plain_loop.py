"""SentEval's classifiers as a plain loop, one fit after another: the slow reference of the batched solver.

Written from the protocol: global seeds before every fit, torch's own Linear, loss and Adam, numpy's
global permutation.
"""

import copy

import numpy as np
import torch
from sklearn.model_selection import StratifiedKFold
from torch import nn

from harness.tasks.logistic import ClassifierProtocol


class PlainRegression:
    """One logistic regression; construction seeds numpy and torch."""

    def __init__(self, width: int, classes: int, penalty: float, protocol: ClassifierProtocol) -> None:
        np.random.seed(protocol.seed)  # noqa: NPY002  (the protocol draws from the global stream)
        torch.manual_seed(protocol.seed)
        self.protocol = protocol
        self.model = nn.Linear(width, classes)
        self.optimiser = torch.optim.Adam(
            self.model.parameters(), lr=protocol.learning_rate, weight_decay=penalty
        )
        self.loss = nn.CrossEntropyLoss()

    def fit(self, rows: np.ndarray, labels: np.ndarray, dev: tuple[np.ndarray, np.ndarray] | None) -> float:
        """Trains and returns the best held-out accuracy; without `dev` a random twentieth is held out."""
        if dev is None:
            order = np.random.permutation(len(rows))  # noqa: NPY002
            held = int(0.05 * len(rows))
            dev = rows[order[:held]], labels[order[:held]]
            rows, labels = rows[order[held:]], labels[order[held:]]
        x, y = torch.FloatTensor(rows), torch.LongTensor(labels)
        best, best_model, failures, epochs, stop = -1.0, None, 0, 0, False
        while not stop and epochs <= self.protocol.max_epochs:
            for _ in range(self.protocol.epoch_size):
                self._epoch(x, y)
            epochs += self.protocol.epoch_size
            accuracy = self.score(*dev)
            if accuracy > best:
                best, best_model = accuracy, copy.deepcopy(self.model)
            else:
                stop = failures >= self.protocol.tenacity
                failures += 1
        assert best_model is not None
        self.model = best_model
        return best

    def _epoch(self, x: torch.Tensor, y: torch.Tensor) -> None:
        order = np.random.permutation(len(x))  # noqa: NPY002
        for start in range(0, len(x), self.protocol.batch_size):
            index = torch.LongTensor(order[start : start + self.protocol.batch_size])
            loss = self.loss(self.model(x.index_select(0, index)), y.index_select(0, index))
            loss.item()  # SentEval collects the value of every step
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()

    def predict(self, rows: np.ndarray) -> np.ndarray:
        x, size = torch.FloatTensor(rows), self.protocol.batch_size
        with torch.no_grad():
            parts = [self.model(x[i : i + size]).max(1)[1] for i in range(0, len(x), size)]
        return torch.cat(parts).numpy()

    def score(self, rows: np.ndarray, labels: np.ndarray) -> float:
        return int((self.predict(rows) == labels).sum()) / len(rows)


def best_of_folds(
    x: np.ndarray, y: np.ndarray, classes: int, protocol: ClassifierProtocol
) -> tuple[float, float]:
    """Returns the best mean accuracy over stratified folds, in percent and rounded, and its penalty."""
    scores = []
    for penalty in protocol.grid:
        accuracies = []
        for train, held in splitter(protocol).split(x, y):
            model = PlainRegression(x.shape[1], classes, penalty, protocol)
            accuracies.append(model.fit(x[train], y[train], (x[held], y[held])))
        scores.append(round(100 * np.mean(accuracies), 2))
    return max(scores), protocol.grid[int(np.argmax(scores))]


def splitter(protocol: ClassifierProtocol) -> StratifiedKFold:
    return StratifiedKFold(n_splits=protocol.folds, shuffle=True, random_state=1111)


def train_test(
    x: np.ndarray,
    y: np.ndarray,
    test_x: np.ndarray,
    test_y: np.ndarray,
    classes: int,
    protocol: ClassifierProtocol,
) -> tuple[float, float, np.ndarray]:
    """Returns (dev, test) accuracies and test predictions of a set with train and test parts."""
    dev, penalty = best_of_folds(x, y, classes, protocol)
    model = PlainRegression(x.shape[1], classes, penalty, protocol)
    model.fit(x, y, None)
    return dev, round(100 * model.score(test_x, test_y), 2), model.predict(test_x)


def nested(x: np.ndarray, y: np.ndarray, classes: int, protocol: ClassifierProtocol) -> tuple[float, float]:
    """Returns (dev, test) accuracies of a set with a train part alone."""
    actual = [
        train_test(x[train], y[train], x[held], y[held], classes, protocol)
        for train, held in splitter(protocol).split(x, y)
    ]
    dev, test, _ = zip(*actual, strict=True)
    return round(np.mean(dev), 2), round(np.mean(test), 2)


def train_dev_test(
    parts: dict[str, tuple[np.ndarray, np.ndarray]], classes: int, protocol: ClassifierProtocol
) -> tuple[float, float]:
    """Returns (dev, test) accuracies of a set with three parts; refits with the chosen penalty."""
    x, y = parts["train"]
    scores = []
    for penalty in protocol.grid:
        model = PlainRegression(x.shape[1], classes, penalty, protocol)
        model.fit(x, y, parts["dev"])
        scores.append(round(100 * model.score(*parts["dev"]), 2))
    model = PlainRegression(x.shape[1], classes, protocol.grid[int(np.argmax(scores))], protocol)
    model.fit(x, y, parts["dev"])
    return max(scores), round(100 * model.score(*parts["test"]), 2)
