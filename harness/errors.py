"""The error for bad input, shared by the harness and `methods.core`, and its output."""

import re
from pathlib import Path

from methods.core.errors import InputError, NoScoreError, near_matches

__all__ = [
    "CONTROL",
    "InputError",
    "NoScoreError",
    "near_matches",
    "place_in",
]

_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
CONTROL = re.compile(f"[{_CONTROLS}]")
"""Characters that move a terminal's cursor or reverse the direction of text, and lone surrogates."""


def place_in(file: Path, error: BaseException) -> str:
    """Returns `FILE:LINE: KIND: MESSAGE` of an error, with the deepest line of that file in its traceback."""
    line, step = getattr(error, "lineno", None), error.__traceback__
    while step is not None:
        if Path(step.tb_frame.f_code.co_filename) == file:
            line = step.tb_lineno
        step = step.tb_next
    location = f"{file}:{line}" if line else str(file)
    return f"{location}: {type(error).__name__}: {error}"
