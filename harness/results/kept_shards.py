"""Shards of vectors that outlive the outputs of stages, found by everything that determines them.

The pipeline removes a stage's outputs before the stage runs again, and with them vectors that did not
change. A kept shard is found by its encoder and by all texts that were encoded with it, in their order:
with other texts a text is in another batch, where its vector differs in its last bits. So a store filled
from kept shards has the same bytes as a computed one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from harness.disk.files import write_by_hash
from harness.results.shards import Shard, digests_of

ROOM = 4 << 30
"""Limit in bytes of all kept shards; the least recently used are removed first."""


class KeptShards:
    """A folder of files KEY-SHA256.npy: key of what the vectors are made of, hash of the bytes.

    Processes need no lock: each file appears whole, is never changed, and may be removed at any time.
    """

    def __init__(self, folder: Path, *, room: int = ROOM) -> None:
        self.folder = folder
        self._room = room

    def copy_to(self, store: Path, prefix: str, texts: Sequence[str]) -> tuple[Shard | None, list[Path]]:
        """Returns the shard of these texts as a file PREFIX-SHA256.npy of `store`, None if none is kept.

        prefix: names the encoder, its precision and the format. Second come damaged files, which are removed.
        """
        damaged: list[Path] = []
        for path in sorted(self.folder.glob(f"{_key(prefix, texts)}-*.npy")):
            with suppress(FileNotFoundError):  # another process needed its room
                if Shard(path).is_whole():
                    copy = write_by_hash(store, f"{prefix}-{{}}.npy", partial(shutil.copyfile, path))
                    os.utime(path)
                    return Shard(copy), damaged
                path.unlink()
                damaged.append(path)
        return None, damaged

    def keep(self, shard: Shard, prefix: str, texts: Sequence[str]) -> None:
        """Copies a shard of these texts here if the disk and `room` have space for it.

        A copy that cannot be written is no error: the vectors are in their store, and are made again later.
        """
        size = shard.path.stat().st_size
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            if size <= self._room and 2 * size < shutil.disk_usage(self.folder).free:
                name = f"{_key(prefix, texts)}-{{}}.npy"
                write_by_hash(self.folder, name, partial(shutil.copyfile, shard.path))
                self._make_room()

    def _make_room(self) -> None:
        """Removes the least recently used files until the rest fits into the room."""
        found = []
        for path in self.folder.glob("*.npy"):
            with suppress(FileNotFoundError):
                about = path.stat()
                found.append((about.st_mtime_ns, about.st_size, path))
        left = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if left <= self._room:
                break
            path.unlink(missing_ok=True)
            left -= size


def _key(prefix: str, texts: Sequence[str]) -> str:
    """Returns 32 digits for an encoder and the texts that it encoded together, in their order."""
    return hashlib.sha256(prefix.encode() + digests_of(texts).tobytes()).hexdigest()[:32]
