"""Many logistic regressions on shared features, trained together as one batched problem.

Each regression is trained as in SentEval: mini-batches of permuted rows, Adam with the L2 term in the
gradient, a check on held-out rows every few epochs, and a count of failed checks. Every such fit starts from
the same seed, so its initial weights depend only on the shape and its row order only on the number of rows.
Fits of one size can therefore share every draw and advance in one batched product.

Shapes: N rows, D features and a constant 1 that carries the bias, F folds, L penalties per fold, C classes, B
rows per batch, U unique vectors of width d.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.optim.adam import adam

BATCH_BYTES = 5 << 20
"""Bytes of the rows gathered for one step: about the size of a CPU's caches."""

DENSE_BYTES = 1 << 30
"""Features up to this size are computed once; larger ones are computed for each batch."""
PREDICTED_ROWS = 512

Combine = Callable[..., Tensor]
"""Maps the vectors [n, d] of a text, or of the two texts of a pair, to features [n, D]."""


def single_text(u: Tensor) -> Tensor:
    """Returns u, the features of a single text."""
    return u


def difference_and_product(u: Tensor, v: Tensor) -> Tensor:
    """Returns [|u - v|; u * v], SentEval's features of MRPC and SICK; symmetric in u and v."""
    return torch.cat([(u - v).abs(), u * v], dim=1)


def both_product_and_difference(u: Tensor, v: Tensor) -> Tensor:
    """Returns [u; v; u * v; |u - v|], SentEval's features of SNLI."""
    return torch.cat([u, v, u * v, (u - v).abs()], dim=1)


class Features:
    """N rows of features from vectors [U, d]; `sides` are the indices [N] of the vectors of each example."""

    def __init__(self, vectors: Tensor, sides: Sequence[Tensor], combine: Combine = single_text) -> None:
        self.vectors, self.sides, self.combine = vectors, sides, combine
        self.dense: Tensor | None = None
        self.width = self.take(sides[0][:0]).shape[1]  # D + 1
        if 4 * len(sides[0]) * self.width <= DENSE_BYTES:
            self.dense = self.take(torch.arange(len(sides[0]), device=sides[0].device))

    def take(self, rows: Tensor) -> Tensor:
        """Returns the features of `rows` [n] and a constant 1 as [n, D + 1], fp32."""
        if self.dense is not None:
            return self.dense.index_select(0, rows)
        features = self.combine(*(self.vectors.index_select(0, side[rows]) for side in self.sides))
        return torch.cat([features, features.new_ones(len(features), 1)], dim=1)


@dataclass(frozen=True)
class ClassifierProtocol:
    """Settings of cross-validation and training by Adam: SentEval's full defaults."""

    folds: int = 10
    grid: tuple[float, ...] = (1e-5, 1e-4, 1e-3, 1e-2)  # L2 penalties
    learning_rate: float = 1e-3
    batch_size: int = 64
    tenacity: int = 5  # a fit ends at the next failed check after this many failures
    epoch_size: int = 4  # passes over the rows between two checks
    max_epochs: int = 200  # last pass at which a block of passes may start
    seed: int = 1111


SENTEVAL = ClassifierProtocol()
WITHOUT_SEARCH = ClassifierProtocol(grid=(1e-9,), epoch_size=1, max_epochs=15)
"""SentEval's change for SNLI: one tiny penalty, a check after every epoch."""


class Fold(NamedTuple):
    """Rows to train on and rows to check on; `shuffled` rows were permuted from the seed to choose them."""

    train: np.ndarray
    dev: np.ndarray
    shuffled: int = 0


class Fits(NamedTuple):
    """The best weights of F x L regressions, and the number of held-out rows each classified correctly."""

    features: Features
    weights: Tensor  # [F, L, C, D + 1]
    correct: np.ndarray  # [F, L]

    def predict(self, fold: int, penalty: int, rows: np.ndarray) -> np.ndarray:
        """Returns the predictions of regression (fold, penalty) for `rows`."""
        chosen = self.weights[fold, penalty]
        return _predicted(self.features, chosen[None], torch.as_tensor(rows[None]), len(chosen))[0, 0].numpy()


def fit(
    features: Features,
    labels: np.ndarray,
    folds: Sequence[Fold],
    penalties: np.ndarray,
    *,
    classes: int,
    protocol: ClassifierProtocol,
) -> Fits:
    """Returns F x L regressions: fold f trained with each of the L2 penalties `penalties[f]` [F, L].

    Facts: equal to F x L separate loops up to the rounding of fp32 products. Memory: besides the features,
    the weights of all fits and one gathered batch of at most BATCH_BYTES (one fold's batch if that is more).
    """
    shape = (len(folds), penalties.shape[1], classes, features.width)
    weights = torch.empty(shape)
    correct = np.empty(shape[:2], dtype=np.int64)
    targets = torch.nn.functional.one_hot(torch.as_tensor(labels), classes).float()
    for members in _groups_of_one_size(folds, features, protocol.batch_size):
        group = _Group(features, targets, [folds[i] for i in members], penalties[members], protocol)
        group.solve()
        weights[torch.as_tensor(members)] = group.best.view(len(members), *shape[1:])
        correct[members] = group.best_correct.numpy()
    return Fits(features, weights, correct)


def initial_weights(width: int, classes: int, seed: int) -> Tensor:
    """Returns the weights of torch's new Linear(width - 1, classes) after `manual_seed(seed)`: [C, D + 1]."""
    generator = torch.Generator().manual_seed(seed)
    weight = torch.empty(classes, width - 1)
    torch.nn.init.kaiming_uniform_(weight, a=math.sqrt(5), generator=generator)
    bound = 1 / math.sqrt(width - 1)
    bias = torch.nn.init.uniform_(torch.empty(classes, 1), -bound, bound, generator=generator)
    return torch.cat([weight, bias], dim=1)


def _groups_of_one_size(folds: Sequence[Fold], features: Features, batch_size: int) -> Iterator[list[int]]:
    """Yields indices of folds that share every random draw, with at most BATCH_BYTES of batches in total."""
    at_once = max(1, BATCH_BYTES // (4 * batch_size * features.width))
    by_size: dict[tuple[int, int, int], list[int]] = {}
    for position, fold in enumerate(folds):
        by_size.setdefault((len(fold.train), len(fold.dev), fold.shuffled), []).append(position)
    for members in by_size.values():
        for start in range(0, len(members), at_once):
            yield members[start : start + at_once]


class _Group:
    """Folds of one size in training; folds whose regressions have all stopped leave the problem."""

    def __init__(
        self,
        features: Features,
        targets: Tensor,
        folds: Sequence[Fold],
        penalties: np.ndarray,
        protocol: ClassifierProtocol,
    ) -> None:
        self.features, self.targets, self.protocol = features, targets, protocol
        self.classes = targets.shape[1]
        self.order = np.random.RandomState(protocol.seed)  # SentEval's stream: numpy's legacy generator
        if folds[0].shuffled:
            self.order.permutation(folds[0].shuffled)
        self.train = torch.as_tensor(np.stack([fold.train for fold in folds]))  # [F, n]
        self.dev = torch.as_tensor(np.stack([fold.dev for fold in folds]))
        count, per_fold = penalties.shape
        start = initial_weights(features.width, self.classes, protocol.seed)
        self.weights = start.repeat(count, per_fold, 1)  # [F, L * C, D + 1]
        self.first_moment = torch.zeros_like(self.weights)
        self.second_moment = torch.zeros_like(self.weights)
        self.step = torch.zeros(())
        decay = torch.as_tensor(penalties, dtype=torch.float32)
        self.decay = decay.repeat_interleave(self.classes, dim=1)[..., None]  # [F, L * C, 1]
        self.folds = torch.arange(count)  # folds still in training
        self.best = self.weights.clone()
        self.best_correct = torch.full((count, per_fold), -1)
        self.failed = torch.zeros((count, per_fold), dtype=torch.long)
        self.running = torch.ones((count, per_fold), dtype=torch.bool)

    @torch.no_grad()
    def solve(self) -> None:
        """Trains until every regression has stopped."""
        epochs = 0
        while len(self.folds) and epochs <= self.protocol.max_epochs:
            for _ in range(self.protocol.epoch_size):
                self._epoch()
            epochs += self.protocol.epoch_size
            self._check()
            self._drop_finished()

    def _epoch(self) -> None:
        rows = self.train[:, torch.as_tensor(self.order.permutation(self.train.shape[1]))]
        for start in range(0, rows.shape[1], self.protocol.batch_size):
            self._update(rows[:, start : start + self.protocol.batch_size])

    def _update(self, rows: Tensor) -> None:
        """Takes one step of Adam on the mean cross-entropy over `rows` [F, B] in every regression."""
        count, size = rows.shape
        batch = self.features.take(rows.reshape(-1)).view(count, size, -1)
        target = self.targets.index_select(0, rows.reshape(-1)).view(count, 1, size, self.classes)
        logits = torch.bmm(self.weights, batch.transpose(1, 2))  # [F, L * C, B]
        # Classes before rows: torch's softmax is several times slower over a last axis this short.
        probability = logits.view(count, -1, self.classes, size).softmax(dim=2)
        error = probability.sub_(target.transpose(2, 3)).div_(size).view_as(logits)
        gradient = torch.bmm(error, batch).addcmul_(self.weights, self.decay)
        adam(
            [self.weights],
            [gradient],
            [self.first_moment],
            [self.second_moment],
            [],
            [self.step],
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self.protocol.learning_rate,
            weight_decay=0.0,  # already in the gradient, because each regression has its own
            eps=1e-8,
            maximize=False,
        )

    def _check(self) -> None:
        """Scores the held-out rows, keeps improved weights and stops a regression at its last failure.

        A failure is any check that does not improve; an improvement does not reset the count.
        """
        predicted = _predicted(self.features, self.weights, self.dev, self.classes)  # [F, L, dev]
        gold = self.targets[self.dev].argmax(dim=2)[:, None]
        correct = (predicted == gold).sum(dim=2)
        active = self.folds
        running, best, failed = self.running[active], self.best_correct[active], self.failed[active]
        improved = running & (correct > best)
        keep = improved.repeat_interleave(self.classes, dim=1)[..., None]
        self.best[active] = torch.where(keep, self.weights, self.best[active])
        self.best_correct[active] = torch.where(improved, correct, best)
        self.running[active] = running & (improved | (failed < self.protocol.tenacity))
        self.failed[active] = failed + (running & ~improved)

    def _drop_finished(self) -> None:
        staying = self.running[self.folds].any(dim=1)
        if bool(staying.all()):
            return
        for name in ("folds", "train", "dev", "weights", "first_moment", "second_moment", "decay"):
            setattr(self, name, getattr(self, name)[staying])


@torch.no_grad()
def _predicted(features: Features, weights: Tensor, rows: Tensor, classes: int) -> Tensor:
    """Returns the predictions of the regressions `weights` [F, L * C, D + 1] for `rows` [F, n]: [F, L, n]."""
    count = len(rows)
    parts = []
    for start in range(0, rows.shape[1], PREDICTED_ROWS):
        part = rows[:, start : start + PREDICTED_ROWS]
        batch = features.take(part.reshape(-1)).view(count, part.shape[1], -1)
        logits = torch.bmm(weights, batch.transpose(1, 2))  # [F, L * C, n]
        parts.append(logits.view(count, -1, classes, part.shape[1]).argmax(dim=2))
    return torch.cat(parts, dim=2)
