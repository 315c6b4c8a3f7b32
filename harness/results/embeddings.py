"""The vectors of one encoder on every evaluation text, kept so that any protocol can be computed again.

A folder contains meta.json, which names the encoder, and shards (harness/results/shards.py). Only a digest
of 16 bytes per text is kept in memory to find its row; vectors stay on disk, and a reader gets the rows it
asks for. A shard is named by its bytes and never changed, so writers need no lock: two at once write the same
files or different ones, and a killed one leaves complete shards from which the next continues.

Half precision halves the size; similarities are computed in float64 from it, which moves a correlation by
less than a thousandth of a point on the whole STS sets, by up to 0.015 on subsets of a few hundred pairs
(similarities kept in half precision would not be safe).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.disk.files import write_json
from harness.disk.outputs import LEAST_ROOM, check_addition
from harness.disk.records import read_object
from harness.errors import InputError
from harness.paths import STORE_RECORD
from harness.results.kept_shards import KeptShards
from harness.results.shards import DIGEST_BYTES, PRECISIONS, Shard, digests_of

FORMAT = 2
OWN_NAME = re.compile(r"[0-9a-f]{16}-[0-9a-f]{64}\.npy")
"""Names of files that stores write: no other file is ever removed."""
SHARD_TEXTS = 65_536
"""Texts of one shard: as many as an encoder tokenises and sorts together, so the cut changes no vector."""
WIDEST = 1024
"""Numbers of a vector of the widest encoder that the recipes have: an estimate before one is computed."""


class EmbeddingStore:
    """Vectors [U, d] of unique texts on disk; made by `open_or_create` to write, by `load` to read."""

    def __init__(
        self,
        folder: Path,
        shards: Sequence[Shard],
        *,
        prefix: str = "",
        precision: str = "float16",
        damaged: Sequence[Path] = (),
        kept: KeptShards | None = None,
    ) -> None:
        self.folder, self.precision = folder, precision
        self.damaged = tuple(damaged)  # shards that were dropped, when the store was opened or later
        self._kept = kept
        self._shards, self._prefix = list(shards), prefix

    @classmethod
    def open_or_create(
        cls, folder: Path, *, encoder: str, precision: str = "float16", kept: Path | None = None
    ) -> EmbeddingStore:
        """Returns the store of an encoder, named by all that determines its vectors, with what it has so far.

        kept: a folder where its shards outlive it, for another store of the same encoder and texts.
        Vectors of another encoder, precision or format are removed, and so are damaged shards; nothing else.
        Errors: InputError if the precision is not float16 or float32.
        """
        if precision not in PRECISIONS:
            raise InputError(f"precision {precision!r}: expected {' or '.join(PRECISIONS)}")
        meta = {"format": FORMAT, "encoder": encoder, "precision": precision}
        prefix = _prefix(meta)
        write_json(folder / STORE_RECORD, meta)  # before others are removed: theirs have other prefixes
        shards, damaged = [], []
        for path in sorted(folder.iterdir()):
            if path.name.startswith(prefix) and Shard(path).is_whole():
                shards.append(Shard(path))
            elif OWN_NAME.fullmatch(path.name):
                path.unlink(missing_ok=True)
                damaged += [path] if path.name.startswith(prefix) else []
        return cls(
            folder,
            shards,
            prefix=prefix,
            precision=precision,
            damaged=damaged,
            kept=KeptShards(kept) if kept else None,
        )

    @classmethod
    def load(cls, folder: Path) -> EmbeddingStore:
        """Returns the store of a folder, to read from.

        Errors: InputError if a file is missing, damaged or of a format that is not known.
        """
        meta = read_object(folder / STORE_RECORD, again="evaluate the model again")
        if meta.get("format") != FORMAT:
            raise InputError(
                f"{folder / STORE_RECORD}: not a store of format {FORMAT}; evaluate the model again"
            )
        shards = [Shard(path) for path in sorted(folder.glob(f"{_prefix(meta)}-*.npy"))]
        for shard in shards:
            if not shard.is_whole():
                raise InputError(
                    f"{shard.path}: damaged, expected the sha256 of its name; evaluate the model again"
                )
            shard.check()
        if len({shard.width for shard in shards}) > 1:
            raise InputError(f"{folder}: vectors of different widths; evaluate the model again")
        return cls(folder, shards)

    def missing(self, texts: Sequence[str]) -> list[str]:
        """Returns the texts that are not in the store, in their order."""
        shard, _ = self._find(texts)
        return [texts[int(index)] for index in np.flatnonzero(shard < 0)]

    def complete(self, texts: Sequence[str], encode: Callable[[Sequence[str]], np.ndarray]) -> int:
        """Returns how many of the unique texts had to be encoded; each shard is on disk before the next.

        Errors: InputError, before any text is encoded, if the disk has no room for the vectors.
        """
        missing = self.missing(texts)
        text_bytes = DIGEST_BYTES + WIDEST * np.dtype(self.precision).itemsize
        check_addition(self.folder, room=LEAST_ROOM + text_bytes * len(missing))
        encoded = 0
        for start in range(0, len(missing), SHARD_TEXTS):
            some = missing[start : start + SHARD_TEXTS]
            if not self._add_kept(some):
                self.add(some, encode(some))
                encoded += len(some)
                if self._kept:
                    self._kept.keep(self._shards[-1], self._prefix, some)
        return encoded

    def add(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        """Writes one shard of unique texts that are not in the store; none of the others is read.

        Errors: InputError if the vectors are not one finite row of the store's width for each text, a text
        occurs twice, or a number is out of the range of the precision.
        """
        width = self._no_rows().shape[1] if self._shards else vectors.shape[-1]
        if not vectors.size or vectors.shape != (len(texts), width):
            raise InputError(
                f"vectors of shape {list(vectors.shape)} for {len(texts)} texts: expected [{len(texts)}, "
                f"{'d' if not self._shards else width}]; check what the encoder returns"
            )
        self._shards.append(Shard.write(self.folder, self._prefix, texts, vectors, self.precision))

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Returns the stored vectors of `texts` [N, d], in the precision they are kept in.

        Errors: InputError at the first text that is not in the store.
        """
        shard, row = self._find(texts)
        absent = np.flatnonzero(shard < 0)
        if len(absent) or not self._shards:
            first = f", the first is {texts[absent[0]]!r}" if len(absent) else ""
            raise InputError(
                f"{len(absent)} of {len(texts)} texts are not in the store{first}; "
                "expected texts of the tasks and text form it was made with; evaluate with the model instead"
            )
        like = self._no_rows()
        found = np.empty((len(texts), like.shape[1]), dtype=like.dtype)
        for number in np.unique(shard):
            here = np.flatnonzero(shard == number)
            found[here] = self._shards[number].take(row[here])
        return found

    def _add_kept(self, texts: Sequence[str]) -> bool:
        """Returns whether the shard of these texts was kept from an earlier store, and adds it."""
        if self._kept is None:
            return False
        shard, damaged = self._kept.copy_to(self.folder, self._prefix, texts)
        self.damaged += tuple(damaged)
        self._shards += [shard] if shard else []
        return shard is not None

    def _no_rows(self) -> np.ndarray:
        """Returns [0, d] in the precision of the vectors."""
        return self._shards[0].take(np.zeros(0, dtype=np.int64))

    def _find(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Returns the number of the shard that has each text, -1 for none, and its row there; each [N]."""
        wanted = digests_of(texts)
        shard, row = np.full(len(texts), -1, dtype=np.int32), np.zeros(len(texts), dtype=np.int32)
        for number, candidate in enumerate(self._shards):
            left = np.flatnonzero(shard < 0)
            keys = candidate.digests
            nearest = np.minimum(np.searchsorted(keys, wanted[left]), len(keys) - 1)
            hit = keys[nearest] == wanted[left]
            shard[left[hit]], row[left[hit]] = number, nearest[hit]
        return shard, row


def _prefix(meta: dict[str, Any]) -> str:
    """Returns what the names of a store's shards start with; stores of two encoders share none."""
    return hashlib.sha256(json.dumps(meta, sort_keys=True).encode()).hexdigest()[:16]
