"""Content shared by pages: the fingerprint of the results, which only the overview states."""

import copy
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from operator import getitem
from typing import Any

import pytest

from harness.evidence.schema import ResultFile
from harness.report.assembly.content import digest_of_results
from harness.report.pages.content import Report
from harness.report.pages.render import render_pages
from harness.report.pages.small import pages
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report.example_report import make_leaderboard, make_runs
from tests.harness.report.made_results import result
from tests.harness.report.shown import show
from tests.support.results import raw_result


def test_the_fingerprint_is_that_of_the_results_in_any_order() -> None:
    first, second = result("a", 0, {("STSB", "all"): 0.5}), result("a", 1, {("STSB", "all"): 0.5})
    digest = digest_of_results([first, second])
    assert digest_of_results([second, first]) == digest
    assert (
        len(
            {
                digest,
                digest_of_results([first]),
                digest_of_results([first, result("a", 1, {("STSB", "all"): 0.6})]),
            }
        )
        == 3
    )


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yields the place of each value of a JSON document."""
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    )
    if entries is None:
        yield place
    else:
        for key, entry in entries:
            yield from leaves(entry, (*place, key))


FULL = raw_result(code_sha256="0" * 64, arithmetic="portable")
OTHERS: dict[str, Any] = {"selection": "last", "text": "raw", "git_dirty": True}
"""Values for fields that take certain ones."""


@pytest.mark.parametrize("place", [place for place in leaves(FULL) if place != ("schema",)], ids=str)
def test_every_field_of_a_result_is_part_of_the_fingerprint(place: tuple[Any, ...]) -> None:
    changed = copy.deepcopy(FULL)
    *parents, name = place
    holder = reduce(getitem, parents, changed)
    value = holder[name]
    holder[name] = OTHERS.get(
        name, f"{value}x" if isinstance(value, str) else value / 2 if isinstance(value, float) else value + 1
    )
    first, second = map(ResultFile.model_validate, (FULL, changed))
    assert digest_of_results([first]) != digest_of_results([second])


def test_the_fields_that_are_changed_are_all_fields_of_a_result() -> None:
    raw = ResultFile.model_validate(FULL).model_dump(by_alias=True)
    assert set(leaves(raw)) == set(leaves(FULL))


def test_another_code_or_fingerprint_of_results_changes_the_overview_alone() -> None:
    given = Report("T", "abc", runs=make_runs(), tables=(make_leaderboard(),))
    before = render_pages(replace(given, results_digest="d1"))
    after = render_pages(replace(given, results_digest="d2", code="other"))
    assert [name for name in before if before[name] != after[name]] == ["index.html"]
    assert len(before) > 5


def test_included_tables_that_no_run_fills_are_named_with_the_command_that_runs_them() -> None:
    table = Table("own/table", "Own: a title", (Column("a", "A"),), (TableRow("r", "R", (Cell(),)),))
    (_, own) = pages(Report("T", "c", own_tables=(table,)))
    text = show(own, Report("T", "c", own_tables=(table,)))
    assert "No run of the present plan fills its 1 rows. To run it: <code>sentbench plan own/table" in text
