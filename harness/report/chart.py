"""Pictures: Vega-Lite declarations become SVG that follows the colour scheme of the page.

A declaration of `leaderboards/templates/pictures` uses `$NAME` for a colour of the palette, for a value given
to `draw`, and for a value in its `usermeta`, which has defaults and sizes for windows, tablets and phones.
vl-convert draws without a network.
"""

import csv
import io
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.io.yaml_files import read_yaml
from harness.report.drawing import svg_of
from harness.report.formats.templates import TEMPLATES

PICTURES = TEMPLATES / "pictures"
SIZES = ("wide", "middle", "narrow")
"""Drawings for windows, for tablets held upright (where a declaration has it) and for phones."""
DROPPED = [
    "role",
    "aria-hidden",
    "aria-roledescription",
    "pointer-events",
    "font-family",
    "stroke-miterlimit",
]
"""Attributes that the page states once, or that only a script of Vega reads."""
USUAL = {
    "opacity": "1",
    "stroke-width": "1",
    "text-anchor": "start",
    "x2": "0",
    "y2": "0",
    "font-size": "12px",
    "transform": "translate(0,0)",
}
"""Attributes with SVG's default values, and the font size, which the root element states."""
GROWTH = 1.25
"""Largest magnification of a drawing."""
LINK_BASE = "https://vega.github.io/vega-datasets/"
"""Prefix that vl-convert adds to links without a host; our links point into the page."""
_NAMED = re.compile(r"\$([\w-]+)")
PALETTE = {
    "paper": ("#ffffff", "#14171a"),
    "raised": ("#f4f5f6", "#1d2226"),
    "ink": ("#16191d", "#e6e8ea"),
    "muted": ("#58606a", "#a4acb5"),
    "rule": ("#d3d7db", "#39414a"),
    "edge": ("#79828c", "#7d8791"),
    "accent": ("#0a5a8c", "#7fc1ef"),
    "holds": ("#006a50", "#5fd0a6"),
    "alone": ("#6b5800", "#d9be4c"),
    "differs": ("#8f4700", "#f2a65e"),
    "departs": ("#b2251d", "#ff9b90"),
    "open": ("#594998", "#bbb0f6"),
    "series-1": ("#0b62a5", "#74b8f1"),
    "series-2": ("#b7420a", "#ff9d6c"),
    "series-3": ("#00735d", "#56cfaa"),
    "series-4": ("#9c3586", "#e79ad7"),
    "series-5": ("#7c5f00", "#dcbf51"),
}
"""The colours of pictures and pages on a light and on a dark page, as #rrggbb.

The series colours follow the blue-vermilion-green order that red-green blind readers tell apart, darkened or
lightened until each reaches 4.5:1 against its page, so that a label may carry its line's colour.
"""

COLOURS = {name: f"var(--{name}, {light})" for name, (light, _) in PALETTE.items()}

_FALLBACK = re.compile(r"var\((--[\w-]+), #\w+\)")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}")
GEOMETRY = ("d", "transform", "x", "x1", "x2", "y", "y1", "y2", "width", "height")
"""Attributes whose numbers are pixels of a drawing: a tenth is enough."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Chart:
    """A picture with its texts and data.

    says: its conclusion, one sentence computed from `rows`. drawings: SVG for each of `SIZES` that its
    declaration has.
    """

    key: str
    title: str
    caption: str
    says: str
    rows: tuple[Row, ...]
    drawings: tuple[str, ...]

    @property
    def svg(self) -> str:
        """The drawing for windows, which is also its file."""
        return self.drawings[0]

    @property
    def inline(self) -> tuple[str, ...]:
        """The drawings as parts of a page, which declares every colour itself."""
        return tuple(_FALLBACK.sub(r"var(\1)", drawing) for drawing in self.drawings)

    @property
    def csv(self) -> str:
        """The data of the picture, one line per mark."""
        columns = dict.fromkeys(name for row in self.rows for name in row)
        text = io.StringIO()
        writer = csv.DictWriter(text, list(columns), restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return text.getvalue()

    @property
    def files(self) -> dict[str, str]:
        """Downloadable files, by path relative to the main page."""
        return {f"pages/{self.key}.svg": f"{self.svg}\n", f"pages/{self.key}.csv": self.csv}


def draw(
    name: str,
    rows: Sequence[Row],
    *,
    key: str,
    title: str,
    caption: str = "",
    says: str = "",
    **words: object,
) -> Chart:
    """Returns the picture of `rows` declared by NAME.yaml; equal rows give equal bytes.

    key: prefix of every id, so pictures can share a page. words: values of `$NAME` that override the
    defaults; `$shown` are those of `$kinds` that have a mark, for a legend.
    Errors: InputError without rows, and for a declaration without a drawing.
    """
    if not rows:
        raise InputError(f"picture {key}: no rows to draw")
    declared = _declared(PICTURES / f"{name}.yaml")
    config = _filled(_declared(PICTURES / "style.yaml"), COLOURS)
    words = {**declared["usermeta"].get("usual", {}), **words}
    words["shown"] = kinds_in(rows, words.get("kinds"))
    sizes = {size: declared["usermeta"][size] for size in SIZES if size in declared["usermeta"]}
    sizes = _filled(sizes, words)
    drawings: list[str] = []
    for size in sizes:
        spec = _filled(declared, {**COLOURS, **sizes[size], **words})
        spec |= {"data": {"values": list(rows)}, "config": config}
        drawn = svg_of(spec, key)
        drawings.append(_as_inline(drawn, f"{key}-{size}", title, says or caption, tips=size == "wide"))
    return Chart(key, title, caption, says, tuple(rows), tuple(drawings))


def kinds_in(rows: Sequence[Row], kinds: object) -> list[str]:
    """Returns those of a list of kinds of marks that some rows have, in its order."""
    present = {row.get("kind") for row in rows}
    return [kind for kind in kinds if kind in present] if isinstance(kinds, list) else []


@cache
def _declared(path: Path) -> dict[str, Any]:
    return dict(read_yaml(path))


def _filled(part: Any, values: Mapping[str, Any]) -> Any:
    """Returns a part of a declaration with values for `$NAME`; a lone `$NAME` may have any type."""
    if isinstance(part, dict):
        return {name: _filled(value, values) for name, value in part.items()}
    if isinstance(part, list):
        return [_filled(value, values) for value in part]
    if not isinstance(part, str) or "$" not in part:
        return part
    whole = _NAMED.fullmatch(part)
    return values[whole[1]] if whole else _NAMED.sub(lambda match: str(values[match[1]]), part)


def _as_inline(svg: str, key: str, title: str, says: str, *, tips: bool) -> str:
    """Returns the drawing as a named <svg> with ids that start with `key`. tips: whether marks have
    tooltips, which phones do not show.
    """
    text = re.sub(r' xmlns(:xlink)?="[^"]+"', "", svg.replace("xlink:href", "href").replace(LINK_BASE, ""))
    root = ElementTree.fromstring(re.sub(r"(\bid=\"|url\(#|href=\"#)(?=clip|gradient)", rf"\1{key}-", text))
    for parent in root.iter():
        for child in [child for child in parent if child.get("class") in ("background", "foreground")]:
            if child.get("fill") is None and child.get("stroke") is None:
                parent.remove(child)
    for element in root.iter():
        label = element.attrib.pop("aria-label", "")
        if tips and label and element.tag == "path":
            element.insert(0, ElementTree.Element("title"))
            element[0].text = label
        marks = [word for word in element.attrib.pop("class", "").split() if word.endswith("_marks")]
        if marks:
            element.set("class", marks[0].removesuffix("_marks"))
        for name in GEOMETRY:
            if name in element.attrib:
                element.set(name, _LONG_NUMBER.sub(_tenth, element.attrib[name]))
        for name in DROPPED:
            element.attrib.pop(name, None)
        for name, value in USUAL.items():
            if element.get(name) == value:
                del element.attrib[name]
    _unwrap(root)
    root.set("style", f"max-width: {GROWTH * float(root.get('width', '0')):.0f}px")
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    linked = root.find(".//a") is not None
    root.attrib.update(
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "role": "group" if linked else "img",
            "aria-labelledby": f"{key}-title {key}-desc",
            "font-family": "Arial, Helvetica, sans-serif",
            "font-size": "12px",
        }
    )
    for position, (tag, words) in enumerate((("title", title), ("desc", says))):
        named = ElementTree.Element(tag, {"id": f"{key}-{tag}"})
        named.text = words
        root.insert(position, named)
    return ElementTree.tostring(root, encoding="unicode")


def _tenth(match: re.Match[str]) -> str:
    return f"{float(match[0]):.1f}".removesuffix(".0")


def _unwrap(parent: ElementTree.Element) -> None:
    """Replaces every group without attributes by its content."""
    content: list[ElementTree.Element] = []
    for child in parent:
        _unwrap(child)
        bare = child.tag == "g" and not child.attrib
        content += list(child) if bare else [child]
    parent[:] = content


def css_variables() -> str:
    """Returns the declarations of every colour for the page's scheme."""
    return "".join(f"--{name}:light-dark({light},{dark});" for name, (light, dark) in PALETTE.items())
