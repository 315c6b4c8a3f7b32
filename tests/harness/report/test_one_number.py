"""One type of a published number, one with its verdict, one scale of words, one place of a table's scale."""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path

from harness.evidence.judged import Judged
from harness.evidence.numbers import PublishedNumber
from harness.evidence.words import scale

ROOT = Path(__file__).parents[3]
CODE = [path for room in ("harness", "sentbench") for path in sorted((ROOT / room).rglob("*.py"))]
SHOWN = sorted(path for path in (ROOT / "leaderboards/templates").rglob("*") if path.is_file())
WORDS = ROOT / "harness/evidence/words.py"
SCALED = {"harness/report/formats/number.py", "harness/evidence/published.py"}
"""Where a number takes the scale of its table, and where it is read from that scale."""


def literals(path: Path) -> Iterator[str]:
    """Yields the strings of a module that are not docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in notes:
            yield node.value


def slug(text: str) -> str:
    """Returns a text as a class of a page."""
    return re.sub(r"\W+", "-", text.lower()).strip("-")


def test_no_other_file_of_the_code_has_a_word_of_a_verdict() -> None:
    """Words of several parts; a page, a style or a script has none, as a name of a class either."""
    texts = [word.text for word in scale() if " " in word.text]
    assert len(texts) >= 17
    for path in CODE:
        if path != WORDS:
            said = [text for literal in literals(path) for text in texts if text in literal]
            assert said == [], path
    for path in SHOWN:
        page = path.read_text(encoding="utf-8")
        assert [text for text in texts if text in page or slug(text) in page] == [], path


def test_a_table_s_scale_is_applied_in_one_place() -> None:
    """No other module multiplies or divides by `scale` or `points` of anything."""
    met = set()
    for path in CODE:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
                names = {part.attr for part in (node.left, node.right) if isinstance(part, ast.Attribute)}
                if "scale" in names:
                    met.add(str(path.relative_to(ROOT)))
    assert met == SCALED


def test_two_types_hold_a_published_number_and_the_former_ones_are_gone() -> None:
    """A class with a row, a column and a value is `PublishedNumber`; one with that number is `Judged`, or a
    cell, which adds our runs."""
    holders, placed = set(), set()
    for path in CODE:
        if path.parts[-3:-1] == ("harness", "evidence") or "report" in path.parts:
            module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
            for made in vars(module).values():
                if isinstance(made, type) and is_dataclass(made) and made.__module__ == module.__name__:
                    names = {field.name: str(field.type) for field in fields(made)}
                    if {str(PublishedNumber), str(PublishedNumber | None)} & set(names.values()):
                        holders.add(made.__name__)
                    if {"row", "column", "value"} <= names.keys():
                        placed.add(made)
    assert placed == {PublishedNumber}
    assert holders == {Judged.__name__, "Cell"}
    former = re.compile(r"\b(Reported|Known|Shown)(Number|Cell)\b|\bVerification\b")
    assert [path for path in CODE if former.search(path.read_text(encoding="utf-8"))] == []
