"""Executors that need a package which is not installed by default."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from harness.errors import InputError


def imported(name: str, *, extra: str) -> Any:
    """Returns a package of an optional extra; InputError, which names the extra, if it is not installed."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise InputError(
            f"{name} is not installed, expected it for this executor; run `{sys.executable} -m pip install "
            f"'.[{extra}]'` in the project's folder"
        ) from None
