"""Pictures of what is compared: ranks of the small plan, claims of a paper, replications, sentence pairs."""

from __future__ import annotations

import math
import re
import statistics
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.report.charts.chart import Chart, Row, draw
from harness.report.charts.training import named
from harness.report.disagreement import PairSet, largest
from harness.report.formats.text import task_title
from harness.report.runs import slug
from harness.report.system_pairs import SystemComparison, tally_in_words
from harness.report.tables.model import Table, verifications

if TYPE_CHECKING:
    from harness.report.claims import JudgedClaim
    from harness.report.pages.content import Paper

SHIFT = 0.13
"""Years between two numbers of one year, so that none covers another."""
NEAR = 1.0
"""Points within which a cheaper system counts as an alternative."""
PAIRS = 12
"""Sentence pairs in a picture."""
SIDE = 34
"""Characters of a sentence that stand in a picture."""
HIGH, LOW = "reported", "median of independent sources"
GOLD, SPAN = "gold scores", "lowest to highest system"


def ranks_of(table: Table) -> Chart | None:
    """Returns the ranks that each system of a table may have by its last ranked column; None without one."""
    ranked = [i for i in range(len(table.columns)) if any(row.cells[i].ranks for row in table.rows)]
    if not ranked:
        return None
    cells = [(row, row.cells[ranked[-1]]) for row in table.rows]
    found = sorted(
        ((row, cell.value or 0.0, cell.ranks) for row, cell in cells if cell.ranks),
        key=lambda entry: (entry[2][0] + entry[2][1], -entry[1]),
    )
    rows = [
        {
            "name": row.title,
            "kind": row.group or "ranked",
            "low": low - 0.4,
            "high": high + 0.4,
            "value": sorted((other for _, other, _ in found), reverse=True).index(mean) + 1,
            "says": f"{row.title}: {mean:.2f}, rank {low} to {high}",
        }
        for row, mean, (low, high) in found
    ]
    first = sum(low == 1 for *_, (low, _) in found)
    last = sum(high == len(found) for *_, (_, high) in found)
    return draw(
        "rows",
        rows,
        key=f"ranks-{slug(table.key)}",
        title=f"Ranks by {table.columns[ranked[-1]].title}: {table.title}",
        caption="The mark is the place by the mean; the bar spans the ranks that the seeds leave open.",
        says=f"{first} of {len(found)} systems may be first, and {last} may be last.",
        x_title="rank",
        kinds=list(dict.fromkeys(row["kind"] for row in rows)),
        reverse=True,
    )


def claims_of(key: str, claims: Sequence[JudgedClaim]) -> Chart | None:
    """Returns the differences that a paper claims, in points, with ours; None where none is a score.

    A claim of equality and one in which lower is better are left out.
    """
    rows: list[Row] = []
    reported: list[float] = []
    for judged in claims:
        claim, points = judged.claim, 100 / judged.scale
        for pair in judged.pairs if not (claim.lower or claim.within) else ():
            of = f"{pair.better.title} and {pair.worse.title}, {pair.columns[0]}"
            if pair.reported is not None:
                value = round(pair.reported * points, 4)
                reported.append(value)
                rows.append(
                    {"name": claim.says, "kind": "reported", "value": value, "says": f"{of}: {value:+.2f}"}
                )
            if pair.ours is not None:
                low, value, high = (
                    points * end for end in (pair.ours.low, pair.ours.difference, pair.ours.high)
                )
                rows.append(
                    {"name": claim.says, "kind": "ours", "value": value, "low": low, "high": high, "says": of}
                )
    if not rows:
        return None
    small = sum(abs(value) < 1 for value in reported)
    tested = sum(pair.ours is not None for judged in claims for pair in judged.pairs)
    return draw(
        "rows",
        rows,
        key=f"claims-{slug(key)}",
        title="Claimed differences",
        caption="Diamonds: reported, one for each pair of a claim. Circles: ours, with their interval.",
        says=f"{small} of {len(reported)} reported differences are below one point; our seeds test {tested}.",
        x_title="difference in points, in the direction of the claim",
        zero=True,
    )


def differences_of(found: SystemComparison) -> Chart:
    """Returns the differences between two systems, a line a task and one for the mean, with their intervals.

    Of the intervals that decide, the first that is known is drawn. Errors: InputError as of `draw`.
    """
    lines = [(name.task, one) for name, one in found.tasks.items()]
    if found.mean is not None:
        lines.append(("Mean", found.mean))
    rows: list[Row] = []
    for task, one in lines:
        values = f"{100 * one.first:.2f} and {100 * one.second:.2f}, {one.outcome}"
        row = {"name": task, "kind": "ours", "value": 100 * one.difference, "says": values}
        interval = next((bound for bound in one.deciding if bound), None)
        if interval is not None:
            row |= {"low": 100 * interval.low, "high": 100 * interval.high}
        rows.append(row)
    return draw(
        "rows",
        rows,
        key="differences",
        title=f"{found.first} minus {found.second}",
        says=tally_in_words(found.tally, found.first),
        x_title=f"{found.first} minus {found.second}, points",
        zero=True,
    )


def pairs_of(found: PairSet) -> Chart | None:
    """Returns the pairs on which the ranks by systems are furthest apart; None with fewer than two systems.

    Ranks are in %; the mark is the rank by the gold scores.
    """
    if len(found.ranks) < 2:
        return None
    systems = list(found.ranks)
    ranks = 100 * np.stack([found.ranks[name] for name in systems])  # [systems, pairs]
    low, high = ranks.min(axis=0), ranks.max(axis=0)
    rows: list[Row] = []
    told = []
    for position, _ in largest(high, low, PAIRS):
        ends = (f"{at[position]:.0f} by {systems[int(pick(ranks[:, position]))]}"
                for at, pick in ((low, np.argmin), (high, np.argmax)))  # fmt: skip
        told.append(f"{found.ids[position]}: " + ", ".join(ends))
        sides = (textwrap.shorten(text, SIDE, placeholder="…") for text in found.texts[position])
        about = {"name": " / ".join(sides) if found.shows_texts else found.ids[position], "says": told[-1]}
        if about["name"] in (row["name"] for row in rows):
            about["name"] = found.ids[position]
        rows += [
            {**about, "kind": SPAN, "low": float(low[position]), "high": float(high[position])},
            {**about, "kind": GOLD, "value": 100 * float(found.gold_ranks[position])},
        ]
    apart = int((high - low > 50).sum())
    return draw(
        "rows",
        rows,
        key=f"disagreement-{slug(found.task)}",
        title=f"{task_title(found.task)}: pairs that systems rank furthest apart",
        caption=f"The bar spans the ranks by {len(systems)} systems, the diamond is the rank by people.",
        says=f"Two systems are more than half of the ranks apart on {apart:,} of {low.size:,} pairs; the "
        f"largest difference is that of {told[0]}.",
        x_title="rank among the pairs of the set, %",
        kinds=[GOLD, SPAN],
        shapes=["diamond", "stroke"],
        solid=GOLD,
        zero=True,
    )


def costs_of(papers: Sequence[Paper]) -> Chart | None:
    """Returns the reported STS average of each trained system over the GPU hours of a seed; None without any.

    Hours are those that the plan of a number counts, what all seeds share once included, for each seed. A
    system is drawn once on each backbone, with its own authors' number where they report one, without the
    variants of its ablations.
    """
    found: dict[str, dict[str, Any]] = {}
    for table, row, known in verifications([table for paper in papers for table in paper.tables]):
        plan, system, value = known.plan, known.reported.system, known.reported.value
        average = known.reported.column == "Avg" and table.unit.startswith("Spearman")
        trains = plan is not None and (plan.seeds or 0) > 1
        if average and "/" not in system and plan and trains and plan.gpu_hours and plan.more:
            backbone, hours = system.partition("@")[2], max(0.01, round(plan.gpu_hours / plan.more, 2))
            says = f"{row.title} on {backbone}: {value:.2f}, {hours:.2f} GPU hours a seed"
            about = {"name": row.title, "kind": backbone, "x": hours, "y": value, "says": says}
            if system not in found or known.reported.by == system.partition("@")[0]:
                found[system] = about
    if not found:
        return None
    rows = sorted(found.values(), key=lambda one: (one["kind"], one["x"]))
    placed = named([{**one, "x": math.log10(one["x"])} for one in rows])
    shown = [{**one, "x": row["x"]} for one, row in zip(placed, rows, strict=True)]
    kinds = Counter(one["kind"] for one in rows)
    same = [one for one in rows if one["kind"] == kinds.most_common(1)[0][0]]
    best = max(same, key=lambda one: one["y"])
    cheap = min((one for one in same if one["y"] >= best["y"] - NEAR), key=lambda one: one["x"])
    most = f"{best['name']} reports most on {best['kind']}, {best['y']:.2f} with {best['x']:.1f} hours a seed"
    less = f"{cheap['name']} takes least, {cheap['x']:.1f} hours for {cheap['y']:.2f}"
    return draw(
        "points",
        shown,
        key="costs",
        title="Reported average over what a seed takes",
        caption="Average of the seven STS test sets as reported; hours as this project plans them.",
        says=f"{most}; of those within a point of it {less}.",
        x_title="GPU hours a seed",
        y_title="Avg, Spearman × 100",
        scale="log",
    )


def years_of(papers: Sequence[Paper]) -> Chart | None:
    """Returns reported averages with the median of independent sources over the years they were published in.

    None where no number with a known year has an independent source.
    """
    found: dict[tuple[str, str, float], tuple[int, str, float]] = {}
    for paper in papers:
        works = {row.key: cell.work for table in paper.tables for row, _, cell in table.cells() if cell.work}
        for _, row, known in verifications(paper.tables):
            entry = paper.bibliography.get(works.get(row.key, ""), "" if row.key in works else paper.bibtex)
            year, middle = re.search(r"year\s*=\s*\W?(\d{4})", entry), known.others.independent.median
            if year and middle is not None and known.reported.column == "Avg":
                name = f"{row.title}, {known.reported.system.partition('@')[2].removesuffix('-uncased')}"
                found.setdefault(known.reported.fact, (int(year[1]), name, middle))
    if not found:
        return None
    gaps = [fact[2] - middle for fact, (_, _, middle) in found.items()]
    return draw(
        "points",
        _points_by_year(found),
        key="years",
        title="Reported and replicated averages over the years",
        caption="Average of the seven STS test sets; a line joins a number with what others measured of it.",
        says=f"{sum(gap > 0 for gap in gaps)} of {len(gaps)} numbers are above the median of independent "
        f"sources, on average by {statistics.fmean(gaps):.2f} points.",
        x_title="year of publication",
        y_title="Avg, Spearman × 100",
        format="d",
        step=1,
    )


def _points_by_year(found: dict[tuple[str, str, float], tuple[int, str, float]]) -> list[Row]:
    upper: list[dict[str, Any]] = []
    lower: list[Row] = []
    years: dict[int, int] = {}
    for (_, _, value), (year, name, middle) in sorted(found.items(), key=lambda entry: entry[1][0]):
        years[year] = years.get(year, -1) + 1
        at = {"name": name, "x": round(year + SHIFT * years[year], 2)}
        upper.append({**at, "kind": HIGH, "y": value, "y2": middle, "says": f"{name}: reported {value:.2f}"})
        lower.append({**at, "kind": LOW, "y": middle, "says": f"{name}: median {middle:.2f}"})
    return [*named(upper), *lower]
