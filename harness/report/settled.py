"""Summary of the reported numbers settled by a plan's runs, for the end of a report."""

from collections import Counter
from collections.abc import Iterable

from harness.evidence.verdicts import BY_OURS, NOT_SETTLED
from harness.report.tables.model import Table
from harness.report.verification import Verification, counted


def settled_lines(tables: Iterable[Table]) -> list[str]:
    """Returns lines on the reported numbers that our runs settled, and on inconclusive ones.

    A number that several tables quote counts once. Returns an empty list if there are no runs.
    """
    judged: dict[tuple[str, str, float], Verification] = {}
    without_verdict = 0
    for table in tables:
        for _, _, cell in table.cells():
            if cell.published is None or not cell.values or cell.evidence is None:
                continue
            if cell.no_verdict or cell.evidence.ours is None:
                without_verdict += 1
            else:
                judged.setdefault(cell.evidence.reported.fact, cell.evidence)
    lines = _answers(list(judged.values())) if judged else []
    if without_verdict:
        lines.append(f"without a verdict: {counted(without_verdict, 'cell')}, with the reason in its details")
    return lines


def _answers(judged: list[Verification]) -> list[str]:
    """Returns the counts of verdicts, and the cheapest next look at a number without a verdict."""
    counts = Counter(verification.verdict for verification in judged)
    left = sum(counts[word] for word in NOT_SETTLED)
    settled = len(judged) - left
    words = ", ".join(
        f"{counts[word]} {word}" for word in BY_OURS if counts[word] and word not in NOT_SETTLED
    )
    lines = [
        f"settled: {settled} of {counted(len(judged), 'reported number')}" + (f" ({words})" if words else "")
    ]
    looks = [
        verification.plan
        for verification in judged
        if verification.plan is not None and verification.plan.gpu_hours is not None
    ]
    if left and looks:
        nearest = min(looks, key=lambda plan: plan.gpu_hours or 0.0)
        lines.append(f"open: {left}; next: {nearest.cost}: {nearest.command}")
    return lines
