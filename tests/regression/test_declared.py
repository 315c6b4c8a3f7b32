"""Declared values change only together with their digests; a column has the key of its task."""

from pathlib import Path

import pytest
import yaml

from tests.regression.declared import PLACES, ROOT, changes, digest_of, files, known, present, values_of

COMMAND = "look at the source, then run `python -m tests.regression.declared`"
TEXT = """
# a comment
table1: {scale: 100, note: "words", columns: [STS12, STS13], rows: [{key: a, values: [1.5, 2.0]}]}
"""


def test_no_declared_value_differs_from_its_digest() -> None:
    assert present() == known(), COMMAND


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1.5", "1.6"),
        ("[1.5, 2.0]", "[2.0, 1.5]"),
        ("STS12, STS13", "STS13, STS12"),
        ("key: a", "key: b"),
        ("scale: 100, ", ""),
        ("scale: 100", "scale: 100, decimals: 2"),
        ("[1.5, 2.0]", "[1.5]"),
        ("1.5", "'1.5'"),
    ],
)
def test_a_changed_value_changes_the_digest_and_is_printed(old: str, new: str) -> None:
    changed = TEXT.replace(old, new)
    assert digest_of(changed) != digest_of(TEXT)
    assert changes("a.yaml", TEXT, changed)


CODE = """
LIMIT = 4 * OTHER
KINDS = frozenset({'bert', 'mpnet'})
FORMS = ('a', OTHER)
class Config:
    rate: float = Field(0.5, gt=0)
    form: Literal['x', 'y'] = 'x'
    name: str = Field(description='some words')
WORD = 'a'
"""


@pytest.mark.parametrize(
    ("old", "new", "printed"),
    [
        ("4 * OTHER", "OTHER * 1", 'LIMIT: "LIMIT = 4 * OTHER" -> "LIMIT = OTHER * 1"'),
        ("gt=0", "ge=0", "Config.rate"),
        ("0.5", "0.25", "Config.rate"),
        ("'bert', 'mpnet'", "'bert'", "KINDS"),
        ("'a', OTHER", "OTHER, 'a'", "FORMS"),
        ("= 'x'", "= 'y'", "Config.form"),
        ("['x', 'y']", "['x', 'z']", "Config.form"),
    ],
)
def test_a_number_of_the_code_changes_the_digest_and_is_printed(old: str, new: str, printed: str) -> None:
    changed = CODE.replace(old, new)
    assert digest_of(changed, "a.py") != digest_of(CODE, "a.py")
    (line,) = changes("a.py", CODE, changed)
    assert printed.replace('"', "") in line.replace('"', "")


def test_lines_of_code_without_a_number_or_a_list_of_names_do_not_count() -> None:
    assert values_of(CODE, "a.py").keys() == {"LIMIT", "KINDS", "FORMS", "Config.rate", "Config.form"}
    assert values_of("A = ('a text', 'b')\nB = [c, d]\nC = {'x': 'some words'}\nD = ()", "a.py") == {}


@pytest.mark.parametrize(
    ("old", "new"), [("words", "others"), ("a comment", "another"), ("{scale: 100", "{ scale: 100")]
)
def test_notes_comments_and_layout_do_not_count(old: str, new: str) -> None:
    assert digest_of(TEXT.replace(old, new)) == digest_of(TEXT)


def test_the_values_of_every_place_are_read() -> None:
    for file in files():
        assert values_of((ROOT / file).read_text(encoding="utf-8"), file), file
    for place in PLACES:
        assert any(Path(file).match(place) for file in files()), f"{place}: no such file"


def test_the_key_of_a_column_is_its_task_unless_it_states_more() -> None:
    """A title, a metric or a setting of its own; a marked column has a part of its task."""
    for file in files():
        if file.startswith("leaderboards/tables/"):
            for column in yaml.safe_load((ROOT / file).read_text(encoding="utf-8")).get("columns", ()):
                if "task" in column and not {"title", "metric", "setting"} & column.keys():
                    part = column["task"].removesuffix("-part") if "mark" in column else column["task"]
                    assert column["key"] in (column["task"], part), f"{file}: {column}"
