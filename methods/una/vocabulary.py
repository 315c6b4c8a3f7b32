"""The terms of a corpus in as many bytes as they have letters; V terms, t words of B sentences."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

BLANK = b" "
ENCODING, UNPAIRED = "utf-8", "surrogatepass"
"""How terms lie in memory; half a surrogate pair, which a text may have, is kept as it is."""

CHUNK = 10_000
"""Terms that are put in another order at once; bounds the temporary arrays."""


@dataclass(frozen=True)
class Vocabulary:
    """Terms by number, each with a blank behind it, so that a sentence is a copy of bytes.

    Shapes: letters [bytes] uint8, ends [V + 1] int64 with 0 first.
    """

    letters: np.ndarray
    ends: np.ndarray

    def __len__(self) -> int:
        return len(self.ends) - 1

    def word(self, number: int) -> str:
        """Returns one term."""
        start, end = self.ends[number : number + 2].tolist()
        return _decoded(self.letters[start : end - 1].tobytes())

    def words(self, numbers: np.ndarray) -> list[str]:
        """Returns the terms of some numbers, in their order; no term has a blank inside."""
        (text,) = self.texts(numbers, np.array([0, len(numbers)]))
        return text.split(" ") if len(numbers) else []

    def texts(self, numbers: np.ndarray, ends: np.ndarray) -> list[str]:
        """Returns sentences as words with one blank between them; numbers [t], ends [B + 1] with 0 first."""
        letters, written = self._copied(numbers)
        bounds = pairwise(written.take(ends).tolist())
        return [_decoded(letters[start : max(start, end - 1)]) for start, end in bounds]

    def ordered(self, order: np.ndarray) -> Vocabulary:
        """Returns the terms in another order [V]."""
        letters = [self._copied(order[start : start + CHUNK])[0] for start in range(0, len(order), CHUNK)]
        return _vocabulary(b"".join(letters), np.diff(self.ends)[order])

    def _copied(self, numbers: np.ndarray) -> tuple[bytes, np.ndarray]:
        """Returns terms with their blanks, one after the other, and where each ends; [t], [t + 1]."""
        starts = self.ends.take(numbers)
        lengths = self.ends.take(numbers + 1) - starts
        written = np.zeros(len(numbers) + 1, dtype=np.int64)
        lengths.cumsum(out=written[1:])
        found = (starts - written[:-1]).repeat(lengths)
        found += np.arange(len(found))
        return self.letters.take(found).tobytes(), written


def vocabulary(terms: Iterable[str]) -> Vocabulary:
    """Returns the terms numbered in their order; no term has a blank inside."""
    letters, lengths = bytearray(), array("i")
    for term in terms:
        coded = term.encode(ENCODING, UNPAIRED) + BLANK
        letters += coded
        lengths.append(len(coded))
    return _vocabulary(bytes(letters), np.asarray(lengths))


def _vocabulary(letters: bytes, lengths: np.ndarray) -> Vocabulary:
    ends = np.zeros(len(lengths) + 1, dtype=np.int64)
    lengths.cumsum(out=ends[1:])
    return Vocabulary(np.frombuffer(letters, dtype=np.uint8), ends)


def _decoded(letters: bytes) -> str:
    return letters.decode(ENCODING, UNPAIRED)
