"""Models of fetched folders, for augmentation: safetensors only, fp32, in eval mode; and batches for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from harness.errors import InputError
from methods.core.model_files import read_model, read_tokenizer

SENTENCE_PIECES = ("sentencepiece", "protobuf")
"""Packages that such a tokenizer needs; those of the extra `augmentation`."""


def load_model(folder: Path, kind: Any) -> Any:
    """Returns the model of a folder as an Auto class of transformers (`kind`) reads it.

    Errors: InputError if the folder has no such model, or its weights lack tensors.
    """
    return read_model(
        kind, folder, expected=f"a model that {kind.__name__} reads", computed="embed_positions"
    )


def load_tokenizer(folder: Path) -> Any:
    """Returns the tokenizer of a folder. Errors: InputError if it is missing or needs a package."""
    pieces = [*folder.glob("*.spm"), *folder.glob("spiece.model")]
    absent = [package for package in SENTENCE_PIECES if not _installed(package)]
    if pieces and absent and not (folder / "tokenizer.json").is_file():
        raise InputError(
            f"{folder}: its tokenizer is a SentencePiece model, which needs {' and '.join(absent)}; expected "
            f"them installed: pip install {' '.join(absent)}"
        )
    return read_tokenizer(folder)


def _installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def by_length(ids: Sequence[Sequence[int]], *, tokens: int) -> Iterator[list[int]]:
    """Yields indices of sequences, longest first; a batch holds `tokens` positions or a single sequence.

    Those of a batch have about equal length, so that little of it is padding.
    """
    batch: list[int] = []
    for index in sorted(range(len(ids)), key=lambda index: -len(ids[index])):
        if batch and (len(batch) + 1) * len(ids[batch[0]]) > tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
