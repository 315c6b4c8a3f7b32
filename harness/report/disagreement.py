"""Sentence pairs on which a system disagrees with the gold scores, or two systems with each other.

Cosines and gold scores have no common unit, and a rank correlation asks for ranks alone. So everything here
is a rank: the share of the set's other pairs that appear below, ties in the middle, from 0 to 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.stats import rankdata

OPEN = ("CC-", "CC0", "PDDL", "MIT", "Apache")
"""How the licences start under which a page may print a sentence."""


@dataclass(frozen=True)
class PairSet:
    """The pairs of one test set with what each system makes of them.

    subsets: the subset of each pair, subset after subset; words: mean length of the two sentences; gold:
    human scores; texts: the sentences, in the text form that was encoded. cosines: by system, the mean over
    its runs.
    """

    task: str
    licence: str
    subsets: tuple[str, ...]
    gold: tuple[float, ...]
    words: tuple[float, ...]
    texts: tuple[tuple[str, str], ...]
    cosines: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def shows_texts(self) -> bool:
        """Whether the licence of the set allows its sentences on a page."""
        return self.licence.startswith(OPEN)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """What each pair is called: its subset and its number there, from 1."""
        counts = Counter(self.subsets)
        return tuple(f"{name} {number}" for name in counts for number in range(1, counts[name] + 1))

    @cached_property
    def gold_ranks(self) -> np.ndarray:
        """The ranks [N] of the gold scores, in [0, 1]."""
        return ranks(self.gold)

    @cached_property
    def ranks(self) -> dict[str, np.ndarray]:
        """The ranks [N] of every system's cosines, in [0, 1]."""
        return {system: ranks(values) for system, values in self.cosines.items()}


def ranks(values: Sequence[float]) -> np.ndarray:
    """Returns the rank of each value [N] in [0, 1]: 0 for the lowest, 1 for the highest, ties between."""
    return np.asarray((rankdata(values) - 1) / max(1, len(values) - 1))


def largest(first: np.ndarray, second: np.ndarray, count: int) -> list[tuple[int, float]]:
    """Returns the pairs on which two rankings [N] differ most, the largest difference first: position in the
    set, and by how much the first ranks it above the second, in [-1, 1].
    """
    difference = first - second
    order = np.argsort(-np.abs(difference), kind="stable")[:count]
    return [(int(index), float(difference[index])) for index in order]
