"""Pictures of rows: whole names on every screen, and a legend of the marks that are there."""

import xml.etree.ElementTree as ElementTree

from harness.report.chart import Chart, draw
from harness.report.figures import MARK_KINDS
from harness.report.pages.claims import LONG

SVG = "{http://www.w3.org/2000/svg}"
NAMES = (
    "SCT is above DCLR and DiffCSE in re-ranking and inference on BERT-Tiny",
    "SCT is above DCLR and DiffCSE in re-ranking and inference on BERT-Small",
)


def drawn(kind: str, **words: object) -> Chart:
    rows = [{"name": name, "kind": kind, "value": place + 0.5} for place, name in enumerate(NAMES)]
    return draw("rows", rows, key="toy", title="Toy", x_title="points", **words)


def texts_of(svg: str) -> list[str]:
    return ["".join(part.itertext()) for part in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_long_names_are_whole_on_every_screen_and_take_two_lines_on_phones() -> None:
    picture = drawn("reported", long=LONG, tall=52)
    wide, _, narrow = picture.drawings
    assert set(NAMES) <= set(texts_of(wide))
    assert {"".join(halves(name)) for name in NAMES} <= set(texts_of(narrow))
    assert not any("…" in text for svg in picture.drawings for text in texts_of(svg))


def halves(name: str) -> tuple[str, str]:
    """Returns the two lines of a name, without the space between them."""
    at = name[:LONG].rindex(" ")
    return name[:at], name[at + 1 :]


def test_a_legend_has_the_kinds_that_have_a_mark_with_their_usual_signs() -> None:
    alone, both = (
        drawn("independent source", kinds=MARK_KINDS),
        drawn("reported", kinds=["reported", "ours"]),
    )
    for svg in alone.drawings:
        assert [text for text in texts_of(svg) if text in MARK_KINDS] == ["independent source"]
    for svg in both.drawings:
        assert [text for text in texts_of(svg) if text in MARK_KINDS] == ["reported"]
