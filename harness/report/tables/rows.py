"""Decisions over many cells: the order of rows, their possible ranks, and control of a page's verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.evidence.comparisons import rank_intervals, surviving
from harness.evidence.judged import Judged
from harness.evidence.number_tests import LEVEL
from harness.evidence.spec import ColumnSpec, RowSpec, TableSpec
from harness.report.formats.text import TASK_TITLES
from harness.report.tables.model import Cell, Table, TableRow

TRAINED, UNTRAINED, TEACHERS = "Trained", "Without training", "Teachers: an upper bound, not ranked"
ROW_GROUPS = (TRAINED, UNTRAINED, TEACHERS)
"""The groups of a table of runs, in their order."""
MOST_BOLD = 1 / 3
"""Largest share of the competing rows of a column that are bold; one in each contest always may be."""
MEANS = ("mean", "best-by-dev")
"""Statistics that are a score of a system, not a spread or a count."""
TOO_MANY = "more than a third of the competing rows are not shown to be worse than another one."
ORDER = (
    "A row is bold if no competing row is shown to be better. One whose seeds vary more can be bold below "
    "one that is not:"
)
FALSE_DISCOVERY = (
    "The average of a row is tested first, its other cells only if the average is off; of the averages that "
    f"do not replicate on a page, {LEVEL:.0%} are expected to be wrong at most (Benjamini-Hochberg over the "
    "rows)."
)
Hypothesis = tuple[object, ...]
"""Key of a test of a page: a number, and our runs that judge it."""


def order_of(spec: TableSpec, rows: Sequence[TableRow]) -> list[int]:
    """Returns the positions of the rows by group, and within it by the column `order_by`, best first.

    Rows without a value are last; equal rows, and all rows without such a column, keep their order.
    """
    column = next(
        (index for index, column_spec in enumerate(spec.columns) if column_spec.key == spec.order_by), None
    )

    def key(index: int) -> tuple[int, bool, float]:
        group = ROW_GROUPS.index(rows[index].group)
        value = None if column is None else rows[index].cells[column].value
        if column is None or value is None:
            return group, True, 0.0
        return group, False, -value if spec.columns[column].better == "higher" else value

    return sorted(range(len(rows)), key=key)


Ranks = dict[int, tuple[int, int]]
"""Possible ranks of the rows that compete in a column, by the row's position."""


def rank_rows(
    spec: TableSpec, declared: Sequence[RowSpec], rows: Sequence[TableRow], untrained: set[tuple[str, str]]
) -> tuple[list[TableRow], list[str]]:
    """Returns the rows with rank intervals in their cells, and of the leading column in their source; and
    notes on columns without bold, and on rows that are bold below others.

    Rows compete within their group or over the whole table, by the spec; a single competitor gets no ranks.
    Published values get none, because a number without seeds has no rank. untrained: the systems with their
    backbones with seed-independent scores, like a deterministic row. The leading column is the column that
    orders the table, otherwise the last ranked one.
    """
    cells, sources = [list(row.cells) for row in rows], [row.source for row in rows]
    ranked = [
        (index, column)
        for index, column in enumerate(spec.columns)
        if spec.compete != "none" and column.better != "none" and column.recipe is None
    ]
    leading = spec.order_by or (ranked[-1][1].key if ranked else "")
    crowded, out_of_order = [], []
    for index, column in ranked:
        contests = _contests(spec, declared, rows, index, untrained)
        leaders = {row for ranks in contests for row, (first, _) in ranks.items() if first == 1}
        competing = sum(map(len, contests))
        if len(leaders) > max(competing * MOST_BOLD, len(contests)):
            crowded.append(f"{title_of(column)} ({len(leaders)} of {competing})")
            leaders = set()
        for ranks in contests:
            found = _out_of_order([(rows[row], row in leaders) for row in ranks], index, column.better)
            out_of_order += [f"{title_of(column)} ({found})"] if found else []
            for row, span in ranks.items():
                cells[row][index] = replace(cells[row][index], ranks=span, leads=row in leaders)
                if column.key == leading:
                    words = f"rank {span_words(span)} of {len(ranks)} by {column.title or column.key}"
                    sources[row] = ", ".join(filter(None, [sources[row], words]))
    notes = [f"No row is bold in {', '.join(crowded)}: {TOO_MANY}"] if crowded else []
    notes += [f"{ORDER} {', '.join(out_of_order)}."] if out_of_order else []
    made = zip(rows, cells, sources, strict=True)
    return [replace(row, cells=tuple(each), source=source) for row, each, source in made], notes


def _out_of_order(rows: Sequence[tuple[TableRow, bool]], index: int, better: str) -> str:
    """Returns the worst row of a contest that is bold, with the best one above it that is not; otherwise an
    empty text. rows: each with whether it is bold."""
    sign = -1 if better == "lower" else 1

    def place(entry: tuple[TableRow, bool]) -> float:
        return sign * (entry[0].cells[index].value or 0.0)

    bold, others = [entry for entry in rows if entry[1]], [entry for entry in rows if not entry[1]]
    if not bold or not others:
        return ""
    (low, _), (high, _) = worst, best = min(bold, key=place), max(others, key=place)
    sd, usual = low.cells[index].sd, high.cells[index].sd
    if place(worst) >= place(best) or sd is None:
        return ""
    compared = "" if usual is None else f" against {usual:.2f}"
    return f"{low.title} below {high.title}: its sd is {sd:.2f}{compared}"


def mark_best(spec: TableSpec, declared: Sequence[RowSpec], rows: Sequence[TableRow]) -> list[TableRow]:
    """Returns the rows with the best published values marked: of each column and group, all that are equal.

    Rows and systems that do not compete, columns without a direction, and groups with one value have none.
    """
    cells = [list(row.cells) for row in rows]
    for index, column in enumerate(spec.columns):
        groups: dict[str, dict[int, float]] = {}
        for position, (row, made) in enumerate(zip(declared, rows, strict=True)):
            number = made.cells[index].number
            if number is not None and row.competes and spec.statistic(row, column) in MEANS:
                groups.setdefault(row.group if spec.compete != "table" else "", {})[position] = number.value
        if column.better == "none" or column.unit == "plain":
            continue
        choose = min if column.better == "lower" else max
        for values in (values for values in groups.values() if len(values) > 1):
            for position, value in values.items():
                if value == choose(values.values()):
                    cells[position][index] = replace(cells[position][index], best=True)
    return [replace(row, cells=tuple(each)) for row, each in zip(rows, cells, strict=True)]


def _contests(
    spec: TableSpec,
    declared: Sequence[RowSpec],
    rows: Sequence[TableRow],
    index: int,
    untrained: set[tuple[str, str]],
) -> list[Ranks]:
    """Returns the ranks in a column by group, without groups of a single competing row with seeds."""
    column = spec.columns[index]

    def exact(row: RowSpec) -> bool:
        choice = spec.choice(row, column)
        return row.deterministic or (choice is not None and (choice.system, choice.backbone) in untrained)

    groups: dict[str, list[int]] = {}
    for position, row in enumerate(declared):
        if row.competes and rows[position].cells[index].values and spec.statistic(row, column) == "mean":
            groups.setdefault(row.group if spec.compete == "group" else "", []).append(position)
    return [
        dict(
            zip(
                members,
                rank_intervals(
                    [rows[row].cells[index].values for row in members],
                    [exact(declared[row]) for row in members],
                    lower_is_better=column.better == "lower",
                ),
                strict=True,
            )
        )
        for members in groups.values()
        if len(members) > 1
    ]


def title_of(column: ColumnSpec) -> str:
    """Returns the heading of a column."""
    return column.title or TASK_TITLES.get(column.key, column.key)


def span_words(ranks: tuple[int, int]) -> str:
    """Returns ranks as `2` or `1 to 3`."""
    low, high = ranks
    return str(low) if low == high else f"{low} to {high}"


def control(tables: Mapping[str, Table]) -> dict[str, Table]:
    """Returns the tables with the control of each page, that is of all tables of a paper, for its many
    numbers: a verdict whose answers are both off, by our seeds or by independent runs, may keep only its
    level.

    A row's average is tested first, with false-discovery control over the rows of the page; the other cells
    of the row only if the average is off and a discovery. So a page has as many tests as rows. A number of a
    row without a judged average is a test of its own. A number in several cells counts once.
    """
    gates: dict[str, dict[Hypothesis, Hypothesis]] = {}
    tested: dict[str, dict[Hypothesis, Judged]] = {}
    for key, table in tables.items():
        for row in table.rows:
            judged = [
                cell.judged for cell in row.cells if cell.judged is not None and _is_tested(cell.judged)
            ]
            average = max(judged, key=lambda each: each.number.parts, default=None)
            for each in judged:
                tested.setdefault(page_of(key), {})[hypothesis(each)] = each
                if average is not None and average.number.parts and each is not average:
                    gates.setdefault(page_of(key), {})[hypothesis(each)] = hypothesis(average)
    withdrawn = {page: _withdrawn(known, gates.get(page, {})) for page, known in tested.items()}
    return {key: _controlled(table, withdrawn.get(page_of(key), set())) for key, table in tables.items()}


def _is_tested(judged: Judged) -> bool:
    return judged.ours is not None or judged.by_others.interval is not None


def _withdrawn(
    tested: Mapping[Hypothesis, Judged], gates: Mapping[Hypothesis, Hypothesis]
) -> set[Hypothesis]:
    """Returns the numbers of a page that keep only their level; gates: the average of each other number."""
    first = [key for key in tested if key not in gates]
    holds = surviving([tested[key].answer.p for key in first])
    red = {key for key, held in zip(first, holds, strict=True) if held and tested[key].verdict.fails}
    return {key for key in tested if gates.get(key, key) not in red}


def page_of(key: str) -> str:
    """Returns the page of a table: its paper, or the table itself without a paper."""
    paper, slash, _ = key.partition("/")
    return f"{paper}/" if slash else key


def hypothesis(judged: Judged) -> Hypothesis:
    """Returns the key of a verdict: the number, and our runs that judge it, if any."""
    return (*judged.fact, judged.values)


def _controlled(table: Table, withdrawn: set[Hypothesis]) -> Table:
    def controlled(cell: Cell) -> Cell:
        judged = cell.judged
        if judged is None or not judged.verdict.fails or hypothesis(judged) not in withdrawn:
            return cell
        return replace(cell, judged=replace(judged, among_many=True))

    return replace(
        table, rows=tuple(replace(row, cells=tuple(map(controlled, row.cells))) for row in table.rows)
    )
