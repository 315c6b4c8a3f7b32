"""Names and files of any content: a value or a one-line error, and no file written outside."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from harness.data.sts import (
    SICK_COLUMNS,
    ScoredPair,
    SickRow,
    StsbRow,
    read_pairs_jsonl,
    read_senteval_sts,
    read_sick,
    read_stsb,
)
from harness.errors import InputError
from harness.io.declarations import folder_in
from harness.io.names import check_name, check_relative_path, check_table_key
from harness.io.outputs import check_addition, check_file, check_folder, new_folder
from harness.paths import RUN_RECORD
from tests.faults.trees import tree

MANY = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
NAME = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)
PARTS = st.lists(st.one_of(NAME, st.sampled_from(["..", ".", "", "note.md", "mine", "x" * 300])), max_size=5)


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a note, a user's folder, and a current folder below."""
    (tmp_path / "here/mine").mkdir(parents=True)
    (tmp_path / "here/note.md").write_text("mine")
    (tmp_path / "here/mine/thesis.tex").write_text("mine")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


@MANY
@given(parts=PARTS)
@example(parts=["..", "here"])
@example(parts=["mine"])
@example(parts=["note.md", "x"])
def test_a_path_of_any_name_is_checked_without_a_change(sandbox: Path, parts: list[str]) -> None:
    before = tree(sandbox)
    path = Path(*parts)
    if path.is_absolute():
        path = Path(".", *path.parts[1:])
    for check in (partial(check_folder, record=RUN_RECORD), check_file, check_addition):
        with suppress(InputError):
            check(path)
    assert tree(sandbox) == before


@MANY
@given(name=NAME)
@example(name="mine")
@example(name="note.md")
def test_writing_under_any_name_changes_no_other_file(sandbox: Path, name: str) -> None:
    before = tree(sandbox)
    path = Path(name.replace("/", "_"))
    try:
        with new_folder(path, RUN_RECORD) as part:
            (part / "config.json").write_text("{}")
    except InputError:
        assert tree(sandbox) == before
        return
    new = {key: value for key, value in tree(sandbox).items() if key not in before}
    assert new == {f"here/{path}": None, f"here/{path}/config.json": b"{}", f"here/{path}/{RUN_RECORD}": ANY}
    shutil.rmtree(path)
    assert tree(sandbox) == before


NAMES = st.one_of(
    st.text(max_size=200),
    st.text(st.sampled_from("ab0-_./\\~A \0"), max_size=12),
    st.sampled_from(["..", ".", "", "a/../../b", "/etc", "a" * 161, "con", "a\n"]),
)


@MANY
@given(name=NAMES)
@example(name="../../../../x")
def test_a_name_that_is_accepted_stays_in_its_folder(name: str) -> None:
    """Each check accepts the name or raises ValueError; an accepted name is a path below the folder."""
    checks = (check_name, check_table_key, check_relative_path, folder_in("data").func)
    for check in checks:
        try:
            taken = check(name)
        except ValueError:
            continue
        parts = Path(taken).parts
        assert taken == name
        assert not Path(taken).is_absolute()
        assert ".." not in parts
        assert "\0" not in taken
        assert check is check_relative_path or (taken == taken.lower() and len(parts) == 1 + taken.count("/"))


def subsets(path: Path) -> list[ScoredPair]:
    """Returns the pairs of `path` as the input of a subset whose gold file has the same bytes."""
    folder = path.parent / "year"
    folder.mkdir(exist_ok=True)
    for kind in ("input", "gs"):
        (folder / f"STS.{kind}.x.txt").write_bytes(path.read_bytes())
    return read_senteval_sts(folder)["x"]


LINE = st.lists(
    st.one_of(st.binary(max_size=12), st.sampled_from([b"3.2", b"nan", b"1e99", b"-0.0", b""])), max_size=9
)
CONTENT = st.one_of(
    st.binary(max_size=200), st.lists(LINE, max_size=4).map(lambda x: b"\n".join(map(b"\t".join, x)))
)


SICK_LINES = "\t".join(SICK_COLUMNS).encode() + b"\na\tb\t4.5\tNEUTRAL\n"


@pytest.mark.parametrize("read", [read_stsb, read_sick, read_pairs_jsonl, subsets])
@MANY
@given(content=CONTENT)
@example(content=b"")
@example(content=b"a\tb\tc\td\t5.1\te\tf\n")
@example(content=b"a\tb\tc\td\t5.0\te\tf\n")
@example(content=b"a\tb\tc\td\t-0.1\te\tf\n")
@example(content=SICK_LINES)
@example(content=b'{"sentence1": "a", "sentence2": "b", "score": 0.5}')
@example(content=b"0.5\t\n")
@example(content=b'{"sentence1": "a", "sentence2": "b", "score": true}')
@example(content=b"[" * 10_000)
def test_bytes_of_any_sort_are_pairs_or_one_line(
    tmp_path: Path, content: bytes, read: Callable[[Path], list[Any]]
) -> None:
    """One example is read by each reader."""
    path = tmp_path / "file"
    path.write_bytes(content)
    rows: list[Any] = []
    refused = ""
    try:
        rows = read(path)
    except InputError as error:
        refused = str(error)
    assert len(refused.splitlines()) <= 1
    for row in rows:
        pair = row.pair if isinstance(row, StsbRow | SickRow) else row
        assert isinstance(pair, ScoredPair)
        assert 0 <= pair.score <= 5
        assert isinstance(pair.first, str)
        assert isinstance(pair.second, str)


SENTENCE = st.text(
    st.characters(exclude_characters="\t\r\n", exclude_categories=["Cs", "Cc", "Zs"]), min_size=1
)
PAIR = st.tuples(SENTENCE, SENTENCE, st.decimals(0, 5, places=3))


@MANY
@given(pairs=st.lists(PAIR, min_size=1, max_size=5))
def test_pairs_that_were_written_are_read_back(tmp_path: Path, pairs: list[tuple[str, str, Any]]) -> None:
    path = tmp_path / "sts.csv"
    lines = [f"genre\tfile\tyear\t0\t{score}\t{first}\t{second}\n" for first, second, score in pairs]
    path.write_text("".join(lines), encoding="utf-8", newline="")
    actual = [tuple(row.pair) for row in read_stsb(path)]
    assert actual == [(first.strip(), second.strip(), float(score)) for first, second, score in pairs]
