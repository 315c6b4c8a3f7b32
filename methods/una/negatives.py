"""The corrupted copies of a batch as texts, from statistics that are counted once before step 0.

The statistics are a pure function of the corpus: like the tokenised corpus they are counted again where a run
continues, and are no state of the method (their size is not known before the corpus is).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np

from methods.core.corpus import positions_by_index
from methods.core.types import Row
from methods.una.config import UNAConfig
from methods.una.corruption import Positions, corrupt, take
from methods.una.sampling import draw_any
from methods.una.terms import counted_sentences, rank_terms, read_documents
from methods.una.words import matched


class Negatives:
    """Writes a corrupted copy of any row of the corpus it was built on."""

    def __init__(self, rows: Sequence[Row], config: UNAConfig) -> None:
        self.config = config
        further = (
            chain.from_iterable(row.augmentations for row in rows)
            if config.statistics == "corpus-and-paraphrases"
            else ()
        )
        documents = read_documents(chain((row.text for row in rows), further))
        self.ranking = rank_terms(documents)
        self.sentences = counted_sentences(documents, self.ranking, count=len(rows), unit=config.unit)
        self.documents = positions_by_index(rows)

    def write(self, rows: Sequence[Row], rng: np.random.Generator) -> tuple[list[str], dict[str, float]]:
        """Returns the copies of a batch [B], a pure function of the rows and the generator.

        Next to them what was done, as shares of the words or of the sentences.
        """
        config = self.config
        sentences = take(self.sentences, self.documents[[row.index for row in rows]])
        corruption = corrupt(
            sentences,
            self.ranking,
            rng,
            by=config.select,
            magnitude=config.magnitude,
            radius=config.radius if config.replace == "window" else None,
            repair=config.unchanged == "repair",
        )
        texts = self._texts(rows, sentences, corruption.ranks)
        single = self._single_terms(rows, texts, rng)
        shares = {
            "replaced": float(corruption.replaced.mean()) if len(sentences.ranks) else 0.0,
            "repaired": float(corruption.repaired.mean()),
            "single_term": single / len(rows),
        }
        return texts, shares

    def _texts(self, rows: Sequence[Row], sentences: Positions, ranks: np.ndarray) -> list[str]:
        terms, bounds = self.ranking.terms, list(pairwise(sentences.ends.tolist()))
        after = [terms[rank] for rank in ranks.tolist()]
        if self.config.style == "lower":
            # in lower case with one blank between words, as the released code writes every negative
            return [" ".join(after[start:end]) for start, end in bounds]
        before = [terms[rank] for rank in sentences.ranks.tolist()]
        return [
            matched(row.text, before[start:end], after[start:end])
            for row, (start, end) in zip(rows, bounds, strict=True)
        ]

    def _single_terms(self, rows: Sequence[Row], texts: list[str], rng: np.random.Generator) -> int:
        """Exchanges copies that need it for one drawn term; returns how many.

        A sentence without words needs one; with `unchanged: single-term` so does a copy equal to its row.
        """
        unchanged = self.config.unchanged == "single-term"
        short = [
            index
            for index, (row, text) in enumerate(zip(rows, texts, strict=True))
            if not text.strip() or (unchanged and text == row.text)
        ]
        if short:
            for index, rank in zip(short, draw_any(self.ranking, len(short), rng), strict=True):
                texts[index] = self.ranking.terms[rank]
        return len(short)
