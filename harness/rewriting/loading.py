"""Models and tokenizers of fetched folders, for rewriting: safetensors only, fp32, in eval mode."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from harness.errors import InputError

SENTENCE_PIECES = ("sentencepiece", "protobuf")
"""What reading a tokenizer of that kind takes; the packages of the extra `rewriting`."""


def load_model(folder: Path, kind: Any) -> Any:
    """Returns the model of a folder as an Auto class of transformers (`kind`) reads it.

    Errors: InputError if the folder has no such model, or its weights lack tensors.
    """
    import torch
    from safetensors import SafetensorError

    quiet()
    if not (folder / "model.safetensors").is_file():
        raise InputError(
            f"{folder}: no model.safetensors, expected one; pin a revision that holds it and fetch it again"
        )
    try:
        model, report = kind.from_pretrained(
            folder, dtype=torch.float32, use_safetensors=True, output_loading_info=True
        )
    except (SafetensorError, json.JSONDecodeError, OSError, KeyError, RuntimeError, ValueError) as error:
        line = str(error).strip().splitlines()[0]
        raise InputError(
            f"{folder}: not a model that {kind.__name__} reads ({line}); expected one, fetch it again"
        ) from None
    missing = sorted(key for key in report["missing_keys"] if "embed_positions" not in key)
    if missing:
        raise InputError(
            f"{folder}: {len(missing)} weights are missing, the first is {missing[0]}; expected every weight "
            f"of {type(model).__name__}; fetch the model again"
        )
    return model.eval()


def load_tokenizer(folder: Path) -> Any:
    """Returns the tokenizer of a folder. Errors: InputError if it is missing or needs a package."""
    from transformers import AutoTokenizer

    pieces = [*folder.glob("*.spm"), *folder.glob("spiece.model")]
    absent = [package for package in SENTENCE_PIECES if not _installed(package)]
    if pieces and absent and not (folder / "tokenizer.json").is_file():
        raise InputError(
            f"{folder}: its tokenizer is a SentencePiece model, which needs {' and '.join(absent)}; expected "
            f"them installed: pip install {' '.join(absent)}"
        )
    try:
        return AutoTokenizer.from_pretrained(folder)
    except (OSError, ValueError, KeyError) as error:
        line = str(error).strip().splitlines()[0]
        raise InputError(f"{folder}: no tokenizer can be read ({line}); fetch the model again") from None


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
