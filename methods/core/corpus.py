"""A tokenised corpus: every text is tokenised once, before step 0.

Tokens are cached on disk. A file is named by a hash of the texts, the tokenizer with its truncation, and the
version of its library, so it is never out of date. It is memory-mapped, so concurrent runs share it.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Protocol

import numpy as np
import tokenizers
from filelock import FileLock

from methods.core.errors import InputError
from methods.core.files import FILES, atomic_path, changed_file, read_whole, sha256_of, write_record
from methods.core.rows import TEXT, Column, Row

CHUNK = 10_000
"""Number of texts that are tokenised or hashed at once."""


class Tokenizing(Protocol):
    """Interface of a tokeniser, such as a SentenceEncoder."""

    piece_folder: Path | None

    def token_ids(self, texts: Sequence[str], *, max_length: int | None = None) -> list[list[int]]:
        """Returns the word pieces of each text."""

    def tokenizer_state(self, max_length: int) -> str:
        """Returns everything that determines the result of `token_ids`."""


class TokenizedCorpus:
    """The tokens of some columns of every row, cached by `pieces_of`."""

    def __init__(
        self,
        encoder: Tokenizing,
        rows: Sequence[Row],
        *,
        max_length: int,
        columns: Sequence[Column] = (TEXT,),
    ) -> None:
        self._columns = {
            column: pieces_of(encoder, texts_of(rows, column), max_length)
            for column in dict.fromkeys(columns)
        }
        self._positions = positions_by_index(rows)

    def ids(self, row: Row, column: Column) -> np.ndarray:
        """Returns the word pieces of one text of a row, special tokens included; int32 [length]."""
        return self._columns[column].ids(self._positions[row.index])


def positions_by_index(rows: Sequence[Row]) -> np.ndarray:
    """Returns the position of each row index among `rows`, -1 for a missing index."""
    indices = [row.index for row in rows]
    positions = np.full(max(indices, default=-1) + 1, -1, dtype=np.int64)
    positions[indices] = np.arange(len(rows))
    return positions


def texts_of(rows: Sequence[Row], column: Column) -> list[str]:
    """Returns the text of every row in a column. Errors: InputError if a row has too few augmentations."""
    short = next((row for row in rows if len(row.augmentations) < column), None)
    if short is not None:
        raise InputError(
            f"row {short.index} of the corpus has {len(short.augmentations) or 'no'} augmentations, expected "
            f"at least {column} in every row; name a corpus with as many in the recipe"
        )
    return [row.columns[column] for row in rows]


class Pieces:
    """The word pieces of N texts: flat int32 [pieces], ends int64 [N + 1] with 0 first.

    whole: the content of a file: the lengths of all texts, then their pieces, int32.
    """

    def __init__(self, whole: np.ndarray, count: int) -> None:
        self.flat = whole[count:]
        self.ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(whole[:count], dtype=np.int64)])

    def ids(self, position: int) -> np.ndarray:
        """Returns the word pieces of one text, special tokens included; int32 [length]."""
        return self.flat[self.ends[position] : self.ends[position + 1]]


def pieces_of(encoder: Tokenizing, texts: Sequence[str], max_length: int) -> Pieces:
    """Returns the word pieces of each text, truncated to `max_length`.

    They are cached in `encoder.piece_folder` unless it is None.
    """
    if encoder.piece_folder is None:
        return Pieces(_made(encoder, texts, max_length), len(texts))
    made = partial(_made, encoder, texts, max_length)
    return Pieces(kept_array(encoder.piece_folder, _key(encoder, texts, max_length), made), len(texts))


def kept_array(folder: Path, key: str, make: Callable[[], np.ndarray]) -> np.ndarray:
    """Returns the int32 array in KEY.npy as a read-only map; computes it if the file is missing or damaged.

    key: a hash of everything that determines the array. Of two processes that need it, one computes it.
    """
    path = folder / f"{key}.npy"
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")):
        record = read_whole(path.with_suffix(".json"))
        if record is None or changed_file(path.parent, record[FILES]):
            _write(path, make())
    return np.load(path, mmap_mode="r").view(np.ndarray)  # slices of a memmap are slower


def _made(encoder: Tokenizing, texts: Sequence[str], max_length: int) -> np.ndarray:
    """Returns the lengths of all texts, then their pieces; int32."""
    pieces: list[np.ndarray] = []
    lengths: list[int] = []
    for start in range(0, len(texts), CHUNK):
        ids = encoder.token_ids(texts[start : start + CHUNK], max_length=max_length)
        lengths.extend(len(row) for row in ids)
        pieces.append(np.fromiter(chain.from_iterable(ids), dtype=np.int32))
    return np.concatenate([np.array(lengths, dtype=np.int32), *pieces])


def _key(encoder: Tokenizing, texts: Sequence[str], max_length: int) -> str:
    """Returns the hash of everything that determines the pieces."""
    return key_of(texts, f"{tokenizers.__version__}\n{encoder.tokenizer_state(max_length)}\n")


def key_of(texts: Sequence[str], made_by: str) -> str:
    """Returns a hash of texts, their boundaries, and the computation `made_by`."""
    digest = hashlib.sha256(made_by.encode())
    digest.update(np.array([len(text) for text in texts], dtype=np.int64).tobytes())
    for start in range(0, len(texts), CHUNK):
        digest.update("".join(texts[start : start + CHUNK]).encode(errors="surrogatepass"))
    return digest.hexdigest()


def _write(path: Path, whole: np.ndarray) -> None:
    """Writes the bytes of `np.save`, which itself does not report a full disk at the last bytes."""
    with atomic_path(path) as part, part.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(whole))
        file.write(whole.data)
    write_record(path.with_suffix(".json"), {FILES: {path.name: sha256_of(path)}})
