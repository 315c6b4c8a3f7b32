"""The sentence pairs behind a score: where a system disagrees most with the gold scores, or with another."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from harness.report.chart import Chart, Row, draw
from harness.report.formats.text import task_title
from harness.report.pages.content import Page, PairSet, Report
from harness.report.runs import slug

SHOWN = 10
"""Pairs of a system that appear on the page without a script."""
MOST = 600_000
"""Ranks that the page carries for its script; what is beyond is left out and named."""
PICTURED = 12
"""Sentence pairs in a picture."""
SIDE = 34
"""Characters of a sentence that stand in a picture."""
GOLD, SPAN = "gold scores", "lowest to highest system"
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def pairs_values(report: Report) -> dict[str, Any] | None:
    """Returns what the page shows, and as `pairs` what its script reads: of each subset the number of pairs.

    None where no vectors are stored on this machine.
    """
    sets = [found for found in report.pairs if found.cosines]
    if not sets:
        return None
    carried = within(sets, MOST)
    return {
        "figures": [figure for figure in map(pairs_of, carried) if figure],
        "sets": [
            (found, task_title(found.task), {
                system: largest(ranks, found.gold_ranks, SHOWN) for system, ranks in found.ranks.items()
            })
            for found in carried
        ],
        "left_out": [task_title(found.task) for found in sets if found not in carried],
        "pairs": [
            {
                "title": task_title(found.task),
                "subsets": list(Counter(found.subsets).items()),
                "gold": [round(value, 3) for value in found.gold],
                "words": found.words,
                "texts": found.texts if found.shows_texts else [],
                "goldRanks": written(found.gold_ranks),
                "ranks": {system: written(ranks) for system, ranks in found.ranks.items()},
            }
            for found in carried
        ],
    }  # fmt: skip


def largest(first: np.ndarray, second: np.ndarray, count: int) -> list[tuple[int, float]]:
    """Returns the pairs on which two rankings [N] differ most, the largest difference first: position in the
    set, and by how much the first ranks it above the second, in [-1, 1].
    """
    difference = first - second
    order = np.argsort(-np.abs(difference), kind="stable")[:count]
    return [(int(index), float(difference[index])) for index in order]


def within(sets: Sequence[PairSet], most: int) -> list[PairSet]:
    """Returns the first sets whose ranks are no more than `most` numbers, at least one."""
    kept: list[PairSet] = []
    for found in sets:
        taken = sum(len(one.ids) * (len(one.cosines) + 1) for one in [*kept, found])
        if not kept or taken <= most:
            kept.append(found)
    return kept


def written(ranks: Iterable[float]) -> str:
    """Returns ranks in thousandths as one text, two digits to the base 36 for each."""
    pairs = (divmod(round(1000 * float(rank)), len(DIGITS)) for rank in ranks)
    return "".join(DIGITS[high] + DIGITS[low] for high, low in pairs)


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
    for position, _ in largest(high, low, PICTURED):
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


PAGE = Page("Pairs", "pages/pairs.html", "pairs.html.j2", pairs_values, order=3, group="Systems")
