"""The planted bugs: each has its place in the code, and what it does is noticed in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import mutations
from benchmarks.mutations import Outcome, as_markdown, outcome, probes_of, read_mutations
from harness.errors import InputError


def test_every_planted_bug_has_one_place_in_the_code_and_changes_it() -> None:
    """At least sixty, five for each method that the small plan trains or fits, none twice in a group."""
    groups = read_mutations()
    assert sum(map(len, groups.values())) >= 60
    assert all(len(bugs) >= 5 for group, bugs in groups.items() if group != "statistics")
    for group, bugs in groups.items():
        names = [bug.bug for bug in bugs]
        assert len(set(names)) == len(names)
        assert all(bug.before != bug.after and probes_of(group, bug) for bug in bugs)
    with pytest.raises(InputError, match="no group 'simce'"):
        read_mutations(["simce"])


def test_a_process_tells_what_differs_and_one_that_stops_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutations, "_differences", lambda systems: [f"{systems[0]}: loss", "more"])
    assert outcome(tmp_path, ["a"]) == Outcome(numbers=2, line="a: loss")
    monkeypatch.setattr(mutations, "_differences", lambda systems: 1 / 0)
    assert outcome(tmp_path, ["a"]).line == "stops: ZeroDivisionError: division by zero"
    monkeypatch.setattr(mutations, "_differences", lambda systems: [])
    assert outcome(tmp_path, ["a"]) == Outcome(numbers=0, line="")


def test_what_escapes_stands_first_in_the_table() -> None:
    found = {("a", "x"): Outcome(numbers=3, line="a|b"), ("a", "y"): Outcome(numbers=0, line="")}
    lines = as_markdown(found, {("a", "x"): "", ("a", "y"): "too small"}).splitlines()
    assert "1 of 2 planted bugs" in lines[2]
    assert lines[-2:] == ["| a | y | none, it escapes: too small |", "| a | x | a/b |"]
