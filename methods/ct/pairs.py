"""Which sentences meet in contrastive tension: groups of one positive pair and k random ones."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from methods.core.errors import InputError

NegativePairs = Literal["two-random", "anchored", "in-batch"]
"""A random pair is two other sentences, or the positive's sentence and another; or there are none drawn."""


class Pairs(NamedTuple):
    """Pairs by places in a list of sentences, each [n]; `same` is 1 where both places hold the positive."""

    first: np.ndarray
    second: np.ndarray
    same: np.ndarray


def group_size(kind: NegativePairs, negatives: int) -> int:
    """Returns how many sentences one positive and its k random pairs take: 1 + 2k, or 1 + k if anchored."""
    return 1 + negatives * (2 if kind == "two-random" else 1)


def pair_up(count: int, *, kind: NegativePairs, negatives: int) -> Pairs:
    """Returns the pairs of `count` sentences, group after group, the positive pair of a group first.

    Places of a group g of sentences: the positive p = g, then `two-random` the firsts u_1 .. u_k and the
    seconds v_1 .. v_k, or `anchored` only the v, each with p. Sentences that fill no group are left out.
    Source: the released code; anchored as the paper's figure is described.
    Errors: InputError if there is not one whole group.
    """
    size = group_size(kind, negatives)
    if count < size:
        raise InputError(
            f"{count} sentences in a batch, expected at least {size}: one positive and {negatives} random "
            f"pairs ({kind}); set `batch_size` to a multiple of {size}"
        )
    starts = size * np.arange(count // size)[:, None]  # [groups, 1]
    others = np.arange(1, negatives + 1)
    seconds = others + (negatives if kind == "two-random" else 0)
    firsts = others if kind == "two-random" else np.zeros_like(others)
    first, second = (starts + np.concatenate([[0], places]) for places in (firsts, seconds))
    same = np.zeros_like(first)
    same[:, 0] = 1
    return Pairs(first.ravel(), second.ravel(), same.ravel())
