"""The vectors of one encoder on every evaluation text, kept so that any protocol can be computed again.

A folder holds texts.json (the texts, in the order of the rows), vectors.npy and meta.json. Half precision
halves the size; similarities are computed in float64 from it, which moves a correlation by less than a
thousandth of a point on the whole STS sets, by up to 0.015 on subsets of a few hundred pairs (similarities
kept in half precision would not be safe).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import InputError
from harness.files import atomic_path, sha256_of, write_json, write_text

FORMAT = 1
TEXTS, VECTORS, META = "texts.json", "vectors.npy", "meta.json"
PRECISIONS = ("float16", "float32")


class EmbeddingStore:
    """Unique texts [U] and their vectors [U, d], with the sha256 of the encoder that made them."""

    def __init__(self, texts: Sequence[str], vectors: np.ndarray, *, encoder_sha256: str) -> None:
        self.texts, self.vectors, self.encoder_sha256 = list(texts), vectors, encoder_sha256
        self._row = {text: row for row, text in enumerate(self.texts)}

    @classmethod
    def build(
        cls, texts: Sequence[str], vectors: np.ndarray, *, encoder_sha256: str, precision: str = "float16"
    ) -> EmbeddingStore:
        """Returns a store of unique texts and their vectors, rounded to float16 or float32.

        Errors: InputError if the vectors are not one finite row for each text, a text occurs twice, the
        precision is unknown, or a number is out of its range.
        """
        if precision not in PRECISIONS:
            raise InputError(f"precision {precision!r}: expected {' or '.join(PRECISIONS)}")
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise InputError(
                f"vectors of shape {list(vectors.shape)} for {len(texts)} texts: expected [{len(texts)}, d]"
            )
        if len(set(texts)) != len(texts):
            raise InputError(f"{len(texts) - len(set(texts))} texts occur twice, expected unique texts")
        with np.errstate(over="ignore"):
            rounded = np.ascontiguousarray(vectors, dtype=precision)
        if not np.isfinite(rounded).all():
            raise InputError(
                f"the vectors are not finite in {precision}, expected numbers within +-"
                f"{np.finfo(precision).max:g}; check the encoder, or keep float32"
            )
        return cls(texts, rounded, encoder_sha256=encoder_sha256)

    def save(self, folder: Path) -> None:
        """Writes the three files, each atomically; equal stores give equal bytes."""
        write_text(folder / TEXTS, json.dumps(self.texts, ensure_ascii=False, indent=0) + "\n")
        with atomic_path(folder / VECTORS) as part, part.open("wb") as file:
            np.save(file, self.vectors, allow_pickle=False)
        write_json(
            folder / META,
            {
                "format": FORMAT,
                "encoder_sha256": self.encoder_sha256,
                "dim": int(self.vectors.shape[1]),
                "texts": len(self.texts),
                "texts_sha256": sha256_of(folder / TEXTS),
                "vectors_sha256": sha256_of(folder / VECTORS),
            },
        )

    @classmethod
    def load(cls, folder: Path) -> EmbeddingStore:
        """Returns the store of a folder.

        Errors: InputError if a file is missing, damaged, of another format or does not fit the others.
        """
        meta = _read_json(folder / META)
        if not isinstance(meta, dict) or meta.get("format") != FORMAT:
            raise InputError(f"{folder / META}: not a store of format {FORMAT}; evaluate the model again")
        for name in (TEXTS, VECTORS):
            path = folder / name
            expected = meta.get(f"{path.stem}_sha256")
            if not path.is_file() or sha256_of(path) != expected:
                raise InputError(
                    f"{path}: missing or damaged, expected sha256 {expected}; evaluate the model again"
                )
        with (folder / VECTORS).open("rb") as file:
            vectors = np.load(file, allow_pickle=False)
        return cls(_read_json(folder / TEXTS), vectors, encoder_sha256=str(meta["encoder_sha256"]))

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Returns the stored vectors of `texts` [N, d], in the precision they are kept in.

        Errors: InputError at the first text that is not in the store.
        """
        missing = [text for text in texts if text not in self._row]
        if missing:
            raise InputError(
                f"{len(missing)} of {len(texts)} texts are not in the store, the first is {missing[0]!r}; "
                "expected texts of the tasks and text form it was made with; evaluate with the model instead"
            )
        return self.vectors[[self._row[text] for text in texts]]


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{path}: no such file, expected a store of embeddings; evaluate the model first"
        ) from None
    except ValueError as error:
        raise InputError(f"{path}: not JSON ({error}); evaluate the model again") from None
