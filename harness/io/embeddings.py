"""Vectors of one encoder for every evaluation text, stored so that any protocol can be computed later.

A folder contains meta.json, which names the encoder, and shards, in which a 16-byte digest identifies a text;
two of a million texts share one with a probability below 10^-26. Only digests are kept in memory; vectors
stay on disk, and a reader gets the rows it asks for. A store is written once and never changed.

A copy outlives the outputs of stages, which the pipeline removes before the stage runs again. Its key is the
encoder with all texts that were encoded together, in their order: in another batch the last bits of a vector
differ.

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
import tempfile
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap

from harness.errors import InputError
from harness.io.files import discard, sha256_of, write_json
from harness.io.outputs import LEAST_ROOM, check_addition, room_of
from harness.io.records import read_object
from harness.paths import STORE_RECORD

FORMAT = 2
SHARD_TEXTS = 65_536
"""Texts of one shard: as many as an encoder tokenises and sorts together, so that sharding changes no
vector."""
WIDEST = 1024
"""Width of the widest encoder of the recipes: an estimate before the first vector is computed."""
ROOM = 4 << 30
"""Limit in bytes of all kept copies; the least recently used are removed first."""
DIGEST_BYTES = 16
UNREADABLE = (
    *(ValueError, EOFError, KeyError, TypeError, OverflowError),
    *(RecursionError, MemoryError, SyntaxError, TokenError),
)
"""Errors of numpy about a file that is not an array."""
PRECISIONS = ("float16", "float32")
_ROWS = 4096
"""Rows that are rounded, checked and written at a time."""
AGAIN = "evaluate the model again"


class EmbeddingStore:
    """Vectors [U, d] of unique texts on disk; made by `write`, read by `load`.

    A shard is one .npy file of records (digest, vector), sorted by digest; its name is PREFIX-SHA256 of its
    bytes. It is memory-mapped only while rows are read, so that its pages do not stay in the process.
    """

    def __init__(self, folder: Path, shards: Sequence[Path]) -> None:
        self.folder, self._shards = folder, shards
        self._digests = [np.ascontiguousarray(_records(shard)["digest"]) for shard in shards]

    @classmethod
    def write(
        cls,
        folder: Path,
        texts: Sequence[str],
        encode: Callable[[Sequence[str]], np.ndarray],
        *,
        encoder: str,
        precision: str = "float16",
    ) -> EmbeddingStore:
        """Returns the store of unique texts, written into a new folder shard by shard.

        encoder: identity of everything that determines its vectors. Errors: InputError if the disk has no
        room for the vectors, before any text is encoded; if they are not one finite row of the same width for
        each text; if a text occurs twice, or a number is out of the range of the precision.
        """
        text_bytes = DIGEST_BYTES + WIDEST * np.dtype(precision).itemsize
        check_addition(folder, room=LEAST_ROOM + text_bytes * len(texts))
        meta = {"format": FORMAT, "encoder": encoder, "precision": precision}
        write_json(folder / STORE_RECORD, meta)
        shards: list[Path] = []
        for start in range(0, len(texts), SHARD_TEXTS):
            some = texts[start : start + SHARD_TEXTS]
            vectors = encode(some)
            width = _width(shards[0]) if shards else vectors.shape[-1]
            if not vectors.size or vectors.shape != (len(some), width):
                raise InputError(
                    f"vectors of shape {list(vectors.shape)} for {len(some)} texts: expected [{len(some)}, "
                    f"{width if shards else 'd'}]; check what the encoder returns"
                )
            shards.append(_write_shard(folder, _prefix(meta), some, vectors, precision))
            del vectors  # before the next are computed
        return cls(folder, shards)

    @classmethod
    def load(cls, folder: Path) -> EmbeddingStore:
        """Returns the store of a folder, to read from.

        Errors: InputError if a file is missing, damaged or of an unknown format.
        """
        meta = read_object(folder / STORE_RECORD, again=AGAIN)
        if meta.get("format") != FORMAT:
            raise InputError(f"{folder / STORE_RECORD}: not a store of format {FORMAT}; {AGAIN}")
        shards = sorted(folder.glob(f"{_prefix(meta)}-*.npy"))
        for shard in shards:
            _check_shard(shard)
        if len({_width(shard) for shard in shards}) > 1:
            raise InputError(f"{folder}: vectors of different widths; {AGAIN}")
        return cls(folder, shards)

    def missing(self, texts: Sequence[str]) -> list[str]:
        """Returns the texts that are not in the store, in their order."""
        shard, _ = self._find(texts)
        return [texts[int(index)] for index in np.flatnonzero(shard < 0)]

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Returns the stored vectors of `texts` [N, d], in the stored precision.

        Errors: InputError at the first text that is not in the store.
        """
        shard, row = self._find(texts)
        absent = np.flatnonzero(shard < 0)
        if len(absent) or not self._shards:
            first = f", the first is {texts[absent[0]]!r}" if len(absent) else ""
            raise InputError(
                f"{len(absent)} of {len(texts)} texts are not in the store{first}; it has the texts of "
                f"other tasks or another text form, so evaluate with the model"
            )
        like = _records(self._shards[0])["vector"]
        found = np.empty((len(texts), like.shape[1]), dtype=like.dtype)
        for number in np.unique(shard):
            here = np.flatnonzero(shard == number)
            found[here] = _records(self._shards[number])["vector"][row[here]]
        return found

    def _find(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Returns for each text the number of its shard (-1: missing) and its row in the shard; each [N]."""
        wanted = digests_of(texts)
        shard, row = np.full(len(texts), -1, dtype=np.int32), np.zeros(len(texts), dtype=np.int32)
        for number, keys in enumerate(self._digests):
            left = np.flatnonzero(shard < 0)
            nearest = np.minimum(np.searchsorted(keys, wanted[left]), len(keys) - 1)
            hit = keys[nearest] == wanted[left]
            shard[left[hit]], row[left[hit]] = number, nearest[hit]
        return shard, row


def _write_shard(
    folder: Path, prefix: str, texts: Collection[str], vectors: np.ndarray, precision: str
) -> Path:
    """Writes and returns the shard of unique texts and their rounded vectors, atomically."""
    keys = digests_of(texts)
    order = np.argsort(keys, kind="stable")
    twice = int((keys[order[1:]] == keys[order[:-1]]).sum())
    if twice:
        raise InputError(f"{twice} texts occur twice, expected unique texts")
    record = np.dtype([("digest", keys.dtype), ("vector", precision, (vectors.shape[1],))])
    part = folder / f"{prefix}.part"
    records = open_memmap(part, mode="w+", dtype=record, shape=(len(keys),))
    for start in range(0, len(keys), _ROWS):
        some = order[start : start + _ROWS]
        records["digest"][start : start + _ROWS] = keys[some]
        records["vector"][start : start + _ROWS] = _rounded(vectors[some], precision)
    records.flush()
    del records
    return part.rename(folder / f"{prefix}-{sha256_of(part)}.npy")


def _check_shard(path: Path) -> None:
    """Raises InputError unless a shard matches the hash in its name and has sorted records."""
    if path.stem.rpartition("-")[2] != sha256_of(path):
        raise InputError(f"{path}: checksum mismatch; {AGAIN}")
    try:
        records = _records(path)
        kind = records.dtype
        whole = kind.names == ("digest", "vector") and kind["digest"] == f"S{DIGEST_BYTES}"
        whole = whole and len(kind["vector"].shape) == 1 and kind["vector"].base.name in PRECISIONS
        whole = whole and records.ndim == 1 and len(records) > 0
        is_ours = whole and bool((records["digest"][1:] > records["digest"][:-1]).all())
    except UNREADABLE as error:
        reason = " ".join(str(error).split())[:80]
        raise InputError(f"{path}: not an array of vectors ({reason}); {AGAIN}") from None
    if not is_ours:
        raise InputError(f"{path}: not an array of texts' digests and vectors; {AGAIN}")


def _records(shard: Path) -> np.ndarray:
    records: np.ndarray = np.load(shard, mmap_mode="r", allow_pickle=False)
    return records


def _width(shard: Path) -> int:
    return int(_records(shard).dtype["vector"].shape[0])


def kept_name(encoder: str, texts: Sequence[str]) -> str:
    """Returns 32 digits for an encoder and the texts that it encoded together, in their order."""
    return hashlib.sha256(encoder.encode() + digests_of(texts).tobytes()).hexdigest()[:32]


def read_kept(kept: Path, folder: Path, texts: Sequence[str]) -> EmbeddingStore | None:
    """Copies the cached store of these texts to `folder` and returns it, None if there is none. A damaged
    store is reported on standard error and removed.
    """
    if not kept.is_dir():
        return None
    try:
        if EmbeddingStore.load(kept).missing(texts):
            raise InputError(f"{kept}: lacks vectors")
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        os.utime(kept)
        return EmbeddingStore.load(folder)
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
    size = room_of(store.folder)
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        if size > room or 2 * size >= shutil.disk_usage(kept.parent).free:
            return
        with tempfile.TemporaryDirectory(dir=kept.parent) as part:
            shutil.copytree(store.folder, Path(part, kept.name))
            os.replace(Path(part, kept.name), kept)
        for path in sorted(kept.parent.iterdir(), key=lambda path: path.stat().st_mtime_ns, reverse=True):
            room -= room_of(path)
            if room < 0:
                discard(path)


def _prefix(meta: dict[str, Any]) -> str:
    """Returns the prefix of a store's shard names, unique to its encoder."""
    return hashlib.sha256(json.dumps(meta, sort_keys=True).encode()).hexdigest()[:16]


def digests_of(texts: Collection[str]) -> np.ndarray:
    """Returns 16 bytes for each text [n], read-only; equal texts have equal ones on every machine."""
    return _digests_of(tuple(texts))


@lru_cache(maxsize=4)  # many encoders encode the texts of one test set
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
