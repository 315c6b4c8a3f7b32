"""Checks of arguments before any work: texts, names, folders. A wrong one raises InputError."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

from harness.errors import InputError


def shown(value: Any) -> str:
    """Returns a value as one short line for a message."""
    return " ".join(reprlib.repr(value).split()).encode("utf-8", "backslashreplace").decode()


def text_of(value: Any, what: str) -> str:
    """Returns a text that UTF-8 can express. Errors: InputError, which says `what` it is, for others."""
    if not isinstance(value, str):
        raise InputError(f"{what} is {shown(value)}, expected text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what} is {shown(value)}, expected text without lone surrogates") from None
    return value


def texts_of(values: Any, what: str) -> list[str]:
    """Returns the texts of a list or another iterable in order. Errors: InputError for anything else."""
    unordered = isinstance(values, str | bytes | bytearray | Mapping | Set)
    try:
        each = iter(() if unordered else values)
    except TypeError:
        unordered = True
    if unordered:
        raise InputError(f"{what} is {shown(values)}, expected a list of texts")
    return [text_of(value, f"{what}[{number}]") for number, value in enumerate(each)]


def folder_of(value: Any, of: str) -> Path:
    """Returns the path of an existing folder. Errors: InputError, which says what it is a folder `of`."""
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str) or not path:
        raise InputError(f"{shown(value)} is not a path, expected the folder of {of}")
    try:
        if Path(path).is_dir():
            return Path(path)
    except OSError as error:
        raise InputError(f"{shown(path)}: {error.strerror}, expected the folder of {of}") from None
    if not path.isprintable():
        path = shown(path)
    raise InputError(f"{path}: no such folder, expected one of {of}; check the path")
