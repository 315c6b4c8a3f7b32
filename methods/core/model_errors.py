"""Library errors about the files of a model folder, as one line that names the cause."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from methods.core.errors import InputError, without_advice

REMOTE_CODE = "trust_remote_code"
"""Library option named in their errors about folders with Python code."""

WEIGHTS, PICKLED = "model.safetensors", "pytorch_model.bin"
STORED = (WEIGHTS, f"{WEIGHTS}.index.json", PICKLED, f"{PICKLED}.index.json")
"""Weight files that transformers reads; the first one that exists counts."""

OTHER_WEIGHTS = (".onnx", ".gguf", ".h5", ".msgpack", ".xml", ".bin", ".safetensors", ".pt")
"""Endings of weights that may be there instead, in the order in which one of them is named."""


def read_json(path: Path, kind: type = dict) -> Any:
    """Returns the JSON object, or value of another `kind`, in a file. Errors: InputError for any other
    content."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a JSON file ({error}); get the file again") from None
    if not isinstance(content, kind):
        raise InputError(f"{path}: holds a {type(content).__name__}, expected a {kind.__name__}")
    return content


@contextmanager
def in_one_line(folder: Path, expected: str = "a model") -> Iterator[None]:
    """Converts library errors about the files of a model folder into InputError.

    Libraries raise many types, and tokenizers raises a bare Exception. System errors, which have a number,
    pass through.
    """
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise InputError(_cause(error, folder, expected)) from error


def check_stored(folder: Path) -> None:
    """Raises InputError if no weights can be read; it names weights of other formats."""
    if not any((folder / name).is_file() for name in STORED):
        raise InputError(f"{folder}: no weights{_instead(folder)}; expected {WEIGHTS} or {PICKLED}")


def _cause(error: Exception, folder: Path, expected: str) -> str:
    reason = " ".join(str(error).split())
    if REMOTE_CODE in reason:
        return f"{folder}: contains Python code (auto_map or a custom module), which is not run"
    if without_advice(reason) != reason:
        return f"{folder}: {without_advice(reason)}"
    for path in sorted(folder.rglob("*.json")):
        try:
            read_json(path, object)
        except InputError as damaged:
            return str(damaged)
    if not any(path.name in STORED for path in folder.rglob("*")) and _instead(folder):
        return f"{folder}: no weights{_instead(folder)}; expected {WEIGHTS} or {PICKLED}"
    return f"{folder}: cannot be read as {expected} ({type(error).__name__}: {reason[:300]})"


def _instead(folder: Path) -> str:
    """Returns `, has NAME` with the first file of weights of another format, or nothing."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in OTHER_WEIGHTS)
    paths.sort(key=lambda path: OTHER_WEIGHTS.index(path.suffix))
    return f", has {paths[0].relative_to(folder).as_posix()}" if paths else ""
