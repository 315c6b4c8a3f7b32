"""The planted bugs: each has its place in the code, and what it does is noticed in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import mutations
from benchmarks.mutants import REFERENCE, chosen_tests
from benchmarks.mutants import as_markdown as mutants_as_markdown
from benchmarks.mutations import (
    CHOSEN,
    GENERATED,
    Mutation,
    Outcome,
    as_markdown,
    forked,
    read_mutations,
    systems_of,
    write_section,
)
from harness.errors import InputError


def test_every_planted_bug_has_one_place_in_the_code_and_changes_it() -> None:
    """At least sixty, five for each method that the small plan trains or fits, none twice in a group."""
    groups = read_mutations()
    assert sum(map(len, groups.values())) >= 60
    assert all(len(bugs) >= 5 for group, bugs in groups.items() if group != "statistics")
    for group, bugs in groups.items():
        names = [bug.bug for bug in bugs]
        assert len(set(names)) == len(names)
        assert all(bug.before != bug.after and systems_of(group, bug) for bug in bugs)
    with pytest.raises(InputError, match="no group 'simce'"):
        read_mutations(["simce"])


def test_a_process_tells_what_differs_and_one_that_stops_is_noticed(tmp_path: Path) -> None:
    assert forked(tmp_path, lambda: ["a: loss", "more"]) == Outcome(numbers=2, line="a: loss")
    assert forked(tmp_path, lambda: 1 / 0).line == "stops: ZeroDivisionError: division by zero"  # type: ignore
    assert forked(tmp_path, list) == Outcome(numbers=0, line="")


def test_chosen_and_generated_bugs_have_a_section_each_where_those_that_escape_are_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutations, "REPORT", tmp_path / "mutations.md")
    (tmp_path / "m.py").write_text("1\n2\na\nb\n")
    place = {"file": str(tmp_path / "m.py"), "after": "c"}
    bugs = {
        ("g", "x"): Mutation(bug="x", before="a", **place),
        ("g", "y"): Mutation(bug="y", before="b", why="small", **place),
    }
    found = {("g", "x"): Outcome(numbers=3, line="a|b"), ("g", "y"): Outcome(numbers=0, line="")}
    change = {"file": "n.py", "line": 7, "before": "a + 1", "after": "a - 1"}
    mutants = {
        "1": {**change, "noticed": "test_a: assert 1 == 2"},
        "2": {**change, "noticed": ""},
        "3": {**change, "noticed": "", "why": "equal"},
    }
    for _ in range(2):
        write_section(GENERATED, mutants_as_markdown(mutants, 1234))
        write_section(CHOSEN, as_markdown(found, bugs))
    text = (tmp_path / "mutations.md").read_text().replace(f"{tmp_path}/", "")
    assert "1 of 2 bugs" in text
    assert "of 1,234 changes" in text
    assert "500 are sampled; 3 of these have run" in text
    assert "notice 1; 1 others are explained" in text
    assert [line for line in text.splitlines() if ".py:" in line] == [
        "| m.py:4 | g: y | none, it escapes: small |",
        "| m.py:3 | g: x | a/b |",
        "| n.py:7 | `a + 1` → `a - 1` | none, it escapes: not known why |",
        "| n.py:7 | `a + 1` → `a - 1` | none, it escapes: equal |",
        "| n.py:7 | `a + 1` → `a - 1` | test_a: assert 1 == 2 |",
    ]


def test_the_chosen_tests_a_module_are_those_that_import_it_and_those_of_its_folder() -> None:
    """Nearest first; what training imports has the reference runs as well."""
    found = chosen_tests(Path("harness/tasks/sts.py"), Path())
    assert found[0] == "tests/harness/tasks/test_sts.py"
    assert {"tests/harness/assembly/test_pairs.py", "tests/harness/tasks/test_transfer.py"} <= {*found}
    assert found[-1] == REFERENCE
    found = chosen_tests(Path("harness/facts/bootstrap.py"), Path())
    assert {"tests/harness/report/test_bootstrap.py", "tests/harness/assembly/test_pairs.py"} <= {*found}
    assert REFERENCE not in found
    assert "tests/harness/stages/test_teacher.py" in chosen_tests(Path("harness/compute/encoders.py"), Path())
