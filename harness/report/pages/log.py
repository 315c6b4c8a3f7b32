"""The reproduction log of a paper: from which code and on what its numbers were run, and the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.facts.verdicts import VERDICTS
from harness.report.runs import RunDetail
from harness.report.tables.model import Table


@dataclass(frozen=True)
class LogEntry:
    """Runs of one system from one state of the code on one device.

    result: the verdicts of the cells that they fill, in words.
    """

    code: str
    device: str
    system: str
    seeds: tuple[int, ...]
    result: str


def log_of(tables: Sequence[Table], runs: Mapping[str, RunDetail]) -> list[LogEntry]:
    """Returns the log of the runs that fill a cell of the tables, in the order of these."""
    groups: dict[tuple[str, str, str], dict[str, RunDetail]] = {}
    named = (key for table in tables for row in table.rows for cell in row.cells for key in cell.runs)
    for key in dict.fromkeys(named):
        if key in runs:
            run = runs[key]
            group = (run.made_from, run.result.provenance.device, run.system)
            groups.setdefault(group, {})[key] = run
    return [
        LogEntry(*group, tuple(sorted(run.about.seed for run in found.values())), _result(tables, set(found)))
        for group, found in groups.items()
    ]


def _result(tables: Sequence[Table], keys: set[str]) -> str:
    """Returns how many of the cells that the runs fill have which verdict."""
    cells = [c for table in tables for row in table.rows for c in row.cells if keys & set(c.runs)]
    found = Counter(cell.verdict for cell in cells if cell.verdict)
    words = [f"{found[verdict]} {verdict}" for verdict in VERDICTS if found[verdict]]
    return ", ".join(words) or f"{len(cells)} cells, nothing reported"
