"""Summary of the reported numbers settled by a plan's runs, for the end of a report."""

from collections import Counter
from collections.abc import Iterable

from harness.evidence.judged import Fact, Judged
from harness.evidence.settling import counted
from harness.evidence.words import scale
from harness.report.tables.model import Table


def settled_lines(tables: Iterable[Table]) -> list[str]:
    """Returns lines on the reported numbers that our runs settled, and on inconclusive ones.

    A number that several tables quote counts once. Returns an empty list if there are no runs.
    """
    judged: dict[Fact, Judged] = {}
    without_verdict = 0
    for table in tables:
        for _, _, cell in table.cells():
            if not cell.values or cell.judged is None:
                continue
            if cell.no_verdict or cell.judged.ours is None:
                without_verdict += 1
            else:
                judged.setdefault(cell.judged.fact, cell.judged)
    lines = _answers(list(judged.values())) if judged else []
    if without_verdict:
        lines.append(f"without a verdict: {counted(without_verdict, 'cell')}, with the reason in its details")
    return lines


def _answers(judged: list[Judged]) -> list[str]:
    """Returns the counts of verdicts, and the cheapest next look at a number without a verdict."""
    counts = Counter(number.word for number in judged if number.verdict.is_settled)
    settled = counts.total()
    left = len(judged) - settled
    words = ", ".join(f"{counts[word]} {word.text}" for word in scale() if counts[word])
    lines = [
        f"settled: {settled} of {counted(len(judged), 'reported number')}" + (f" ({words})" if words else "")
    ]
    looks = [
        number.plan for number in judged if number.plan is not None and number.plan.gpu_hours is not None
    ]
    if left and looks:
        nearest = min(looks, key=lambda plan: plan.gpu_hours or 0.0)
        lines.append(f"open: {left}; next: {nearest.cost} ({nearest.why}): {nearest.command}")
    return lines
