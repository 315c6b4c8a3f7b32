"""The word pieces of many texts: made once, and kept on disk under what they are made of.

A kept file is named by a hash of the texts, of the tokenizer with its truncation, and of the version of the
library that runs it. So no name has to be right, and a file is never out of date. It is memory-mapped: runs
at the same time share it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tokenizers
from filelock import FileLock

from methods.core.encoder import SentenceEncoder
from methods.core.files import FILES, atomic_path, changed_file, read_whole, sha256_of, write_record

CHUNK = 10_000


class Pieces(NamedTuple):
    """The word pieces of N texts, in a row: flat int32 [pieces], ends int64 [N + 1] with 0 first."""

    flat: np.ndarray
    ends: np.ndarray

    def ids(self, position: int) -> np.ndarray:
        """Returns the word pieces of one text, special tokens included; int32 [length]."""
        return self.flat[self.ends[position] : self.ends[position + 1]]


def pieces_of(encoder: SentenceEncoder, texts: Sequence[str], max_length: int) -> Pieces:
    """Returns the word pieces of each text, truncated to `max_length`.

    They are read from `encoder.piece_folder` where it names a folder that has them, and written there where
    it has not; a damaged file is replaced. Two processes that want the same make them once.
    """
    if encoder.piece_folder is None:
        return _made(encoder, texts, max_length)
    place = encoder.piece_folder / f"{_key(encoder, texts, max_length)}.npy"
    place.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(place.with_suffix(".lock")):
        record = read_whole(place.with_suffix(".json"))
        if record is None or changed_file(place.parent, record[FILES]):
            _write(place, _made(encoder, texts, max_length))
    return _read(place, len(texts))


def _made(encoder: SentenceEncoder, texts: Sequence[str], max_length: int) -> Pieces:
    pieces: list[np.ndarray] = []
    lengths: list[int] = []
    for start in range(0, len(texts), CHUNK):
        ids = encoder.token_ids(texts[start : start + CHUNK], max_length=max_length)
        lengths.extend(len(row) for row in ids)
        pieces.append(np.fromiter((piece for row in ids for piece in row), dtype=np.int32))
    flat = np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.int32)
    return Pieces(flat, _ends(np.array(lengths, dtype=np.int64)))


def _key(encoder: SentenceEncoder, texts: Sequence[str], max_length: int) -> str:
    """Returns the hash of all that decides the pieces."""
    digest = hashlib.sha256(f"{tokenizers.__version__}\n{encoder.tokenizer_state(max_length)}\n".encode())
    digest.update(np.array([len(text) for text in texts], dtype=np.int64).tobytes())
    for start in range(0, len(texts), CHUNK):
        digest.update("".join(texts[start : start + CHUNK]).encode(errors="surrogatepass"))
    return digest.hexdigest()


def _write(place: Path, pieces: Pieces) -> None:
    """Writes the lengths of all texts and after them their pieces, as one array of int32.

    The bytes are those of `np.save`, which hides that the last of them did not fit on a full disk.
    """
    whole = np.concatenate([np.diff(pieces.ends).astype(np.int32), pieces.flat])
    with atomic_path(place) as part, part.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(whole))
        file.write(whole.data)
    write_record(place.with_suffix(".json"), {FILES: {place.name: sha256_of(place)}})


def _read(place: Path, count: int) -> Pieces:
    whole = np.load(place, mmap_mode="r").view(np.ndarray)  # slices of a memmap are slower
    return Pieces(whole[count:], _ends(whole[:count]))


def _ends(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)])
