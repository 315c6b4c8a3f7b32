"""The sentence pairs behind a score: where a system disagrees most with the gold scores, or with another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from harness.report.charts.comparisons import pairs_of
from harness.report.disagreement import PairSet, largest
from harness.report.formats.text import task_title
from harness.report.pages.content import Report
from harness.report.pages.declared import Page

SHOWN = 10
"""Pairs of a system that appear on the page without a script."""
MOST = 600_000
"""Ranks that the page carries for its script; what is beyond is left out and named."""
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def pairs_values(report: Report) -> dict[str, Any] | None:
    """Returns what the page shows; None where no vectors are stored on this machine."""
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
        "pairs": [numbers_of(found) for found in carried],
    }  # fmt: skip


def within(sets: Sequence[PairSet], most: int) -> list[PairSet]:
    """Returns the first sets whose ranks are no more than `most` numbers, at least one."""
    kept: list[PairSet] = []
    for found in sets:
        taken = sum(len(one.ids) * (len(one.cosines) + 1) for one in [*kept, found])
        if not kept or taken <= most:
            kept.append(found)
    return kept


def numbers_of(found: PairSet) -> dict[str, Any]:
    """Returns a set as the page's script reads it: how many pairs each subset has, ranks as of `written`,
    sentences where allowed.
    """
    return {
        "title": task_title(found.task),
        "subsets": list(Counter(found.subsets).items()),
        "gold": [round(value, 3) for value in found.gold],
        "words": found.words,
        "texts": found.texts if found.shows_texts else [],
        "goldRanks": written(found.gold_ranks),
        "ranks": {system: written(ranks) for system, ranks in found.ranks.items()},
    }


def written(ranks: Iterable[float]) -> str:
    """Returns ranks in thousandths as one text, two digits to the base 36 for each."""
    pairs = (divmod(round(1000 * float(rank)), len(DIGITS)) for rank in ranks)
    return "".join(DIGITS[high] + DIGITS[low] for high, low in pairs)


PAGE = Page("Pairs", "pages/pairs.html", "pairs.html.j2", pairs_values, order=3, group="Systems")
