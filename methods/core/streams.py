"""Random streams keyed by (seed, stream, step), so no generator state is saved.

A run that stops at any step resumes with the same numbers, and evaluation does not affect training.
"""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

ORDER, COLLATE, STEP, INITIALISE, SUBSET = "order", "collate", "step", "initialise", "subset"

One = TypeVar("One")


def generator(seed: int, stream: str, step: int = 0) -> np.random.Generator:
    """Returns the NumPy generator of one stream at one step."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, _number(stream), step])))


def torch_seed(seed: int, stream: str, step: int = 0) -> int:
    """Returns the 63-bit seed that `torch.manual_seed` gets for one stream at one step."""
    words = np.random.SeedSequence([seed, _number(stream), step]).generate_state(2)
    return (int(words[0]) << 32 | int(words[1])) & (2**63 - 1)


def row_order(seed: int, epoch: int, rows: int) -> np.ndarray:
    """Returns the order in which an epoch visits its rows; [rows]."""
    return generator(seed, ORDER, epoch).permutation(rows)


def subset(rows: Sequence[One], share: float, *, seed: int) -> list[One]:
    """Returns a random share of the rows, in order; smaller shares are subsets of larger ones."""
    if share == 1.0:
        return list(rows)
    chosen = generator(seed, SUBSET).permutation(len(rows))[: max(1, round(len(rows) * share))]
    return [rows[index] for index in np.sort(chosen)]


def _number(stream: str) -> int:
    return int.from_bytes(hashlib.sha256(stream.encode()).digest()[:4], "big")
