"""`build_table`: a spec, the scores and the published numbers become one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from harness.errors import InputError
from harness.facts.evidence.ledger import Ledger
from harness.facts.evidence.others import (
    backbone_sd,
    known_sd,
    measurable,
    nothing_known,
    others_of,
    reported_number,
)
from harness.facts.price import NO_PRICE, Price
from harness.facts.published import Published, PublishedRow
from harness.facts.run_choice import RunChoice, RunSystem
from harness.facts.spec import ColumnSpec, RowSpec, TableSpec
from harness.facts.statistics import KnownSd
from harness.report.formats.text import TASKS
from harness.report.tables.cells import Yardstick, build_cell, contributed_scores, setting_cell
from harness.report.tables.model import Cell, Column, Table, TableRow
from harness.report.tables.rows import group_of, order_of, rank_rows, untrained
from harness.report.tables.seeds import ScoreIndex, index_scores
from harness.results.contributions import Contribution
from harness.results.schema import ResultFile

EXACT = KnownSd(0.0, 0)
"""The standard deviation of a deterministic system."""
METRICS = {
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
"""What the metrics of result files and of published tables are called."""


@dataclass(frozen=True)
class Evidence:
    """Everything a table is built from besides its spec.

    ledger: what others measured. systems: order of the rows of a table that takes its rows from the runs; by
    default that of the scores. prices: what a seed takes, by system and backbone. contributed: what others
    ran, by the key of the run; `results` are ours alone. set_aside: why files of theirs are not shown.
    recipes: the recipe that declares a system, by the system's id. settings: `config`, `train` and
    `no_verdict` of every declared system.
    """

    results: Sequence[ResultFile]
    published: Published
    ledger: Ledger
    systems: Sequence[RunSystem] = ()
    prices: Mapping[tuple[str, str], Price] = field(default_factory=dict)
    contributed: Mapping[str, Contribution] = field(default_factory=dict)
    set_aside: Sequence[str] = ()
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    recipes: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def index(self) -> ScoreIndex:
        """The scores by column; built once for all tables."""
        return index_scores(self.results)

    @cached_property
    def untrained(self) -> set[tuple[str, str]]:
        """The systems with their backbones of which no run took a training step."""
        return untrained(self.results)

    @cached_property
    def contributed_index(self) -> ScoreIndex:
        """The contributed scores by column."""
        return index_scores(one.result for one in self.contributed.values())


def build_table(spec: TableSpec, evidence: Evidence) -> Table:
    """Returns the table of a spec: our seeds and the published value in every cell, ranks and remarks.

    A cell that no run fills has value None; it is `wanted` if a run is meant to.
    Errors: InputError if runs are ambiguous or a published row is unknown.
    """

    def exact(row: RowSpec, column: ColumnSpec) -> bool:
        choice = spec.choice(row, column)
        trained = choice is None or (choice.system, choice.backbone) not in evidence.untrained
        return row.deterministic or not trained

    declared = _rows_from_runs(spec, evidence) if spec.rows_from == "runs" else spec.rows
    rows = [_build_row(spec, row, evidence) for row in declared]
    if spec.rows_from == "runs":
        order = order_of(spec, rows)
        declared, rows = [declared[index] for index in order], [rows[index] for index in order]
    return Table(
        key=spec.key,
        title=spec.title,
        columns=tuple(_shown_column(column) for column in spec.columns),
        rows=tuple(rank_rows(spec, declared, rows, exact)),
        protocol=spec.protocol,
        scale=spec.scale,
        decimals=spec.decimals,
        notes=tuple(spec.notes),
        kind=spec.kind,
        x_title=spec.x_title,
        logs=tuple(spec.logs),
        unit=_unit(spec, evidence.published),
    )


def _unit(spec: TableSpec, published: Published) -> str:
    """Returns what the scores of a table are, with their scale."""
    names = dict.fromkeys(
        column.metric for column in spec.columns if column.task is not None and column.unit == "scaled"
    )
    if not names and spec.published is not None:
        names = dict.fromkeys([published.table(spec.published).metric])
    words = [METRICS.get(name, "") for name in names]
    return f"{', '.join(filter(None, words)) or 'values'} × {spec.scale:g}"


def _shown_column(column: ColumnSpec) -> Column:
    return Column(
        column.key,
        column.title or TASKS.get(column.key, column.key),
        column.mark,
        plain=column.unit == "plain",
    )


def _rows_from_runs(spec: TableSpec, evidence: Evidence) -> list[RowSpec]:
    systems = dict.fromkeys(evidence.systems) or evidence.index.systems
    return [
        RowSpec(
            title=system.label,
            run=str(system.choice),
            group=group_of(spec, system.choice, evidence.untrained),
            competes=system.choice.system not in spec.unranked,
        )
        for system in systems
        if spec.lists(evidence.recipes.get(system.choice.system))
    ]


def _build_row(spec: TableSpec, row: RowSpec, evidence: Evidence) -> TableRow:
    cells = [_build_cell(spec, row, column, evidence) for column in spec.columns]
    for index, column in enumerate(spec.columns):
        if column.mean_of and spec.statistic(row, column) in ("mean", "best-by-dev"):
            cells[index] = _with_rounded_mean(spec, column, cells, index)
    reported = _published_row(spec, row, None, evidence.published)
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
    )


def _no_verdict(row: RowSpec, column: ColumnSpec, choice: RunChoice | None, evidence: Evidence) -> str:
    """Returns why runs do not judge the reported number of a cell: by row, by column or by their recipe."""
    recipe = evidence.settings.get(choice.system, {}) if choice is not None else {}
    return row.no_verdict or column.no_verdict or str(recipe.get("no_verdict", ""))


def _build_cell(spec: TableSpec, row: RowSpec, column: ColumnSpec, evidence: Evidence) -> Cell:
    choice = spec.choice(row, column)
    against = _yardstick(spec, row, column, choice, evidence)
    if column.recipe is not None and choice is not None and evidence.settings:
        return setting_cell(_setting(spec, column.recipe, choice, evidence.settings), against)
    seeds = [] if choice is None else evidence.index.seeds(spec, column, choice)
    cell = build_cell(seeds, spec.statistic(row, column), against, wanted=choice is not None)
    reported = _published_row(spec, row, column, evidence.published)
    cell = replace(cell, work="" if reported is None or cell.published is None else reported.work or "")
    if (
        choice is None
        or not evidence.contributed
        or spec.statistic(row, column) not in ("mean", "best-by-dev")
    ):
        return cell
    groups = contributed_scores(
        spec, column, choice, against, evidence.contributed_index, evidence.contributed
    )
    known = None if cell.evidence is None else replace(cell.evidence, contributed=groups)
    return replace(cell, contributed=groups, evidence=known)


def _setting(
    spec: TableSpec, setting: str, choice: RunChoice, settings: Mapping[str, Mapping[str, Any]]
) -> float:
    """Returns a number of a system's recipe. Errors: InputError if it has no such setting."""
    found: Any = settings.get(choice.system)
    for name in setting.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise InputError(
            f"table {spec.key}: {choice.system} has {found!r} at {setting} of its recipe, expected a number; "
            "correct the column's `recipe`"
        )
    return float(found)


def _yardstick(
    spec: TableSpec, row: RowSpec, column: ColumnSpec, choice: RunChoice | None, evidence: Evidence
) -> Yardstick:
    """Returns what a cell is measured against."""
    against = Yardstick(
        published=None,
        remark="",
        scale=spec.scale,
        decimals=spec.decimals,
        no_verdict="" if column.unit == "plain" else _no_verdict(row, column, choice, evidence),
    )
    reported = _published_row(spec, row, column, evidence.published)
    name = column.published or column.key
    if reported is None or spec.published is None:
        return against
    table = evidence.published.table(spec.published)
    if name not in table.columns:
        return against
    against = replace(against, published=table.compared(reported, name), remark=table.remark(reported, name))
    if column.unit == "plain":
        return against  # a count or a setting is not a score
    told = reported_number(
        evidence.published, evidence.ledger, table=spec.published, row=reported.key, column=name
    )
    exact = EXACT if row.deterministic else None
    against = replace(
        against,
        reported=told,
        price=evidence.prices.get((choice.system, choice.backbone), NO_PRICE) if choice else NO_PRICE,
        fixed=choice.seeds if choice else (),
    )
    same = spec.statistic(row, column) != "sd" and measurable(evidence.published, spec.published, name)
    if told is None or not same:  # what others measured is another quantity
        return replace(against, others=nothing_known(), known=exact)
    return replace(
        against,
        others=others_of(evidence.ledger, told),
        known=exact or known_sd(evidence.ledger, reported.key, name),
        planned=backbone_sd(evidence.ledger, reported.key.partition("@")[2], name),
    )


def _published_row(
    spec: TableSpec, row: RowSpec, column: ColumnSpec | None, published: Published
) -> PublishedRow | None:
    """Returns the published row of a table row, or of one of its cells where the cell names another."""
    cell = row.cells.get(column.key) if column else None
    key = (cell.published if cell else None) or row.published
    if key is None or spec.published is None:
        return None
    return published.row(spec.published, key)


def _source(spec: TableSpec, reported: PublishedRow | None, published: Published) -> str:
    """Returns where a published row comes from, in words."""
    if reported is None or spec.published is None:
        return ""
    if reported.source == "cited":
        paper = published.papers[spec.published.split("/")[0]]
        return f"cited: {paper.works[reported.work or '']}"
    return {"this-paper": "this paper", "re-run": "re-run by the authors"}[reported.source]


def _with_rounded_mean(spec: TableSpec, column: ColumnSpec, cells: Sequence[Cell], index: int) -> Cell:
    """Returns the cell with a note where the mean of the reported cells prints otherwise than the mean."""
    cell = cells[index]
    shown = {other.key: other_cell.value for other, other_cell in zip(spec.columns, cells, strict=True)}
    parts = [shown.get(key) for key in column.mean_of]
    known = [float(f"{part:.{spec.decimals}f}") for part in parts if part is not None]
    if cell.value is None or len(known) != len(parts):
        return cell
    rounded = f"{sum(known) / len(known):.{spec.decimals}f}"
    if rounded == f"{cell.value:.{spec.decimals}f}":
        return cell
    return replace(cell, note="; ".join(filter(None, [cell.note, f"mean of the rounded cells {rounded}"])))
