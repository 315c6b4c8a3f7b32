"""The order of the rows that come from the runs: the best first, what does not compete set apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.facts.run_choice import RunChoice
from harness.facts.spec import TableSpec
from harness.report.tables.model import TableRow
from harness.results.schema import ResultFile

TRAINED, UNTRAINED, TEACHERS = "Trained", "Without training", "Teachers: an upper bound, not ranked"
GROUPS = (TRAINED, UNTRAINED, TEACHERS)
"""The groups of such a table, in their order."""


def untrained(results: Sequence[ResultFile]) -> set[tuple[str, str]]:
    """Returns the systems with their backbones of which no run took a training step."""
    steps: dict[tuple[str, str], int] = {}
    for result in results:
        key = (result.run.id, result.run.backbone)
        steps[key] = max(steps.get(key, 0), result.selection.last_step)
    return {key for key, last in steps.items() if last == 0}


def group_of(spec: TableSpec, choice: RunChoice, without: set[tuple[str, str]]) -> str:
    """Returns the group of a system in a table; `without`: those that took no training step."""
    if choice.system in spec.unranked:
        return TEACHERS
    return UNTRAINED if (choice.system, choice.backbone) in without else TRAINED


def order_of(spec: TableSpec, rows: Sequence[TableRow]) -> list[int]:
    """Returns the positions of the rows by group, and within it by the column `order_by`, best first.

    Rows without a value there stand last; equal ones, and all without such a column, keep their order.
    """
    keys = [column.key for column in spec.columns]
    groups: Mapping[str, int] = {name: index for index, name in enumerate(GROUPS)}
    if not spec.order_by:
        return sorted(range(len(rows)), key=lambda index: groups[rows[index].group])
    column = keys.index(spec.order_by)
    sign = -1 if spec.columns[column].better == "higher" else 1

    def key(index: int) -> tuple[int, bool, float]:
        value = rows[index].cells[column].value
        return groups[rows[index].group], value is None, 0.0 if value is None else sign * value

    return sorted(range(len(rows)), key=key)
