"""Random numbers of one row of one view: the same whatever was augmented before."""

from __future__ import annotations

import numpy as np


def row_generator(seed: int, view: int, row: int) -> np.random.Generator:
    """Returns the generator of one row: keyed by the corpus' seed, the view's number and the row's id."""
    return np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, view, row]))
