"""Words of the glossary in file names and public names: each stands for its one meaning, in its rooms."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOMES: dict[str, tuple[str, ...]] = {
    "place": ("harness/facts/statistics.py", "methods/core/"),
    "view": ("methods/", "harness/rewriting/"),
    "paraphrase": (),
    "elsewhere": ("harness/report/tables/elsewhere.py",),
    "mend": (),
    "told": (),
}
"""Word -> where public names may have it; in `methods/core`, a place is where a step stands in its epoch."""
CATCH_ALL = re.compile(r"(^|_)(utils?|misc|helpers?|common)(_|$)")


def modules() -> list[Path]:
    found = sorted(
        path for room in ("harness", "methods", "sentbench") for path in (ROOT / room).rglob("*.py")
    )
    assert len(found) > 200
    return found


def public_names(path: Path) -> Iterator[str]:
    """Yields the file's name and those of its public functions and classes."""
    yield path.stem
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def words_of(name: str) -> set[str]:
    """Returns the words of a name in either style, without the s of a plural."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_")
    return {part.removesuffix("s") for part in parts}


@pytest.mark.parametrize("word", HOMES)
def test_a_word_of_the_glossary_names_one_thing(word: str) -> None:
    wrong = []
    for path in modules():
        home = path.relative_to(ROOT).as_posix()
        if not home.startswith(HOMES[word] or ("nowhere",)):
            wrong += [f"{home}: {name}" for name in public_names(path) if word in words_of(name)]
    assert not wrong


def test_no_file_has_a_name_that_says_nothing() -> None:
    assert not [path for path in modules() if CATCH_ALL.search(path.stem)]


def test_words_are_taken_out_of_both_styles() -> None:
    assert words_of("CrossView") == {"cros", "view"}
    assert words_of("rewritten_views") == {"rewritten", "view"}
    assert CATCH_ALL.search("test_helpers")
    assert not CATCH_ALL.search("commonality")


def test_the_glossary_explains_every_word_that_is_watched_and_used() -> None:
    glossary = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("## Glossary")[1].split("## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", glossary, flags=re.M)[2:]
    assert len(rows) >= 20
    words = {word.strip() for row, _ in rows for word in row.split(",")}
    assert {"system", "view", "place", "rewrite", "spread", "selection", "cost"} <= words
