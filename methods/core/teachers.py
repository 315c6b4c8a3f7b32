"""A teacher's vectors of a corpus: computed once, stored as a folder, looked up by row and text field.

A student may have a layer to its teacher's width, which is exported with the encoder.
Legend: N rows, C columns of the corpus (the sentence and its augmentations), t teacher width.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.files import write_manifest
from methods.core.rows import Column, Row
from methods.core.saving import IDENTITY, TANH

TeacherMapping = Literal["none", "linear", "tanh"]
"""none: widths must agree; linear: one dense layer; tanh: a dense layer with tanh."""

VECTORS, TEXTS, DESCRIPTION = "vectors.npy", "texts.npy", "teacher.json"

ROWS_TOGETHER = 65_536
"""Rows per write: bounds the memory for a corpus of any size."""


class TeacherVectors:
    """The vectors in a folder that `write_teacher` made; `dim` is their width t.

    needs: name of the user of the vectors, for the message.
    Errors: InputError, here and in `open`, if the folder contains no teacher vectors.
    """

    def __init__(self, folder: Path, *, needs: str) -> None:
        self.folder = folder
        self.needs = needs
        self.dim = int(json.loads(self._file(DESCRIPTION).read_text(encoding="utf-8"))["dim"])
        self._vectors: np.ndarray | None = None  # [N, C, t] fp32, memory-mapped

    def open(self, rows: Sequence[Row]) -> None:
        """Opens the vectors of `rows`; InputError if they belong to other texts."""
        vectors = np.load(self._file(VECTORS), mmap_mode="r", allow_pickle=False)
        columns = max((len(row.columns) for row in rows), default=1)
        last = max((row.index for row in rows), default=-1)
        if vectors.ndim != 3 or vectors.shape[1] < columns or last >= len(vectors):
            raise InputError(
                f"{self.folder}: vectors of shape {vectors.shape}, expected at least ({last + 1}, {columns}, "
                "t); use a teacher of this corpus"
            )
        self._check_texts(rows)
        self._vectors = vectors

    def of(self, rows: Sequence[Row], column: Column) -> Tensor:
        """Returns the teacher's vectors of one text of each row; [B, t] fp32."""
        assert self._vectors is not None, "teacher vectors read before they were opened for a corpus"
        return torch.from_numpy(self._vectors[[row.index for row in rows], column].astype(np.float32))

    def _check_texts(self, rows: Sequence[Row]) -> None:
        """Raises InputError for vectors of other texts, by the digest of every text."""
        stored = np.load(self._file(TEXTS), allow_pickle=False)  # [N, C]
        for column in range(max((len(row.columns) for row in rows), default=0)):
            filled = [row for row in rows if column < len(row.columns)]
            wrong = (
                text_digests([row.columns[column] for row in filled])
                != stored[[row.index for row in filled], column]
            )
            if wrong.any():
                first = filled[int(np.flatnonzero(wrong)[0])]
                raise InputError(
                    f"{self.folder}: no vector of row {first.index} ({first.text[:40]!r}); use a teacher of "
                    f"this run's corpus"
                )

    def _file(self, name: str) -> Path:
        if not (self.folder / name).is_file():
            raise InputError(
                f"{self.folder}: no {name}; {self.needs} expects a `teachers/` entry as the run's parent"
            )
        return self.folder / name


def text_digests(texts: Sequence[str]) -> np.ndarray:
    """Returns 64 bits of each text's hash, equal in every process; [N] uint64."""
    parts = b"".join(hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts)
    return np.frombuffer(parts, dtype="<u8")


def write_teacher(folder: Path, encoder: Any, rows: Sequence[Row], description: dict[str, str]) -> None:
    """Computes a teacher's vectors of a corpus once: `vectors.npy` [N, C, t] fp32 and `teacher.json`.

    `texts.npy` [N, C] has a digest of each text, so vectors are never used for another text.
    Errors: InputError if the rows differ in their number of augmentations.
    """
    columns = len(rows[0].columns)
    if any(len(row.columns) != columns for row in rows):
        raise InputError(
            "the rows of a corpus differ in their number of augmentations, expected the same number in each"
        )
    kept, digests = (
        np.lib.format.open_memmap(folder / name, mode="w+", dtype=kind, shape=shape)
        for name, kind, shape in (
            (VECTORS, np.float32, (len(rows), columns, encoder.dim)),
            (TEXTS, text_digests([""]).dtype, (len(rows), columns)),
        )
    )
    for start in range(0, len(rows), ROWS_TOGETHER):
        texts = [text for row in rows[start : start + ROWS_TOGETHER] for text in row.columns]
        stop = start + len(texts) // columns
        kept[start:stop] = encoder.encode(texts, progress=True).reshape(stop - start, columns, -1)
        digests[start:stop] = text_digests(texts).reshape(stop - start, columns)
    meta = {**description, "rows": len(rows), "views": columns, "dim": int(encoder.dim)}
    write_manifest(folder / DESCRIPTION, meta)


def add_mapping(student: SentenceEncoder, mapping: TeacherMapping, *, teacher_dim: int) -> None:
    """Adds the output layer to the teacher's width, also for equal widths, unless `mapping` is none.

    Errors: InputError if the widths differ without a mapping.
    """
    if mapping != "none":
        student.output = nn.Linear(student.width, teacher_dim)
        student.activation = TANH if mapping == "tanh" else IDENTITY
    elif teacher_dim != student.dim:
        raise InputError(
            f"the teacher has width {teacher_dim} and the student {student.dim}; set `mapping: linear` or "
            f"`mapping: tanh`"
        )
