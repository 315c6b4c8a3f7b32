"""Classification of texts or pairs: a linear classifier on frozen vectors, in SentEval's schemes.

SentEval sorts the examples of a part by length before it draws folds and batches, so the order is part of the
protocol. The texts of the files are already tokenised.

The two inference sets differ in SentEval and here: SICK-E uses [|u-v|; u*v] and searches the penalty on dev,
SNLI uses [u; v; u*v; |u-v|] with one tiny penalty and checks dev after each of at most 16 epochs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.data.classification import READERS, SNLI_TRAIN_ROWS, Examples, Parts
from harness.data.download import folder_of
from harness.errors import InputError
from harness.tasks.evaluation import encode_unique
from harness.tasks.interface import Encode, Score
from harness.tasks.text_forms import in_form

if TYPE_CHECKING:
    from harness.tasks.classifier import Outcome
    from harness.tasks.logistic import ClassifierProtocol

SETTING = "senteval"


@dataclass(frozen=True)
class DataSet:
    """Settings of one classification task. `combine`: features of a pair, or of a text (`single_text`).

    snli: as in SentEval for SNLI, examples are sorted and the penalty is not searched. published_rows: of the
    training part; the setting of the scores states if a file has fewer.
    """

    name: str
    read: Callable[[Path], Parts]
    combine: str = "single_text"
    with_f1: bool = False
    snli: bool = False
    published_rows: int = 0


_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "MRPC": {"combine": "difference_and_product", "with_f1": True},
    "SICK-E": {"combine": "difference_and_product"},
    "SNLI": {"combine": "both_product_and_difference", "snli": True, "published_rows": SNLI_TRAIN_ROWS},
}
"""Settings of the data sets that classify pairs."""
DATA_SETS = {name: DataSet(name, read, **_SETTINGS.get(name, {})) for name, read in READERS.items()}


class ClassificationTask:
    """One data set under one classifier protocol, by default SentEval's for it."""

    def __init__(
        self,
        dataset: DataSet,
        text: str,
        source: str,
        *,
        protocol: ClassifierProtocol | None = None,
        folder: Path | None = None,
    ) -> None:
        self.dataset, self.text, self.protocol, self.folder = dataset, text, protocol, folder
        self.name, self.source = dataset.name, source

    @cached_property
    def parts(self) -> Parts:
        """The examples of every part, read once, in the order and text form of the protocol."""
        folder = self.folder or folder_of(self.source)
        return {part: self._ordered(examples) for part, examples in self.dataset.read(folder).items()}

    def setting(self) -> str:
        """Returns the setting of its scores."""
        whole = len(self.parts["train"].labels) >= self.dataset.published_rows
        return SETTING if whole else f"{SETTING}/reduced-train"

    def texts(self) -> Iterable[str]:
        for examples in self.parts.values():
            for texts in examples.texts:
                yield from texts

    def evaluate(self, encode: Encode) -> list[Score]:
        import torch

        from harness.tasks import logistic
        from harness.tasks.classifier import classify

        encoded = encode_unique(encode, self.texts(), self.name)
        labels = np.concatenate([np.asarray(part.labels, dtype=np.int64) for part in self.parts.values()])
        ends = np.cumsum([len(part.labels) for part in self.parts.values()])
        rows = dict(zip(self.parts, np.split(np.arange(ends[-1]), ends[:-1]), strict=True))
        examples = [texts for part in self.parts.values() for texts in part.texts]
        sides = [torch.from_numpy(encoded.rows(side)) for side in zip(*examples, strict=True)]
        combine = getattr(logistic, self.dataset.combine)
        features = logistic.Features(torch.from_numpy(encoded.matrix), sides, combine)
        protocol = self.protocol or (logistic.WITHOUT_SEARCH if self.dataset.snli else logistic.SENTEVAL)
        classes = len(self.parts["train"].classes)
        try:
            outcome = classify(features, labels, rows, classes=classes, protocol=protocol)
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from error
        return self._scores(outcome, labels, rows)

    def _ordered(self, examples: Examples) -> Examples:
        """Returns the examples sorted by the word counts of their texts and by label; SNLI by the words of
        the second text, the words of the first, and the label's name.
        """

        def key(position: int) -> tuple[object, ...]:
            lengths = tuple(len(text.split()) for text in examples.texts[position])
            label = examples.labels[position]
            if self.dataset.snli:
                return lengths[1], lengths[0], examples.classes[label]
            return *lengths, label

        order = sorted(range(len(examples.texts)), key=key)
        texts = [tuple(in_form(text, self.text) or "." for text in examples.texts[i]) for i in order]
        return Examples(texts, [examples.labels[i] for i in order], examples.classes)

    def _scores(self, outcome: Outcome, labels: np.ndarray, rows: Mapping[str, np.ndarray]) -> list[Score]:
        tested, checked = (rows.get(part, rows["train"]) for part in ("test", "dev"))
        setting = self.setting()
        scores = [
            Score(self.name, "accuracy", setting, outcome.test / 100, len(tested)),
            Score(self.name, "dev-accuracy", setting, outcome.dev / 100, len(checked)),
        ]
        if self.dataset.with_f1 and outcome.predicted is not None:
            f1 = round(100 * f1_of_class_one(outcome.predicted, labels[tested]), 2)
            scores.append(Score(self.name, "f1", setting, f1 / 100, len(tested)))
        return scores


def f1_of_class_one(predicted: np.ndarray, gold: np.ndarray) -> float:
    """Returns the harmonic mean of precision and recall of class 1; 0 if it is neither predicted nor gold."""
    agreed = int(((predicted == 1) & (gold == 1)).sum())
    named = int((predicted == 1).sum() + (gold == 1).sum())
    return 2 * agreed / named if named else 0.0
