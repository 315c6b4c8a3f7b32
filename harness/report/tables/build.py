"""`build_table`: a spec, the scores and the published numbers become one table."""

from collections.abc import Sequence
from dataclasses import replace

from harness.evidence.printed import PublishedRow
from harness.evidence.published import Published
from harness.evidence.spec import ColumnSpec, RowSpec, RunChoice, TableSpec, system_label
from harness.report.formats.number import Format
from harness.report.tables.cells import CellContext, build_cell, published_row
from harness.report.tables.evidence import Evidence
from harness.report.tables.model import Cell, Column, Table, TableRow
from harness.report.tables.rows import TEACHERS, TRAINED, UNTRAINED, mark_best, order_of, rank_rows, title_of

METRIC_WORDS = {
    "spearman": "Spearman",
    "pearson": "Pearson",
    "accuracy": "accuracy",
    "map": "MAP",
    "mrr": "MRR",
    "alignment": "alignment",
    "uniformity": "uniformity",
    "anisotropy": "mean cosine",
    "pairs": "pairs",
    "share": "share",
}
"""Names of the metrics of result files and of published tables."""


def build_table(spec: TableSpec, evidence: Evidence) -> Table:
    """Returns the table of a spec: our seeds and the published value in every cell, ranks and remarks.

    A cell without a run has value None; it is `wanted` if a run is planned.
    Errors: InputError if runs are ambiguous or a published row is unknown.
    """

    declared = _rows_from_runs(spec, evidence) if spec.rows_from == "runs" else spec.rows
    rows = [_build_row(spec, row, evidence) for row in declared]
    if spec.rows_from == "runs":
        order = order_of(spec, rows)
        declared, rows = [declared[index] for index in order], [rows[index] for index in order]
    ranked, notes = rank_rows(spec, declared, mark_best(spec, declared, rows), evidence.untrained)
    averages = evidence.published.table(spec.published).averages if spec.published else {}
    return Table(
        key=spec.key,
        title=spec.title,
        columns=tuple(
            Column(
                key=column.key,
                title=title_of(column),
                mark=column.mark,
                plain=column.unit == "plain",
                average=bool(column.mean_of) or (column.published or column.key) in averages,
            )
            for column in spec.columns
        ),
        rows=tuple(ranked),
        protocol=spec.protocol,
        scale=spec.scale,
        decimals=spec.decimals,
        notes=(*spec.notes, *notes),
        kind=spec.kind,
        x_title=spec.x_title,
        logs=tuple(spec.logs),
        unit=_unit(spec, evidence.published),
    )


def _unit(spec: TableSpec, published: Published) -> str:
    names = dict.fromkeys(
        column.metric for column in spec.columns if column.task is not None and column.unit == "scaled"
    )
    if not names and spec.published is not None:
        names = dict.fromkeys([published.table(spec.published).metric])
    words = [METRIC_WORDS.get(name, "") for name in names]
    return f"{', '.join(filter(None, words)) or 'values'} × {spec.scale:g}"


def _rows_from_runs(spec: TableSpec, evidence: Evidence) -> list[RowSpec]:
    runs = (result.run for result in evidence.results)
    systems = evidence.systems or {
        RunChoice(run.id, run.backbone): system_label(run.method, run.variant, run.backbone) for run in runs
    }
    rows = []
    for choice, label in systems.items():
        if spec.lists(evidence.recipes.get(choice.system)):
            group = UNTRAINED if (choice.system, choice.backbone) in evidence.untrained else TRAINED
            competes = choice.system not in spec.unranked
            group = group if competes else TEACHERS
            rows.append(RowSpec(title=label, run=str(choice), group=group, competes=competes))
    return rows


def _build_row(spec: TableSpec, row: RowSpec, evidence: Evidence) -> TableRow:
    cells = [build_cell(CellContext(spec, row, column, evidence)) for column in spec.columns]
    for index, column in enumerate(spec.columns):
        if column.mean_of and spec.statistic(row, column) in ("mean", "best-by-dev"):
            cells[index] = _with_rounded_mean(spec, column, cells, index)
    reported = published_row(spec, row.published, evidence)
    no_verdict = "; ".join(dict.fromkeys(cell.no_verdict for cell in cells if cell.no_verdict))
    judged = "no verdict from our runs" if no_verdict else ""
    notes = [row.note, f"{judged}: {no_verdict}" if no_verdict else "", reported.note if reported else ""]
    return TableRow(
        key=row.published or row.title,
        title=row.title,
        cells=tuple(cells),
        group=row.group,
        source=", ".join(filter(None, [_source(spec, reported, evidence.published), judged])),
        note="; ".join(filter(None, notes)),
        x=row.x,
        is_own=reported is not None and reported.source == "this-paper",
    )


def _source(spec: TableSpec, reported: PublishedRow | None, published: Published) -> str:
    if reported is None or spec.published is None:
        return ""
    if reported.source == "cited":
        paper = published.papers[spec.published.split("/")[0]]
        return f"cited: {paper.works[reported.work or '']}"
    return {"this-paper": "this paper", "re-run": "re-run by the authors"}[reported.source]


def _with_rounded_mean(spec: TableSpec, column: ColumnSpec, cells: Sequence[Cell], index: int) -> Cell:
    """Returns the cell with a note if the mean of the rounded cells differs from the rounded mean."""
    cell = cells[index]
    shown = {other.key: other_cell.value for other, other_cell in zip(spec.columns, cells, strict=True)}
    parts, form = [shown.get(key) for key in column.mean_of], Format(spec.scale, spec.decimals)
    known = [float(form.show(part)) for part in parts if part is not None]
    if cell.value is None or len(known) != len(parts):
        return cell
    rounded = f"{sum(known) / len(known):.{spec.decimals}f}"
    if rounded == form.show(cell.value):
        return cell
    return replace(cell, note="; ".join(filter(None, [cell.note, f"mean of the rounded cells {rounded}"])))
