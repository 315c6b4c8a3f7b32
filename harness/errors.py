"""Bad input as the whole harness reports it; one class, shared with `methods.core`."""

import re

from methods.core.errors import InputError, near_matches

__all__ = ["CONTROL", "InputError", "near_matches"]

_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
CONTROL = re.compile(f"[{_CONTROLS}]")
"""Characters that move a terminal's cursor, reverse the direction of text, or are half of a character."""
