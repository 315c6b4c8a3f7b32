"""The progress bar of everything that takes long, on standard error."""

import sys
from typing import Any

from tqdm import tqdm

SOON = 3.0
"""Seconds without a bar: work that is done by then draws none."""
PERIOD = 10.0
"""Least seconds between two states of a bar in a log; a terminal is redrawn ten times a second."""


def progress_bar(total: int, unit: str, *, shown: bool = True) -> "tqdm[Any]":
    """Returns a bar of `total` units, for a `with` block. shown: whether it prints anything."""
    seconds = 0.1 if sys.stderr.isatty() else PERIOD
    return tqdm(total=total, unit=f" {unit}", mininterval=seconds, delay=SOON, disable=not shown)
