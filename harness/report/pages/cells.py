"""A cell of a page: its address, its text, and its facts for hover, focus, tap and the run dialog."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from harness.evidence.cite import citation_of
from harness.evidence.judged import Judged
from harness.evidence.settling import counted
from harness.evidence.words import Word, scale
from harness.report.formats.number import Format
from harness.report.formats.text import SETTING_MARKS
from harness.report.runs import RunDetail, slug
from harness.report.sentences import (
    AMONG_MANY,
    assumed_words,
    collapsed_words,
    draw_words,
    level_words,
    next_look_words,
    one_run_words,
    open_words,
    place_words,
)
from harness.report.tables.model import Cell, Column, Table, TableRow, judged_numbers
from harness.report.tables.rows import span_words

Facts = list[tuple[str, str]]
"""Pairs of a label and its text."""


POINTS = Format()
"""How scores are shown in points."""
SCORES = ("spearman", "pearson", "accuracy", "map", "mrr")
"""Metrics of scores, which are stated in points wherever evidence is."""


class FactBook:
    """The facts of all cells of a page, each once; cells refer to them by position. Texts that several
    parts of a page have are also stated once.
    """

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str], int] = {}
        self._stated: dict[str, Any] = {}

    def stated_by(self, text: str, part: Any) -> Any:
        """Returns the part of the page, such as a table, that states a text: this one, unless an earlier one
        has done so."""
        return self._stated.setdefault(text, part)

    def places(self, facts: Facts) -> str:
        """Returns the positions of a cell's facts among the entries, as `0 4 2`."""
        return " ".join(str(self.entries.setdefault(fact, len(self.entries))) for fact in facts)


def glyph_of(cell: Cell) -> str:
    """Returns the sign of a cell's verdict, or of a setting."""
    return SETTING_MARKS[cell.as_reported] if cell.judged is None else cell.judged.word.sign


def link_of(cell: Cell, runs: Mapping[str, RunDetail]) -> str:
    """Returns the address of a cell's first run on the page of runs; empty without a recorded run."""
    return next((f"#{runs[key].anchor}" for key in cell.runs if key in runs), "")


def cell_facts(table: Table, column: Column, cell: Cell, runs: Mapping[str, RunDetail]) -> Facts:
    """Returns the facts of a cell, the most important first; an empty cell has one fact. Scores are in
    points, like the evidence on them.
    """
    form = in_points(table, column)
    facts = [
        ("Ours", _ours_text(form, cell)),
        ("Published", _published_text(table.format(column), form, cell)),
        ("Difference", "" if cell.delta is None else form.signed(cell.delta)),
        ("Verdict", _verdict_text(cell)),
        *(cite_facts(cell.judged) if cell.judged is not None else ()),
        ("Rank", _rank_text(cell)),
        ("No verdict from our runs", cell.no_verdict),
        *(evidence_facts(cell.judged) if cell.judged is not None else ()),
        ("Each seed", ", ".join(_seed_texts(form, cell, runs))),
        ("Best on dev", shown_number(cell.best_by_dev, form)),
        ("Column", column.mark),
        ("Note", cell.note),
    ]
    return [(label, text) for label, text in facts if text]


def in_points(table: Table, column: Column) -> Format:
    """Returns the format of a column in points, if it has scores on another scale; otherwise its own."""
    form = table.format(column)
    if form.plain or form.scale == POINTS.scale:
        return form
    scores = any(judged.number.metric in SCORES for _, _, judged in judged_numbers([table]))
    return replace(POINTS, decimals=max(0, form.decimals - 2)) if scores else form


def points_text(table: Table, column: Column, cell: Cell) -> str:
    """Returns the shown number of a cell in points, for a search in the page; empty if it is shown so."""
    points = cell.published if cell.value is None else cell.value
    form = in_points(table, column)
    return "" if form == table.format(column) else shown_number(points, form)


def _published_text(printed: Format, form: Format, cell: Cell) -> str:
    shown = shown_number(cell.published, form)
    return shown if printed == form or not shown else f"{shown}, printed {printed.show(cell.published or 0)}"


def cite_facts(judged: Judged) -> Facts:
    """Returns what to cite for a number, as `sentbench verify` does; the reported value is not repeated."""
    cited = citation_of(judged)
    if cited.kind == "reported":
        return [("Cite", cited.how)]
    return [("Cite", cited.text), ("From", cited.origin)]


def _ours_text(form: Format, cell: Cell) -> str:
    if cell.value is None:
        return "not run"
    sd = "" if cell.sd is None else f" ± {form.show(cell.sd)}"
    return f"{shown_number(cell.value, form)}{sd}, n = {counted(cell.n, 'seed')}"


def _rank_text(cell: Cell) -> str:
    if cell.ranks is None:
        return ""
    bold = "; bold, as no competing row is shown to be better" if cell.leads else ""
    return f"{span_words(cell.ranks)}{bold}"


def _verdict_text(cell: Cell) -> str:
    if cell.judged is None:
        return ""
    if cell.judged.among_many:
        return f"{cell.judged.text}: {AMONG_MANY}"
    if cell.more:
        return f"{cell.judged.text}: {counted(cell.more, 'more seed')} up to the advised look"
    return ": ".join(filter(None, [cell.judged.text, open_words(cell.judged)]))


def _seed_texts(form: Format, cell: Cell, runs: Mapping[str, RunDetail]) -> list[str]:
    """Returns the seeds of a cell's runs, with the score of each if the cell is made of scores."""
    seeds = [str(runs[key].about.seed) if key in runs else key for key in cell.runs]
    if not cell.values:
        return seeds
    return [f"{seed}: {shown_number(score, form)}" for seed, score in zip(seeds, cell.values, strict=True)]


def evidence_facts(judged: Judged) -> Facts:
    """Returns the two answers of a number, independent results, its percentile, and the next look."""
    answer = judged.answer
    facts = [("Level", level_words(answer))]
    if answer.difference is not None:
        facts.append(("Draw", draw_words(answer.verdict.draw, judged.number)))
    if judged.as_one_run is not None:
        facts.append(("As one run", one_run_words(judged.as_one_run)))
    if judged.ours is not None:
        facts += [("Error", judged.ours.fault), ("Collapsed", collapsed_words(judged.ours))]
    for kind, pool in judged.others.pools.items():
        if pool.median is not None:
            rivals = len(pool.competitors) if kind == "independent" else 0
            marked = f", {rivals} of them authors of a competing method" if rivals else ""
            runs = sum(pool.counts.values())
            number = counted(len(pool.sources), "source")
            if len(pool.sources) == 1 and runs > 1:
                number = f"one source with {runs} runs"
            label = {"independent": "Others", "same authors": "Its authors"}.get(kind, kind.capitalize())
            how = "median" if len(pool.sources) > 1 else "mean" if runs > 1 else "result"
            facts.append((label, f"{pool.median:.2f}, {how} of {number}{marked}"))
    if judged.percentile is not None:
        low, high = (100 * end for end in judged.percentile.share.interval)
        says = f"{place_words(judged.percentile)} (95 % interval {low:.0f} to {high:.0f} %)"
        facts.append(("Among runs", says))
    if judged.verdict.is_settled:
        facts.append(("Assumes", assumed_words(judged)))
    if judged.plan is not None:
        says = "; ".join(filter(None, [next_look_words(judged.plan), judged.plan.cost]))
        facts.append(("Next look", says))
    return facts


def verdict_counts(*tables: Table) -> list[tuple[Word, int]]:
    """Returns each verdict with its number of published scores, in the order of the scale, without zeros.
    A score in several cells counts once, by our seeds if a cell has some. Settings and counts are not
    scores and are skipped.
    """
    places = {word: place for place, word in enumerate(scale())}
    facts: dict[Hashable, Word] = {}
    for _, _, judged in judged_numbers(tables):
        known = facts.get(judged.fact, judged.word)
        facts[judged.fact] = min(known, judged.word, key=places.__getitem__)
    counts = Counter(facts.values())
    return [(word, counts[word]) for word in places if counts[word]]


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


def shown_number(points: float | None, form: Format) -> str:
    """Returns a number in the format of its column, with a true minus; empty without one."""
    return "" if points is None else form.show(points).replace("-", "−")


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
