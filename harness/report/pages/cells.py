"""A cell of a page: its address, its text, and its facts for hover, focus, tap and the run dialog."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from harness.evidence.verdicts import VERDICTS, Verdict
from harness.report.formats.text import (
    MARKS,
    SETTING_MARKS,
    format_number,
)
from harness.report.runs import RunDetail, slug
from harness.report.tables.model import Cell, Column, Table, TableRow
from harness.report.tables.rows import span_words
from harness.report.verification import (
    MANY,
    Verification,
    counted,
)
from harness.report.words import collapsed_words, draw_words, level_words, next_look_words, place_words

Facts = list[tuple[str, str]]
"""Pairs of a label and its text."""


class FactBook:
    """The facts of all cells of a page, each once; cells refer to them by position."""

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str], int] = {}

    def places(self, facts: Facts) -> str:
        """Returns the positions of a cell's facts among the entries, as `0 4 2`."""
        return " ".join(str(self.entries.setdefault(fact, len(self.entries))) for fact in facts)


@dataclass(frozen=True)
class ShownCell:
    """Values of a cell for the template. `order` is the sort key of the column; None sorts last."""

    ours: str
    sd: str
    n: str
    published: str
    glyph: str
    word: str
    delta: str
    order: float | None
    link: str
    facts: Facts


def show_cell(table: Table, column: Column, cell: Cell, runs: Mapping[str, RunDetail]) -> ShownCell:
    """Returns the displayed form of a cell; the link is empty without a recorded run."""
    recorded = [runs[key] for key in cell.runs if key in runs]
    return ShownCell(
        ours=_number(cell.value, column, table),
        sd="" if cell.sd is None else f"±{cell.sd:.{table.decimals}f}",
        n=f"n={cell.n}" if cell.value is not None and cell.n and cell.published is not None else "",
        published=_number(cell.published, column, table),
        glyph=MARKS[cell.verdict] if cell.verdict else SETTING_MARKS[cell.as_reported],
        word=cell.verdict or "",
        delta="" if cell.delta is None else signed(cell.delta, 0 if column.plain else table.decimals),
        order=cell.published if cell.value is None else cell.value,
        link=f"#{recorded[0].anchor}" if recorded else "",
        facts=cell_facts(table, column, cell, runs),
    )


def cell_facts(table: Table, column: Column, cell: Cell, runs: Mapping[str, RunDetail]) -> Facts:
    """Returns the facts of a cell, the most important first; an empty cell has one fact."""
    facts = [
        ("Ours", _ours_text(table, column, cell)),
        ("Published", _number(cell.published, column, table)),
        ("Difference", "" if cell.delta is None else signed(cell.delta, table.decimals)),
        ("Verdict", _verdict_text(cell)),
        ("Rank", "" if cell.ranks is None else span_words(cell.ranks)),
        ("No verdict from our runs", cell.no_verdict),
        *evidence_facts(cell.evidence),
        ("Each seed", ", ".join(_seed_texts(table, column, cell, runs))),
        ("Best on dev", _number(cell.best_by_dev, column, table)),
        ("Column", column.mark),
        ("Note", cell.note),
    ]
    return [(label, text) for label, text in facts if text]


def _ours_text(table: Table, column: Column, cell: Cell) -> str:
    if cell.value is None:
        return "not run"
    sd = "" if cell.sd is None else f" ± {cell.sd:.{table.decimals}f}"
    return f"{_number(cell.value, column, table)}{sd}, n = {counted(cell.n, 'seed')}"


def _verdict_text(cell: Cell) -> str:
    if cell.evidence is not None and cell.evidence.among_many:
        return f"{cell.verdict}: {MANY}"
    if cell.more:
        return f"{cell.verdict}: {counted(cell.more, 'more seed')} up to the next look"
    return cell.verdict or ""


def _seed_texts(table: Table, column: Column, cell: Cell, runs: Mapping[str, RunDetail]) -> list[str]:
    """Returns the seeds of a cell's runs, with the score of each if the cell is made of scores."""
    seeds = [str(runs[key].about.seed) if key in runs else key for key in cell.runs]
    if not cell.values:
        return seeds
    scores = [_number(value, column, table) for value in cell.values]
    return [f"{seed}: {score}" for seed, score in zip(seeds, scores, strict=True)]


def evidence_facts(verification: Verification | None) -> Facts:
    """Returns the two answers of a number, independent results, its percentile, and the next look."""
    if verification is None:
        return []
    answer = verification.ours or verification.by_others
    facts = [("Level", level_words(answer))]
    if answer.difference is not None:
        facts.append(("Draw", draw_words(answer.draw, verification.reported.stated)))
    if verification.ours is not None:
        facts += [("Error", verification.ours.fault), ("Collapsed", collapsed_words(verification.ours))]
    for kind, pool in verification.others.pools.items():
        if pool.median is not None:
            rivals = len(pool.competitors) if kind == "independent" else 0
            marked = f", {rivals} of them authors of a competing method" if rivals else ""
            number = counted(len(pool.sources), "source")
            label = {"independent": "Others", "same authors": "Its authors"}.get(kind, kind.capitalize())
            facts.append((label, f"{pool.median:.2f}, median of {number}{marked}"))
    if verification.percentile is not None:
        low, high = (100 * end for end in verification.percentile.share.interval)
        facts.append(
            (
                "As one run",
                f"{place_words(verification.percentile)} (95 % interval {low:.0f} to {high:.0f} %)",
            )
        )
    if verification.plan is not None:
        says = "; ".join(filter(None, [next_look_words(verification.plan), verification.plan.cost]))
        facts.append(("Next look", says))
    return facts


def verdict_counts(*tables: Table) -> list[tuple[Verdict, str, int]]:
    """Returns (verdict, sign, number) over the published scores, in the order of the scale, without zeros.
    A score in several cells counts once, by our seeds if a cell has some. Settings and counts are not
    scores and are skipped.
    """
    facts: dict[Hashable, Verdict] = {}
    for table in tables:
        for row, column, cell in table.cells():
            if cell.verdict is not None and not column.plain:
                alone = (table.key, row.key, column.key)
                fact = alone if cell.evidence is None else cell.evidence.reported.fact
                facts[fact] = min(facts.get(fact, cell.verdict), cell.verdict, key=VERDICTS.index)
    counts = Counter(facts.values())
    return [(verdict, MARKS[verdict], counts[verdict]) for verdict in VERDICTS if counts[verdict]]


def runs_of_row(row: TableRow, runs: Mapping[str, RunDetail]) -> tuple[str, ...]:
    """Returns the recorded runs that most cells of a row share, so cells only list other runs."""
    named = Counter(cell.runs for cell in row.cells if any(key in runs for key in cell.runs))
    return named.most_common(1)[0][0] if named else ()


def backbone_of(row: TableRow, runs: Mapping[str, RunDetail]) -> str:
    """Returns the backbone of a row, from its runs or its published key; empty if unknown."""
    ran = (runs[key].about.backbone for cell in row.cells for key in cell.runs if key in runs)
    return next(ran, "") or row.key.partition("@")[2]


def backbones_of(tables: Iterable[Table], runs: Mapping[str, RunDetail]) -> list[str]:
    """Returns the backbones of the rows of tables, sorted."""
    return sorted({backbone_of(row, runs) for table in tables for row in table.rows} - {""})


def has_published(table: Table) -> bool:
    """Whether any cell has a published value, which needs a second line."""
    return any(cell.published is not None for row in table.rows for cell in row.cells)


def has_sd(table: Table) -> bool:
    """Whether any cell prints a standard deviation."""
    return any(cell.sd is not None for row in table.rows for cell in row.cells)


def signed(value: float, decimals: int) -> str:
    """Returns a difference with its sign, a true minus for negative ones."""
    return f"{value:+.{decimals}f}".replace("-", "−")


def _number(value: float | None, column: Column, table: Table) -> str:
    return "" if value is None else format_number(value, column, table.decimals).replace("-", "−")


@dataclass(frozen=True)
class Anchors:
    """The ids of a table: `table-KEY`, and of its rows and their cells by position."""

    table: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]

    def cell(self, row: int, column: int) -> str:
        """Returns the id of a cell."""
        return f"{self.rows[row]}--{self.columns[column]}"


def anchors_of(table: Table) -> Anchors:
    """Returns the ids of a table, from its key, the rows' titles and the columns' keys. Repeated titles
    include their group.
    """
    key = slug(table.key)
    titles = Counter(slug(row.title) for row in table.rows)
    rows = _distinct(
        slug(row.title) if titles[slug(row.title)] == 1 else slug(f"{row.group} {row.title}")
        for row in table.rows
    )
    columns = _distinct(slug(column.key) for column in table.columns)
    return Anchors(f"table-{key}", tuple(f"{key}--{row}" for row in rows), tuple(columns))


def cell_anchor(table: Table, row: TableRow, column: str) -> str:
    """Returns the id of the cell of a row of the table in a column, named by its key."""
    keys = [shown.key for shown in table.columns]
    return anchors_of(table).cell(table.rows.index(row), keys.index(column))


def _distinct(names: Iterable[str]) -> list[str]:
    distinct: dict[str, None] = {}
    for name in names:
        same, number = name, 1
        while same in distinct:
            number += 1
            same = f"{name}-{number}"
        distinct[same] = None
    return list(distinct)
