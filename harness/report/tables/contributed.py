"""The contributed scores of one cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from harness.facts.run_choice import RunChoice
from harness.facts.spec import ColumnSpec, TableSpec
from harness.report.contributed import Contributed
from harness.report.tables.cells import Yardstick
from harness.report.tables.seeds import ScoreIndex, SeedScore
from harness.results.contributions import Contribution, Level


def contributed_scores(
    spec: TableSpec,
    column: ColumnSpec,
    choice: RunChoice,
    against: Yardstick,
    index: ScoreIndex,
    contributions: Mapping[str, Contribution],
) -> tuple[Contributed, ...]:
    """Returns what others contributed of a cell, by how far it was checked: as far as each of its parts."""
    levels: tuple[Level, ...] = get_args(Level)
    groups: dict[Level, list[SeedScore]] = {level: [] for level in reversed(levels)}
    parts = _parts(spec, column)
    for seed in index.seeds(spec, column, choice):
        checked = contributions[seed.key].checked
        found = {checked.level(part.task or "", part.selection) for part in parts}
        groups[next(level for level in levels if level in found)].append(seed)
    by = {key: one.by for key, one in contributions.items()}
    return tuple(against.contributed(level, seeds, by) for level, seeds in groups.items() if seeds)


def _parts(spec: TableSpec, column: ColumnSpec) -> list[ColumnSpec]:
    """Returns the columns of single tasks that a column is the mean of, or the column itself."""
    if not column.mean_of:
        return [column]
    return [part for key in column.mean_of for part in _parts(spec, spec.column(key))]
