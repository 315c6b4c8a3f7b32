"""The colours of the report, each for a light and a dark page; charts and style sheet read the same table.

The series colours follow the blue-vermilion-green order that red-green blind readers tell apart, darkened or
lightened until each reaches 4.5:1 against its page, so that a label may carry its line's colour.
"""

from __future__ import annotations

from typing import NamedTuple


class Colour(NamedTuple):
    """One colour in both schemes, as #rrggbb."""

    light: str
    dark: str


PALETTE: dict[str, Colour] = {
    "paper": Colour("#ffffff", "#14171a"),
    "raised": Colour("#f4f5f6", "#1d2226"),
    "ink": Colour("#16191d", "#e6e8ea"),
    "muted": Colour("#58606a", "#a4acb5"),
    "rule": Colour("#d3d7db", "#39414a"),
    "edge": Colour("#79828c", "#7d8791"),
    "accent": Colour("#0a5a8c", "#7fc1ef"),
    "holds": Colour("#006a50", "#5fd0a6"),
    "alone": Colour("#6b5800", "#d9be4c"),
    "departs": Colour("#b2251d", "#ff9b90"),
    "open": Colour("#594998", "#bbb0f6"),
    "series-1": Colour("#0b62a5", "#74b8f1"),
    "series-2": Colour("#b7420a", "#ff9d6c"),
    "series-3": Colour("#00735d", "#56cfaa"),
    "series-4": Colour("#9c3586", "#e79ad7"),
    "series-5": Colour("#7c5f00", "#dcbf51"),
}

SCALE = {
    "holds": ("replicate", "agree"),
    "departs": ("not replicate", "lower", "higher"),
    "open": ("inconclusive",),
}
"""The colour of a verdict by a word of it; where several fit, the last one."""


def colour_of(verdict: str) -> str:
    """Returns the CSS colour of a verdict."""
    fits = [name for name, words in SCALE.items() if any(word in verdict for word in words)]
    name = fits[-1] if fits else "alone"
    return f"var(--{name}, {PALETTE[name].light})"


def css_variables() -> str:
    """Returns the declarations that give every colour its value in the page's scheme."""
    return "".join(f"--{name}:light-dark({light},{dark});" for name, (light, dark) in PALETTE.items())
