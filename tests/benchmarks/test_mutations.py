"""The planted bugs: each has its place in the code, and those that escape are first in the report."""

from __future__ import annotations

from pathlib import Path

from benchmarks.mutations import Mutation, as_markdown, read_mutations


def test_every_planted_bug_has_one_place_in_the_code_and_changes_it() -> None:
    """At least sixty, five for each method that the small plan trains or fits, none twice in a group."""
    groups = read_mutations()
    assert sum(map(len, groups.values())) >= 60
    assert all(len(bugs) >= 5 for bugs in groups.values())
    for bugs in groups.values():
        names = [bug.bug for bug in bugs]
        assert len(set(names)) == len(names)
        assert all(bug.before != bug.after for bug in bugs)


def test_bugs_that_escape_are_first_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("1\n2\na\nb\n")
    place = {"file": str(tmp_path / "m.py"), "after": "c"}
    bugs = [Mutation(bug="x", before="a", **place), Mutation(bug="y", before="b", why="small", **place)]
    text = as_markdown({"g": bugs}, {"g": ["a|b", ""]}).replace(f"{tmp_path}/", "")
    assert ": 1 of 2\nchange" in text
    assert text.splitlines()[-2:] == [
        "| m.py:4 | g: y | none, it escapes: small |",
        "| m.py:3 | g: x | a/b |",
    ]
