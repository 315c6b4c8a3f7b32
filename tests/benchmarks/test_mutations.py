"""The planted bugs: each has its place in the code, and those that escape are first in the report."""

from benchmarks.mutations import read_mutations


def test_every_planted_bug_has_one_place_in_the_code_and_changes_it() -> None:
    """At least sixty, five for each method that the small plan trains or fits, none twice in a group."""
    groups = read_mutations()
    assert sum(map(len, groups.values())) >= 60
    assert all(len(bugs) >= 5 for bugs in groups.values())
    for bugs in groups.values():
        names = [bug.bug for bug in bugs]
        assert len(set(names)) == len(names)
        assert all(bug.before != bug.after for bug in bugs)
