"""matplotlib figures as inline SVG that follows the page's colour scheme.

Charts are drawn with the light colours of the palette; each is then replaced by its CSS variable, with the
light colour as fallback, so that the same text also works as a file of its own.
"""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from harness.errors import InputError
from harness.report.charts.palette import PALETTE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SVG = "http://www.w3.org/2000/svg"
WIDTH = 5.4
"""Inches of a chart: as wide as its letters can be read on a phone, where all of it fits the window."""
_REFERENCE = re.compile(r"#([\w.-]+)\)?$|url\(#([\w.-]+)\)")
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "sentbench",
    "svg.fonttype": "none",
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.edgecolor": PALETTE["edge"].light,
    "axes.labelcolor": PALETTE["muted"].light,
    "axes.titlesize": 9.0,
    "axes.titlelocation": "left",
    "axes.titlecolor": PALETTE["ink"].light,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "xtick.color": PALETTE["edge"].light,
    "ytick.color": PALETTE["edge"].light,
    "xtick.labelcolor": PALETTE["muted"].light,
    "ytick.labelcolor": PALETTE["muted"].light,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "text.color": PALETTE["ink"].light,
    "text.parse_math": False,
    "axes.unicode_minus": True,
}


@contextmanager
def drawing(width: float, height: float) -> Iterator[Figure]:
    """Yields an empty figure of `width` x `height` inches in the report's style.

    Errors: InputError if matplotlib is not installed.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "figures need matplotlib, which is not installed; install the extra: pip install '.[report]'"
        ) from None
    with matplotlib.rc_context(_STYLE):
        yield Figure(figsize=(width, height), layout="constrained")


def to_svg(figure: Figure, *, key: str, title: str, description: str) -> str:
    """Returns the figure as one <svg> element; equal figures give equal bytes.

    `key` starts every id of the element, so figures with different keys can share a page. To be called inside
    the `drawing` block that made the figure.
    """
    if (layout := figure.get_layout_engine()) is not None:
        layout.execute(figure)
        figure.set_layout_engine("none")  # else savefig computes it twice more
    buffer = io.BytesIO()
    figure.savefig(
        buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    root = ElementTree.fromstring(buffer.getvalue())
    _drop_namespaces(root)
    _keep_referenced_ids(root, key)
    for element in root.iter():
        if "style" in element.attrib:
            element.set("style", _themed(element.get("style", "")))
    _describe(root, key, title, description)
    return ElementTree.tostring(root, encoding="unicode")


def _drop_namespaces(root: ElementTree.Element) -> None:
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith("metadata"):
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for name in [name for name in element.attrib if name.startswith("{")]:
            element.set(name.rpartition("}")[2], element.attrib.pop(name))


def _keep_referenced_ids(root: ElementTree.Element, key: str) -> None:
    """Prefixes the ids that something refers to with `key` and removes all others."""
    used = {
        found[1] or found[2]
        for element in root.iter()
        for name, value in element.attrib.items()
        if name in ("href", "clip-path") and (found := _REFERENCE.search(value))
    }
    for element in root.iter():
        name = element.attrib.pop("id", None)
        if name in used:
            element.set("id", f"{key}-{name}")
        for attribute in ("href", "clip-path"):
            if attribute in element.attrib:
                element.set(attribute, element.attrib[attribute].replace("#", f"#{key}-"))


def _themed(style: str) -> str:
    """Returns a style attribute with palette colours as variables and without a font family of its own."""
    for name, (light, _) in PALETTE.items():
        style = style.replace(light, f"var(--{name}, {light})")
    style = re.sub(r"font: ([\d.]+)px [^;]+", r"font-size: \1px", style)
    return re.sub(r"font-family: [^;]+;? ?", "", style)


def _describe(root: ElementTree.Element, key: str, title: str, description: str) -> None:
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.set("xmlns", SVG)
    root.set("width", "100%")
    root.set("font-family", "Arial, Helvetica, sans-serif")
    root.set("role", "img")
    root.set("aria-labelledby", f"{key}-title {key}-desc")
    for position, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ElementTree.Element(tag, {"id": f"{key}-{tag}"})
        element.text = text
        root.insert(position, element)
