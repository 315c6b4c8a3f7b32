"""A trial of a custom method: its comparisons and its rank, as text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.evidence.differences import Difference
from harness.evidence.statistics import mean, sample_sd
from harness.evidence.system_pairs import MEAN_FIRST, SystemComparison, SystemScores
from harness.report.formats.scores import signed_interval
from harness.report.formats.text import align
from harness.report.tables.rows import span_words

ELSEWHERE = "†"
"""Mark of systems whose results were computed with other libraries."""


class Ranked(NamedTuple):
    """A system with its mean over the test sets in raw units, its seeds, and its possible ranks. elsewhere:
    whether its results were computed with other libraries.
    """

    key: str
    mean: float
    seeds: int
    rank: tuple[int, int]
    elsewhere: bool = False


class Worth(NamedTuple):
    """Dev scores in raw units: of the method, one per seed, and of its controls by name."""

    own: Sequence[float]
    controls: Mapping[str, float]

    @property
    def unbeaten(self) -> list[str]:
        """Controls with a score that is not below every seed."""
        return [said for said, score in self.controls.items() if not score < min(self.own)]


@dataclass(frozen=True)
class Trial:
    """Outcome of a trial. systems: the scores of all compared systems, by `SYSTEM@BACKBONE`, the custom
    method first.

    settings: of method and training, in words. notes: lines on reused, trained and skipped runs.
    """

    file: str
    systems: Mapping[str, SystemScores]
    comparisons: Sequence[SystemComparison]
    ranks: Sequence[Ranked]
    settings: str = ""
    notes: Sequence[str] = ()
    worth: Worth | None = None

    @property
    def own(self) -> str:
        """The key of the custom method."""
        return next(iter(self.systems))


FOOT = (
    f"scores x 100, mean ± standard deviation over seeds; tested over seeds, {MEAN_FIRST}; for settings "
    "fixed before: after a choice on dev by these seeds a difference is too favourable"
)
"""Meaning of the numbers and of their intervals."""


def trial_text(trial: Trial) -> str:
    """Returns the trial as aligned plain text: a table for each baseline, the ranks."""
    blocks = []
    for comparison in trial.comparisons:
        rows = align(comparison_rows(comparison, trial.systems))
        blocks.append([*rows, "", *filter(None, (comparison.in_words, comparison.power_in_words))])
    blocks.append([*align(rank_lines(trial)), "", rank_foot(trial)])
    blocks.append([FOOT, *trial.notes])
    if trial.worth is not None:
        blocks.append([*align(worth_rows(trial.worth, trial.own)), "", worth_in_words(trial)])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def comparison_rows(comparison: SystemComparison, systems: Mapping[str, SystemScores]) -> list[list[str]]:
    """Returns the heads and a row per task, then the mean of all tasks."""
    ours, theirs = systems[comparison.first], systems[comparison.second]
    rows = [["task", comparison.first, comparison.second, "difference", "interval", ""]]
    for name, difference in comparison.tasks.items():
        sides = (spread([*side.tasks[name].values()]) for side in (ours, theirs))
        rows.append([name.task, *sides, *_difference(difference)])
    if comparison.mean is not None:
        names = [*comparison.tasks]
        sides = (spread([*side.means(names).values()]) for side in (ours, theirs))
        rows.append(["Mean", *sides, *_difference(comparison.mean)])
    return rows


def rank_lines(trial: Trial) -> list[list[str]]:
    """Returns the heads and a row per system, best mean first."""
    rows = [["rank", "system", "mean", "seeds", "possible ranks"]]
    for rank, row in enumerate(trial.ranks, 1):
        mark = "*" if row.key == trial.own else ""
        key = f"{row.key} {ELSEWHERE}" if row.elsewhere else row.key
        rows.append([f"{rank}{mark}", key, f"{100 * row.mean:.2f}", str(row.seeds), span_words(row.rank)])
    return rows


def rank_foot(trial: Trial) -> str:
    """Returns the meaning of the marks and of the last column below the ranks."""
    others = f"{ELSEWHERE} computed with other libraries" if any(row.elsewhere for row in trial.ranks) else ""
    ranks = "possible ranks: those that the seeds leave open"
    return "; ".join(filter(None, [f"* {trial.own}, the method tried", others, ranks]))


def worth_rows(worth: Worth, own: str) -> list[list[str]]:
    """Returns the heads, the method and a row for each of its controls, with the first seed."""
    rows = [["STS-B dev", "score", "seeds", ""], [own, spread(worth.own), str(len(worth.own)), ""]]
    for said, score in worth.controls.items():
        outcome = "not below" if said in worth.unbeaten else "below every seed"
        rows.append([said, spread([score]), "1", outcome])
    return rows


def worth_in_words(trial: Trial) -> str:
    """Returns the conclusion about the method in this setting."""
    assert trial.worth is not None
    if trial.worth.unbeaten:
        beaten = f"{trial.own} does not beat {' and '.join(trial.worth.unbeaten)}: no evidence for the method"
    else:
        beaten = f"{trial.own} beats its controls"
    means = {comparison.second: comparison.mean for comparison in trial.comparisons}
    against = [f"{mean.in_words} against {other}" for other, mean in means.items() if mean is not None]
    return "; ".join([beaten, *against])


def spread(values: Sequence[float]) -> str:
    """Returns the mean of scores in points, with their standard deviation if there are several."""
    sd = sample_sd(values)
    return f"{100 * mean(values):.2f}" + (f" ± {100 * sd:.2f}" if sd is not None else "")


def _difference(difference: Difference) -> list[str]:
    return [f"{100 * difference.difference:+.2f}", signed_interval(difference.interval), difference.in_words]
