"""`build_table`: a spec, the scores and the published numbers become one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from harness.report.tables.cells import Yardstick, build_cell
from harness.report.tables.model import Cell, Column, Table, TableRow
from harness.report.tables.published import KnownSpreads, Published, PublishedRow
from harness.report.tables.ranks import rank_rows
from harness.report.tables.run_choice import RunChoice, RunSystem
from harness.report.tables.seeds import ScoreIndex, index_scores
from harness.report.tables.spec import ColumnSpec, RowSpec, TableSpec
from harness.results.schema import ResultFile


@dataclass(frozen=True)
class Evidence:
    """Everything a table is built from besides its spec.

    systems: order of the rows of a table that takes its rows from the runs; by default that of
    the scores.
    """

    results: Sequence[ResultFile]
    published: Published
    spreads: KnownSpreads
    systems: Sequence[RunSystem] = ()

    @cached_property
    def index(self) -> ScoreIndex:
        """The scores by column; built once for all tables."""
        return index_scores(self.results)


def build_table(spec: TableSpec, evidence: Evidence) -> Table:
    """Returns the table of a spec: our seeds and the published value in every cell, ranks and remarks.

    A cell that no run fills has value None and the verdict `missing`, or `cited` if no run is meant to.
    Errors: InputError if runs are ambiguous or a published row is unknown.
    """
    declared = _rows_from_runs(spec, evidence) if spec.rows_from == "runs" else spec.rows
    rows = [_build_row(spec, row, evidence) for row in declared]
    return Table(
        key=spec.key,
        title=spec.title,
        columns=tuple(_shown_column(column) for column in spec.columns),
        rows=tuple(rank_rows(spec, declared, rows)),
        protocol=spec.protocol,
        scale=spec.scale,
        decimals=spec.decimals,
        notes=tuple(spec.notes),
        kind=spec.kind,
        x_title=spec.x_title,
        logs=tuple(spec.logs),
    )


def _shown_column(column: ColumnSpec) -> Column:
    return Column(column.key, column.title or column.key, column.mark, plain=column.unit == "plain")


def _rows_from_runs(spec: TableSpec, evidence: Evidence) -> list[RowSpec]:
    systems = dict.fromkeys(evidence.systems) or evidence.index.systems
    return [
        RowSpec(
            title=system.label,
            run=str(system.choice),
            competes=system.choice.system not in spec.unranked,
        )
        for system in systems
    ]


def _build_row(spec: TableSpec, row: RowSpec, evidence: Evidence) -> TableRow:
    cells = [_build_cell(spec, row, column, evidence) for column in spec.columns]
    for index, column in enumerate(spec.columns):
        if column.mean_of and spec.statistic(row, column) in ("mean", "best-by-dev"):
            cells[index] = _with_rounded_mean(spec, column, cells, index)
    printed = _published_row(spec, row, None, evidence.published)
    return TableRow(
        key=row.published or row.title,
        title=row.title,
        cells=tuple(cells),
        group=row.group,
        source=_source(spec, printed, evidence.published),
        note="; ".join(filter(None, [row.note, printed.note if printed else ""])),
        x=row.x,
    )


def _build_cell(spec: TableSpec, row: RowSpec, column: ColumnSpec, evidence: Evidence) -> Cell:
    choice = spec.choice(row, column)
    printed = _published_row(spec, row, column, evidence.published)
    against = Yardstick(
        published=None,
        remark="",
        known_sd=_known_sd(spec, row, column, choice, evidence.spreads),
        scale=spec.scale,
        decimals=spec.decimals,
    )
    if printed is not None and spec.published is not None:
        table = evidence.published.table(spec.published)
        name = column.published or column.key
        if name in table.columns:
            against = replace(
                against, published=table.compared(printed, name), remark=table.remark(printed, name)
            )
    if choice is None:
        return Cell(
            published=against.published,
            verdict="blank" if against.published is None else "cited",
            note=against.remark,
        )
    return build_cell(evidence.index.seeds(spec, column, choice), spec.statistic(row, column), against)


def _published_row(
    spec: TableSpec, row: RowSpec, column: ColumnSpec | None, published: Published
) -> PublishedRow | None:
    """Returns the published row of a table row, or of one of its cells where the cell names another."""
    cell = row.cells.get(column.key) if column else None
    key = (cell.published if cell else None) or row.published
    if key is None or spec.published is None:
        return None
    return published.row(spec.published, key)


def _known_sd(
    spec: TableSpec, row: RowSpec, column: ColumnSpec, choice: RunChoice | None, spreads: KnownSpreads
) -> float | None:
    """Returns the floor for the spread in display units: 0 for a deterministic row, None if unknown."""
    if row.deterministic:
        return 0.0
    metric = spec.column(column.mean_of[0]).metric if column.mean_of else column.metric
    floor = spreads.floor(choice.backbone, metric) if choice else None
    return None if floor is None else floor * spec.scale


def _source(spec: TableSpec, printed: PublishedRow | None, published: Published) -> str:
    """Returns where a published row comes from, in words."""
    if printed is None or spec.published is None:
        return ""
    if printed.source == "cited":
        paper = published.papers[spec.published.split("/")[0]]
        return f"cited: {paper.works[printed.work or '']}"
    return {"this-paper": "this paper", "re-run": "re-run by the authors"}[printed.source]


def _with_rounded_mean(spec: TableSpec, column: ColumnSpec, cells: Sequence[Cell], index: int) -> Cell:
    """Returns the cell with a note where the mean of the printed cells prints otherwise than the mean."""
    cell = cells[index]
    shown = {other.key: other_cell.value for other, other_cell in zip(spec.columns, cells, strict=True)}
    parts = [shown.get(key) for key in column.mean_of]
    known = [round_printed(part, spec.decimals) for part in parts if part is not None]
    if cell.value is None or len(known) != len(parts):
        return cell
    rounded = f"{sum(known) / len(known):.{spec.decimals}f}"
    if rounded == f"{cell.value:.{spec.decimals}f}":
        return cell
    return replace(cell, note="; ".join(filter(None, [cell.note, f"mean of the rounded cells {rounded}"])))


def round_printed(value: float, decimals: int) -> float:
    """Returns the number that a reader sees."""
    return float(f"{value:.{decimals}f}")
