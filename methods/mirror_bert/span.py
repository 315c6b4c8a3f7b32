"""The edit of Mirror-BERT's second view: a span of characters becomes a mask token."""

from __future__ import annotations

from typing import Literal

import numpy as np

SpanPlace = Literal["first-occurrence", "drawn"]
"""The leftmost place with the same characters as the drawn span, or the drawn place itself."""


def mask_span(
    text: str, rng: np.random.Generator, *, length: int, shortest: int, place: SpanPlace, mask: str
) -> str:
    """Returns the text with `length` characters replaced by the mask between blanks.

    A text of fewer than `shortest` characters, or of no more than `length`, stays as it is. The start is
    uniform over 0 .. n - length - 1, so the last character is never masked. A word that is cut becomes two.
    Source: Mirror-BERT's code; its text speaks of a random span.
    """
    if not length or len(text) < shortest or len(text) <= length:
        return text
    start = int(rng.integers(len(text) - length))
    if place == "first-occurrence":
        start = text.index(text[start : start + length])
    return f"{text[:start]} {mask} {text[start + length :]}"
