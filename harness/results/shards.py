"""Vectors of texts in files that are searched and read row by row; Legend: n texts, d width.

A text is found by a digest of 16 bytes; two of a million texts share one with a probability below 10^-26.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from tokenize import TokenError

import numpy as np
from numpy.lib.format import open_memmap

from harness.disk.files import sha256_of
from harness.errors import InputError

DIGEST_BYTES = 16
UNREADABLE = (
    *(ValueError, EOFError, KeyError, TypeError, OverflowError),
    *(RecursionError, MemoryError, SyntaxError, TokenError),
)
"""What numpy raises about a file that is not an array of ours."""
PRECISIONS = ("float16", "float32")
_ROWS = 4096
"""Rows that are rounded, checked and written together."""


class Shard:
    """One .npy file of records (digest, vector), sorted by digest; its name is PREFIX-SHA256 of its bytes.

    It is memory-mapped only while rows are read, so that none of its pages stays with the process.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def write(
        cls, folder: Path, prefix: str, texts: Collection[str], vectors: np.ndarray, precision: str
    ) -> Shard:
        """Returns the shard of unique texts and their vectors, rounded; it appears whole or not at all.

        Errors: InputError if a text occurs twice or a number is out of the range of the precision.
        """
        keys = digests_of(texts)
        order = np.argsort(keys, kind="stable")
        twice = int((keys[order[1:]] == keys[order[:-1]]).sum())
        if twice:
            raise InputError(f"{twice} texts occur twice, expected unique texts; name each once")
        record = np.dtype([("digest", keys.dtype), ("vector", precision, (vectors.shape[1],))])
        part = folder / f"{prefix}.part"
        records = open_memmap(part, mode="w+", dtype=record, shape=(len(keys),))
        for start in range(0, len(keys), _ROWS):
            some = order[start : start + _ROWS]
            records["digest"][start : start + _ROWS] = keys[some]
            records["vector"][start : start + _ROWS] = _rounded(vectors[some], precision)
        records.flush()
        del records
        return cls(part.rename(folder / f"{prefix}-{sha256_of(part)}.npy"))

    def check(self) -> None:
        """Raises InputError unless the file has the bytes that its name states.

        They must be records of a digest and a vector, sorted by digest.
        """
        again = "evaluate the model again"
        if self.path.stem.rpartition("-")[2] != sha256_of(self.path):
            raise InputError(f"{self.path}: damaged, expected the sha256 of its name; {again}")
        try:
            kind = self._records().dtype
            names, width = kind.names, kind["vector"].shape if kind.names else ()
            whole = names == ("digest", "vector") and kind["digest"] == f"S{DIGEST_BYTES}" and len(width) == 1
            numbers = whole and kind["vector"].base.name in PRECISIONS and self._records().ndim == 1
            is_ours = numbers and len(self.digests) and bool((self.digests[1:] > self.digests[:-1]).all())
        except UNREADABLE as error:
            reason = " ".join(str(error).split())[:80]
            raise InputError(f"{self.path}: not an array of vectors ({reason}); {again}") from None
        if not is_ours:
            raise InputError(f"{self.path}: not an array of texts' digests and vectors; {again}")

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self._records().dtype["vector"].shape[0])

    @cached_property
    def digests(self) -> np.ndarray:
        """The digests of the texts, sorted [n]; they stay in memory, the vectors do not."""
        return np.ascontiguousarray(self._records()["digest"])

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Returns the vectors of these rows, which are sorted by digest [len(rows), d]."""
        taken: np.ndarray = self._records()["vector"][rows]
        return taken

    def _records(self) -> np.ndarray:
        records: np.ndarray = np.load(self.path, mmap_mode="r", allow_pickle=False)
        return records


def digests_of(texts: Collection[str]) -> np.ndarray:
    """Returns 16 bytes for each text [n], read-only; equal texts have equal ones on every machine."""
    return _digests_of(tuple(texts))


@lru_cache(maxsize=4)  # many encoders are asked for the texts of one test set
def _digests_of(texts: tuple[str, ...]) -> np.ndarray:
    digests = (blake2b(text.encode(), digest_size=DIGEST_BYTES).digest() for text in texts)
    found = np.fromiter(digests, dtype=f"S{DIGEST_BYTES}", count=len(texts))
    found.flags.writeable = False
    return found


def _rounded(vectors: np.ndarray, precision: str) -> np.ndarray:
    with np.errstate(over="ignore"):
        rounded = vectors.astype(precision)
    if not np.isfinite(rounded).all():
        raise InputError(
            f"the vectors are not finite in {precision}, expected numbers within +-"
            f"{np.finfo(precision).max:g}; check the encoder, or keep float32"
        )
    return rounded
