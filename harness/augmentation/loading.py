"""Models and tokenizers of fetched folders, for augmentation: safetensors only, fp32, in eval mode."""

from __future__ import annotations

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
    quiet()
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


def quiet() -> None:
    """Turns off transformers' own progress bars and notes."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
