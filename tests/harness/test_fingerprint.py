"""Comments never change a fingerprint, real edits always do."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import InputError
from harness.fingerprint import fingerprint

CODE = '"""What it is."""\n\nRATE = 0.1\n\n\ndef double(x):\n    """Twice."""\n    return 2 * x\n'


def mark(folder: Path, code: str, name: str = "a.py") -> str:
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*"):
        old.unlink()
    (folder / name).write_text(code)
    return fingerprint([folder])


@pytest.mark.parametrize(
    "edited",
    [
        "# a comment\n" + CODE,
        CODE.replace("What it is", "Something else"),
        CODE.replace('    """Twice."""\n', ""),
        CODE.replace("RATE = 0.1\n", 'RATE = 0.1\n"""Text under a constant."""\n'),
        CODE.replace("2 * x", "2*x  # twice"),
        CODE.replace("\n\n\n", "\n\n\n\n\n"),
    ],
)
def test_writing_differently_keeps_the_fingerprint(tmp_path: Path, edited: str) -> None:
    assert mark(tmp_path / "a", edited) == mark(tmp_path / "a", CODE)


@pytest.mark.parametrize(
    "edited",
    [
        CODE.replace("0.1", "0.2"),
        CODE.replace("2 * x", "x * 2"),
        CODE.replace("double", "twice"),
        CODE + "x = 'text'\n",
    ],
)
def test_saying_something_else_changes_it(tmp_path: Path, edited: str) -> None:
    assert mark(tmp_path / "a", edited) != mark(tmp_path / "a", CODE)


def test_a_renamed_module_changes_it_and_a_readme_does_not(tmp_path: Path) -> None:
    before = mark(tmp_path / "a", CODE)
    assert mark(tmp_path / "a", CODE, "b.py") != before
    mark(tmp_path / "a", CODE)
    (tmp_path / "a/README.md").write_text("words")
    assert fingerprint([tmp_path / "a"]) == before


def test_code_that_does_not_parse_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.py:1: .*expected Python code"):
        mark(tmp_path / "a", "def (:\n")
    with pytest.raises(InputError, match="no such folder"):
        fingerprint([tmp_path / "nothing"])
