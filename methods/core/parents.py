"""Where a method's networks come from: fresh copies of the backbone, and frozen parents outside the tree."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from methods.core.errors import InputError
from methods.core.folders import load_encoder

if TYPE_CHECKING:
    from methods.core.encoder import SentenceEncoder
    from methods.core.interface import Row, Tokens

VECTORS, TEXTS, DESCRIPTION = "vectors.npy", "texts.npy", "teacher.json"

TEACHER_ROWS = 65_536
"""Rows whose vectors are computed before they are written: what is held in memory of a corpus of any size."""


class Frozen:
    """A network that gives values and never learns: not in the state dict, not in the optimiser (law 6).

    `dropout` says whether its dropout is active; nothing changes it afterwards.
    """

    def __init__(self, module: nn.Module, *, dropout: bool) -> None:
        self.module = module.requires_grad_(False)
        self.module.train(dropout)

    @torch.no_grad()
    def __call__(self, tokens: Tokens) -> Tensor:
        """Returns the module's output for `tokens` without a graph, on their device."""
        self.module.to(tokens["input_ids"].device)
        return self.module(tokens)


class EncoderFactory:
    """Makes the encoders of one run: `factory()` a fresh trainable copy of its backbone.

    `parent` is the artefact folder of a parent run, a public encoder, or a folder of teacher vectors.
    """

    def __init__(self, backbone: Path, *, pooling: str | None, parent: Path | None = None) -> None:
        self.backbone = backbone
        self.pooling = pooling
        self.parent = parent

    def __call__(self, *, hf_pooler: bool = False, **config: Any) -> SentenceEncoder:
        """Returns the backbone as a new encoder; `config` overrides entries such as `hidden_dropout_prob`."""
        encoder: Any = load_encoder(self.backbone, pooling=self.pooling, hf_pooler=hf_pooler, **config)
        return encoder.train()

    def parent_folder(self, needs: str) -> Path:
        """Returns the parent's folder; InputError if the run names none, saying what `needs` it."""
        if self.parent is None:
            raise InputError(f"{needs} needs a parent and the run has none; set `parent` in its recipe")
        if not self.parent.is_dir():
            raise InputError(
                f"{self.parent}: no such folder, {needs} expects its parent there; run the parent first"
            )
        return self.parent

    def parent_encoder(
        self, needs: str, *, pooling: str | None = None, hf_pooler: bool = False
    ) -> SentenceEncoder:
        """Returns the parent as an encoder (wrap it in `Frozen`, or train on from it)."""
        folder = self.parent_folder(needs)
        return load_encoder(folder, pooling=pooling, hf_pooler=hf_pooler)  # type: ignore[return-value]

    def teacher_dim(self, needs: str) -> int:
        """Returns the width of the parent's teacher vectors."""
        folder = self.parent_folder(needs)
        if not (folder / DESCRIPTION).is_file():
            raise InputError(
                f"{folder}: no {DESCRIPTION}; {needs} expects a `teachers/` entry as the run's parent"
            )
        return int(json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))["dim"])

    def teacher_vectors(self, rows: Sequence[Row], needs: str) -> np.ndarray:
        """Returns the parent's vectors of all texts of `rows`, memory-mapped; [N, 1 + P, d] fp32.

        Column 0 is `Row.text`, column p `Row.paraphrase[p - 1]`; the row is looked up by `Row.index`.
        Errors: InputError if the parent is not a folder of teacher vectors of these very texts.
        """
        folder = self.parent_folder(needs)
        for name in (VECTORS, TEXTS):
            if not (folder / name).is_file():
                raise InputError(
                    f"{folder}: no {name}; {needs} expects a `teachers/` entry as the run's parent"
                )
        vectors: np.ndarray = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
        views = 1 + max((len(row.paraphrase) for row in rows), default=0)
        last = max((row.index for row in rows), default=-1)
        if vectors.ndim != 3 or vectors.shape[1] < views or last >= len(vectors):
            raise InputError(
                f"{folder}: vectors of shape {vectors.shape}, expected at least ({last + 1}, {views}, d); "
                "the teacher was computed on another corpus: give the run the teacher of its own"
            )
        _check_texts(folder, rows)
        return vectors


def _check_texts(folder: Path, rows: Sequence[Row]) -> None:
    """Refuses vectors of other texts: every text's digest is compared with the one its vector was made of."""
    stored = np.load(folder / TEXTS, allow_pickle=False)  # [N, 1 + P]
    texts = [(row.text, *row.paraphrase) for row in rows]
    for view in range(max(map(len, texts), default=0)):
        places = [place for place, row in enumerate(texts) if view < len(row)]
        own = text_digests([texts[place][view] for place in places])
        taught = stored[[rows[place].index for place in places], view]
        if (own != taught).any():
            first = rows[places[int(np.flatnonzero(own != taught)[0])]]
            raise InputError(
                f"{folder}: no vector of row {first.index} ({first.text[:40]!r}) but of another text; the "
                "teacher was computed on another corpus: give the run the teacher of its own"
            )


def text_digests(texts: Sequence[str]) -> np.ndarray:
    """Returns 64 bits of each text's hash, equal in every process; [N] uint64."""
    parts = b"".join(hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts)
    return np.frombuffer(parts, dtype="<u8")


def write_teacher(
    folder: Path, encoder: Any, texts: Sequence[Sequence[str]], description: dict[str, str]
) -> None:
    """Computes a teacher's vectors of a corpus once: `vectors.npy` [N, 1 + P, d] fp32 and `teacher.json`.

    `texts.npy` [N, 1 + P] keeps a digest of each text, so that vectors are never read for another one.
    `texts` holds for each row its text and paraphrases, all rows as many.
    """
    views = len(texts[0])
    if any(len(row) != views for row in texts):
        raise InputError(
            "the rows of a corpus differ in their number of paraphrases; expected as many in each"
        )
    kept, digests = (
        np.lib.format.open_memmap(folder / name, mode="w+", dtype=kind, shape=shape)
        for name, kind, shape in (
            (VECTORS, np.float32, (len(texts), views, encoder.dim)),
            (TEXTS, text_digests([""]).dtype, (len(texts), views)),
        )
    )
    for start in range(0, len(texts), TEACHER_ROWS):
        some = [text for row in texts[start : start + TEACHER_ROWS] for text in row]
        stop = start + len(some) // views
        kept[start:stop] = encoder.encode(some, progress=True).reshape(stop - start, views, -1)
        digests[start:stop] = text_digests(some).reshape(stop - start, views)
    meta = {**description, "rows": len(texts), "views": views, "dim": int(encoder.dim)}
    (folder / DESCRIPTION).write_text(json.dumps(meta, indent=1, sort_keys=True) + "\n", encoding="utf-8")
