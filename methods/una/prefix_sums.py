"""Prefix sums of weights, and a table that finds most draws without a search; V terms, K buckets, n draws."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

BUCKETS = 8
"""Buckets per term: a bucket takes 4 bytes, and at most one draw in so many needs the search."""

SEVERAL = -1
"""Entry of a bucket in which more than one term begins or ends."""


class PrefixSums(NamedTuple):
    """The sums of the first 0, 1, ..., V weights, divided into K buckets of equal width.

    Shapes: sums [V + 1], guide [K + 1] int32: the one term that a bucket is in, or SEVERAL.
    """

    sums: np.ndarray
    guide: np.ndarray

    def locate(self, targets: np.ndarray) -> np.ndarray:
        """Returns the term that each target falls on: the last i with sums[i] <= target; [n] int32.

        Facts: a search in `sums`, exactly, as one monotone step finds the bucket of a target and of a sum.
        """
        found = self.guide.take(bucket_of(targets, self.sums[-1], len(self.guide) - 1))
        rest = np.flatnonzero(found == SEVERAL)
        found[rest] = self.sums.searchsorted(targets.take(rest), side="right") - 1
        return found


def prefix_sums(weights: np.ndarray) -> PrefixSums:
    """Returns the sums of weights [V] that are at least 0 and not all 0."""
    sums = np.zeros(len(weights) + 1)
    np.cumsum(weights, out=sums[1:])
    size = BUCKETS * len(weights)
    buckets = bucket_of(sums, sums[-1], size)
    # the last sum that is not behind a bucket, for all buckets up to that of the next sum
    guide = np.repeat(np.arange(len(sums), dtype=np.int32), np.diff(buckets, append=size + 1))
    guide[buckets] = SEVERAL
    return PrefixSums(sums, guide)


def bucket_of(targets: np.ndarray, total: float, size: int) -> np.ndarray:
    """Returns the number of the bucket that a target is in, `size` for the total itself."""
    return (targets * (size / total)).astype(np.intp)
