"""What others contributed of one number, and how seeds are put into words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.facts import statistics
from harness.facts.verdicts import INTERVAL, Judgement
from harness.results.contributions import Level


@dataclass(frozen=True)
class Contributed:
    """What others contributed of one number, as far as it was checked equally far: never part of ours.

    values: scores in points of the runs, in their order. by: who ran them. judgement: what these
    values alone say, None for scores that were not checked, and where nothing is reported.
    """

    level: Level
    values: tuple[float, ...]
    runs: tuple[str, ...]
    by: tuple[str, ...]
    judgement: Judgement | None = None


def contributed_text(group: Contributed) -> str:
    """Returns what others contributed of one number: who ran it, how far it was checked, and its values."""
    by = ", ".join(dict.fromkeys(group.by))
    if group.judgement is not None:
        return f"(by {by}; {group.level}; not in ours) {seeds_text(group.values, group.judgement)}"
    return f"(by {by}; {group.level}; no verdict) {_mean_text(group.values)}"


def seeds_text(values: Sequence[float], answer: Judgement | None) -> str:
    """Returns mean, standard deviation and number of values in points, and what they say."""
    if answer is None:
        return "none"
    used = f" by the first {answer.seeds}" if answer.seeds < len(values) else ""
    low, high = answer.interval or (None, None)
    reach = "" if low is None else f", {100 * INTERVAL:g} % interval {low:+.2f} to {high:+.2f}"
    return f"{_mean_text(values)}, {answer.verdict}{used}: {answer.difference:+.2f}{reach}"


def _mean_text(values: Sequence[float]) -> str:
    sd = statistics.sample_sd(values)
    return f"{statistics.mean(values):.2f}{'' if sd is None else f' +- {sd:.2f}'} ({len(values)})"
