"""UNA as slow, obvious loops: the loss from its formula, and statistics and corruption one word at a time."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

from tests.support.vectors import cosine


def slow_loss(
    rows: Sequence[Tensor], partner: Sequence[int], columns: Sequence[Tensor], temperature: float
) -> Tensor:
    """The mean over rows u of -S(u, partner) + log of the sum of exp S(u, v) over v != u and all columns."""
    total = torch.zeros((), dtype=rows[0].dtype)
    for u, row in enumerate(rows):
        others = [torch.exp(cosine(row, rows[v]) / temperature) for v in range(len(rows)) if v != u]
        others += [torch.exp(cosine(row, column) / temperature) for column in columns]
        total = total - cosine(row, rows[partner[u]]) / temperature + torch.log(torch.stack(others).sum())
    return total / len(rows)


def slow_pair(anchors: Tensor, positives: Tensor, first: Tensor, second: Tensor, tau: float) -> Tensor:
    """Rows interleaved by sentence, anchor, positive, copy, copy; the partner of u is u XOR 1."""
    rows = [view[i] for i in range(len(anchors)) for view in (anchors, positives, first, second)]
    return slow_loss(rows, [u ^ 1 for u in range(len(rows))], [], tau)


def slow_column(anchors: Tensor, positives: Tensor, copies: Tensor, tau: float) -> Tensor:
    rows = [view[i] for i in range(len(anchors)) for view in (anchors, positives)]
    return slow_loss(rows, [u ^ 1 for u in range(len(rows))], list(copies), tau)


class SlowTerms:
    """Statistics of documents given as lists of words."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        self.documents = documents
        containing = Counter(word for document in documents for word in dict.fromkeys(document))
        self.idf = {word: math.log(len(documents) / count) for word, count in containing.items()}
        self.relevance = dict.fromkeys(self.idf, 0.0)
        for document in documents:
            for word in document:
                self.relevance[word] = max(self.relevance[word], self.score(word, document))
        self.ranked = sorted(self.idf, key=lambda word: -self.relevance[word])
        self.rank = {word: index for index, word in enumerate(self.ranked)}

    def score(self, word: str, document: Sequence[str]) -> float:
        return math.log(1 + document.count(word) / len(document)) * self.idf[word]

    def probabilities(self, document: Sequence[str], magnitude: float) -> list[float]:
        scores = [self.score(word, document) for word in document]
        above = [score - min(scores) for score in scores]
        mean = sum(above) / len(above)
        if mean == 0:
            return [0.0] * len(document)
        result = [min(magnitude * value / mean, 1.0) for value in above]
        if max(result) < 1:
            result[result.index(max(result))] = 1.0
        return result

    def window(self, word: str, radius: int) -> list[str]:
        index = self.rank[word]
        return self.ranked[max(0, index - radius) : index + radius + 1]

    def corrupt(
        self, documents: Sequence[Sequence[str]], rng: np.random.Generator, *, magnitude: float, radius: int
    ) -> list[list[str]]:
        """Draws one number for every word, then one for every word to replace, then one for every repair."""
        chosen = [
            [rng.random() < p for p in self.probabilities(document, magnitude)] for document in documents
        ]
        copies = [
            [
                self.pick(self.window(word, radius), rng) if flag else word
                for word, flag in zip(document, flags, strict=True)
            ]
            for document, flags in zip(documents, chosen, strict=True)
        ]
        for document, copy in zip(documents, copies, strict=True):
            if list(document) == copy:
                scores = [self.score(word, document) for word in document]
                top = scores.index(max(scores))
                copy[top] = self.pick(
                    [word for word in self.window(document[top], radius) if word != document[top]], rng
                )
        return copies

    def pick(self, words: Sequence[str], rng: np.random.Generator) -> str:
        sums = list(accumulate(self.relevance[word] for word in words))
        return words[bisect_right(sums, rng.random() * sums[-1])]
