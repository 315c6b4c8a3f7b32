"""Stored vectors of an encoder for every evaluation text, so any protocol can be computed later.

A store is an immutable safetensors file: `digests` [U, 16] identifies the texts in sorted order, and
`vectors` [U, d] has a row for each. Two of a million texts share a digest with a probability below 10^-26.
The header states the encoder and the file's checksum. Only digests are kept in memory; vectors stay on disk,
and a reader gets the rows it asks for.

A cached copy survives when the pipeline removes the outputs of a stage before it runs again. Its key is the
encoder with all texts that were encoded together, in order, because the last bits of a vector depend on its
batch.

Half precision halves the size; similarities are computed in float64 from it, which moves a correlation by
less than a thousandth of a point on the whole STS sets, by up to 0.015 on subsets of a few hundred pairs
(similarities kept in half precision would not be safe).
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import numpy as np

from harness.errors import InputError
from harness.io.files import atomic_path, discard
from harness.io.outputs import LEAST_ROOM, check_addition, room_of

FORMAT = "vectors of format 3"
METADATA = "__metadata__"
"""Key of the writer's entries in a safetensors header."""
ENDING = ".safetensors"
CHUNK = 65_536
"""Texts per call: as many as an encoder tokenises and sorts together, so chunks do not change vectors."""
WIDEST = 1024
"""Width of the widest encoder of the recipes: an estimate before the first vector is computed."""
ROOM = 4 << 30
"""Limit in bytes of all kept copies; the least recently used are removed first."""
DIGEST_BYTES = 16
HALF = np.dtype("<f2")
OPEN = "0" * 64
"""Placeholder of the checksum in the hashed bytes."""
LONGEST_HEADER = 1 << 16
AGAIN = "evaluate the model again"
_ROWS = 4096
"""Rows that are rounded, checked and written at once."""
_HASHED = 1 << 20
"""Bytes that are hashed at once."""


class EmbeddingStore:
    """Vectors [U, d] of unique texts on disk; made by `write`, read by `load`.

    The file is memory-mapped only while rows are read, so that its pages do not stay in the process.
    """

    def __init__(self, path: Path) -> None:
        header, self._start = _header(path)
        self.path, self.encoder = path, header[METADATA]["encoder"]
        self._shape = tuple(header["vectors"]["shape"])
        self._digests = np.fromfile(path, f"S{DIGEST_BYTES}", self._shape[0], offset=self._start)

    @classmethod
    def write(
        cls,
        path: Path,
        texts: Sequence[str],
        encode: Callable[[Sequence[str]], np.ndarray],
        *,
        encoder: str,
    ) -> EmbeddingStore:
        """Returns the store of unique texts, written to a file as they are encoded.

        encoder: identity of everything that determines its vectors. Errors: InputError if the disk has no
        room for the vectors or a text occurs twice, before any text is encoded; if the vectors are not one
        row of the same width for each text, finite in half precision.
        """
        check_addition(path.parent, room=LEAST_ROOM + (DIGEST_BYTES + WIDEST * HALF.itemsize) * len(texts))
        digests = digests_of(texts)
        order = np.argsort(digests, kind="stable")
        twice = int((digests[order[1:]] == digests[order[:-1]]).sum())
        if twice or not texts:
            raise InputError(f"{twice} texts occur twice" if twice else "no texts")
        row_of = np.empty(len(texts), dtype=np.int64)
        row_of[order] = np.arange(len(texts))
        for start in range(0, len(texts), CHUNK):
            part = texts[start : start + CHUNK]
            vectors = encode(part)
            if start == 0:
                _write_header(path, digests[order], vectors.shape[-1], encoder=encoder)
                store = cls(path)
            width = store._shape[1]
            if not vectors.size or vectors.shape != (len(part), width):
                raise InputError(
                    f"vectors of shape {list(vectors.shape)} for {len(part)} texts: expected [{len(part)}, "
                    f"{width if start else 'd'}]"
                )
            store._write_rows(row_of[start : start + CHUNK], vectors)
            del vectors  # before the next are computed
        _write_checksum(path)
        return store

    @classmethod
    def load(cls, path: Path) -> EmbeddingStore:
        """Returns the store in a file, to read from.

        Errors: InputError if the file is missing, damaged or of an unknown format.
        """
        if not path.is_file():
            raise InputError(f"{path}: no stored vectors; {AGAIN}")
        stated = _header(path)[0][METADATA]
        if stated.get("format") != FORMAT:
            raise InputError(f"{path}: not {FORMAT}; {AGAIN}")
        if stated.get("sha256") != _checksum(path):
            raise InputError(f"{path}: checksum mismatch; {AGAIN}")
        return cls(path)

    def missing(self, texts: Sequence[str]) -> list[str]:
        """Returns the texts that are not in the store, in their order."""
        return [texts[int(index)] for index in np.flatnonzero(self._rows(texts) < 0)]

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Returns the stored vectors of `texts` [N, d], in half precision.

        Errors: InputError at the first text that is not in the store.
        """
        rows = self._rows(texts)
        absent = np.flatnonzero(rows < 0)
        if len(absent):
            raise InputError(
                f"{len(absent)} of {len(texts)} texts are not in the store, the first is "
                f"{texts[absent[0]]!r}; evaluate with the model, because the store is of other tasks or "
                f"another text form"
            )
        return np.asarray(self._vectors("r")[rows])

    def _rows(self, texts: Sequence[str]) -> np.ndarray:
        """Returns the row of each text [N], -1 for missing texts."""
        wanted = digests_of(texts)
        nearest = np.minimum(np.searchsorted(self._digests, wanted), len(self._digests) - 1)
        return np.where(self._digests[nearest] == wanted, nearest, -1)

    def _vectors(self, mode: Literal["r", "r+"]) -> np.ndarray:
        return np.memmap(self.path, HALF, mode, self._start + self._digests.nbytes, self._shape)

    def _write_rows(self, rows: np.ndarray, vectors: np.ndarray) -> None:
        stored = self._vectors("r+")
        for start in range(0, len(rows), _ROWS):
            stored[rows[start : start + _ROWS]] = _rounded(vectors[start : start + _ROWS])


def _write_header(path: Path, digests: np.ndarray, width: int, *, encoder: str) -> None:
    """Writes a store of these sorted digests [U] whose vectors are zero and whose checksum is left open."""
    end = digests.nbytes + len(digests) * width * HALF.itemsize
    header = {
        METADATA: {"encoder": encoder, "format": FORMAT, "sha256": OPEN},
        "digests": {
            "dtype": "U8",
            "shape": [len(digests), DIGEST_BYTES],
            "data_offsets": [0, digests.nbytes],
        },
        "vectors": {"dtype": "F16", "shape": [len(digests), width], "data_offsets": [digests.nbytes, end]},
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # the tables start at a multiple of 8 bytes
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + digests.tobytes())
        file.truncate(8 + len(text) + end)


def _header(path: Path) -> tuple[dict[str, Any], int]:
    """Returns the header of a store, and the offset of its tables; InputError if it has none."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        text = file.read(min(length, LONGEST_HEADER))
    try:
        header = json.loads(text)
        if not all(isinstance(value, str) for value in header[METADATA].values()):
            raise TypeError(METADATA)
        return header, 8 + length
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(f"{path}: not {FORMAT}; {AGAIN}") from None


def _checksum(path: Path) -> str:
    """Returns the sha256 of a store's bytes, with OPEN in place of the stated checksum."""
    header, start = _header(path)
    with path.open("rb") as file:
        head = file.read(start).replace(header[METADATA]["sha256"].encode(), OPEN.encode())
        digest = hashlib.sha256(head)
        while block := file.read(_HASHED):
            digest.update(block)
    return digest.hexdigest()


def _write_checksum(path: Path) -> None:
    digest = _checksum(path).encode()
    with path.open("r+b") as file:
        offset = file.read(LONGEST_HEADER).index(OPEN.encode())
        file.seek(offset)
        file.write(digest)


def kept_name(encoder: str, texts: Sequence[str]) -> str:
    """Returns the file name for an encoder and the texts that it encoded together, in their order."""
    return hashlib.sha256(encoder.encode() + digests_of(texts).tobytes()).hexdigest()[:32] + ENDING


def read_kept(kept: Path, path: Path, texts: Sequence[str], *, encoder: str) -> EmbeddingStore | None:
    """Copies the cached store of an encoder and these texts to `path` and returns it, None if there is none.
    A damaged store, or another encoder's, is reported on standard error and removed.
    """
    if not kept.is_file():
        return None
    try:
        shutil.copyfile(kept, path)
        os.utime(kept)
        store = EmbeddingStore.load(path)
        if store.encoder != encoder or store.missing(texts):
            raise InputError(f"{kept}: other vectors")
        return store
    except OSError:  # evicted by another process
        return None
    except InputError:
        print(f"{kept}: damaged; its vectors were computed again", file=sys.stderr)
        discard(kept)
        return None


def keep(store: EmbeddingStore, kept: Path, *, room: int = ROOM) -> None:
    """Copies a store to `kept` if the disk and `room` have space for it.

    A failed copy is not an error: the vectors are in their store, and will be computed again later.
    """
    size = room_of(store.path)
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        if size > room or 2 * size >= shutil.disk_usage(kept.parent).free:
            return
        with atomic_path(kept) as part:
            shutil.copyfile(store.path, part)
        for path in sorted(kept.parent.iterdir(), key=lambda path: path.stat().st_mtime_ns, reverse=True):
            room -= room_of(path)
            if room < 0:
                discard(path)


def digests_of(texts: Collection[str]) -> np.ndarray:
    """Returns a 16-byte digest of each text [n], read-only, equal on every machine."""
    return _digests_of(tuple(texts))


@lru_cache(maxsize=4)  # many encoders encode the same texts
def _digests_of(texts: tuple[str, ...]) -> np.ndarray:
    digests = (blake2b(text.encode(), digest_size=DIGEST_BYTES).digest() for text in texts)
    array = np.fromiter(digests, dtype=f"S{DIGEST_BYTES}", count=len(texts))
    array.flags.writeable = False
    return array


def _rounded(vectors: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        rounded = vectors.astype(HALF)
    if not np.isfinite(rounded).all():
        raise InputError("the vectors are not finite in half precision")
    return rounded
