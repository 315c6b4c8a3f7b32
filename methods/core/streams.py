"""Random streams, each keyed by (seed, stream, step): no generator's state is ever saved.

A run that stops at any step thus goes on to the same numbers, and evaluation cannot disturb training.
"""

import hashlib

import numpy as np

ORDER, COLLATE, STEP, INITIALISE, SUBSET = "order", "collate", "step", "initialise", "subset"


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


def subset(seed: int, rows: int, share: float) -> np.ndarray:
    """Returns the sorted places of a random share of the rows; a smaller share is part of a larger one."""
    chosen = generator(seed, SUBSET).permutation(rows)[: max(1, round(rows * share))]
    return np.sort(chosen)


def _number(stream: str) -> int:
    return int.from_bytes(hashlib.sha256(stream.encode()).digest()[:4], "big")
