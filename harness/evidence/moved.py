"""Classification of changed numbers, for `sentbench check`, the end of `make reproduce`, and `compare`.

A score has one of four answers; a run has the answer of its worst score, a system of its worst run:

identical           all recorded digits are equal; of a run also the weights and the selected step.
equal to rounding   sums in another order explain the difference. They move continuous scores by less than
                    ROUNDING_POINTS, and counts of examples by a few examples (FLOOR).
within seed noise   the weights differ, and the score is in the band of the former seeds: training amplifies a
                    changed last digit until a run differs as much as another seed.
moved               anything else: the score is outside, is missing, has another number of items, or
                    differs with equal weights.

A band is the mean over the seeds plus and minus the larger of SDS sample standard deviations and FLOOR; for
one seed it is FLOOR. With at most 26 seeds none of the scores that a band is computed from can lie outside
it. A score above its band has also moved. Only headline scores have a band, so not the subsets of an STS set.

With portable arithmetic `sentbench check` demands identical results.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from harness.evidence.schema import ResultFile, ScoreName, ScoreRecord

Answer = Literal["identical", "equal to rounding", "within seed noise", "moved"]
ANSWERS: tuple[Answer, ...] = get_args(Answer)
"""From the best to the worst."""
SDS = 5.0
FLOOR = 0.5
ROUNDING_POINTS = 0.05
"""FLOOR, ROUNDING_POINTS: points."""
CONTINUOUS = ("spearman", "pearson", "anisotropy", "alignment", "uniformity")
"""Metrics that are continuous in the vectors; the others count examples."""
HEADLINE = {"spearman": "all", "accuracy": "", "map": ""}
"""The headline metrics of a task with their settings; an empty setting means every one: a setting of accuracy
names the classifier's protocol, one of MAP the group of queries and what decides between ties."""
LOSS_ROUNDING = 1e-3
"""Relative tolerance of first losses between two kinds of arithmetic."""
Pair = tuple[ResultFile, ResultFile]
"""The former result of a run, and the present one."""
System = tuple[str, str]
"""The id of a system, and its backbone."""


class Band(NamedTuple):
    """Range of scores in points that is plausible given a system's seeds."""

    low: float
    high: float

    def holds(self, points: float) -> bool:
        """Returns whether a score is in the band."""
        return self.low <= points <= self.high


@dataclass(frozen=True)
class ScoreChange:
    """One score of a run before and after, in points, None if a side lacks it; band: None if it has none.

    items: numbers of items before and after, None if they are equal or a side lacks them.
    """

    run: str
    name: ScoreName
    before: float | None
    after: float | None
    band: Band | None
    answer: Answer
    items: tuple[int, int] | None = None

    def __str__(self) -> str:
        title = score_title(self.name)
        if self.after is None or self.before is None:
            return f"{self.run} {title}: {'missing' if self.after is None else 'not committed'}"
        expected = "" if self.band is None else f", expected {self.band.low:.3f} to {self.band.high:.3f}"
        over = "" if self.items is None else f"; over {self.items[1]:,} items, committed {self.items[0]:,}"
        return f"{self.run} {title}: {self.after:.6f}, committed {self.before:.6f}{expected}{over}"


def worst(answers: Iterable[Answer]) -> Answer:
    """Returns the worst of some answers; identical for none."""
    return max(answers, key=ANSWERS.index, default="identical")


def system_of(result: ResultFile) -> System:
    """Returns the system of a result."""
    return result.run.id, result.run.backbone


def band_of(points: Sequence[float]) -> Band:
    """Returns the band of the scores of some seeds, in points."""
    middle = float(np.mean(points))
    spread = float(np.std(points, ddof=1)) if len(points) > 1 else 0.0
    reach = max(SDS * spread, FLOOR)
    return Band(round(middle - reach, 3), round(middle + reach, 3))


def bands_of(results: Iterable[ResultFile]) -> dict[tuple[System, ScoreName], Band]:
    """Returns the band of every watched score of each system."""
    points: dict[tuple[System, ScoreName], list[float]] = {}
    for result in results:
        for score in result.scores:
            if is_watched(score.name):
                points.setdefault((system_of(result), score.name), []).append(100 * score.value)
    return {key: band_of(values) for key, values in points.items()}


def is_watched(name: ScoreName) -> bool:
    """Returns whether a score is a headline score, which has a band."""
    return HEADLINE.get(name.metric) in ("", name.setting)


def changes_of(pairs: Sequence[Pair]) -> list[ScoreChange]:
    """Returns every score that is not identical, in the order of the runs and then of the names."""
    bands = bands_of(old for old, _ in pairs)
    changes = []
    for old, new in pairs:
        before, after = scores_by_name(old), scores_by_name(new)
        trained = old.selection.last_step > 0
        other_weights = trained and old.provenance.encoder_sha256 != new.provenance.encoder_sha256
        for name in sorted(before.keys() | after.keys()):
            old_points, new_points = (
                100 * side[name].value if name in side else None for side in (before, after)
            )
            band = bands.get((system_of(old), name)) if other_weights else None
            answer = answer_of(name, old_points, new_points, band=band, other_weights=other_weights)
            items = (before[name].n, after[name].n) if name in before and name in after else (0, 0)
            if items[0] != items[1]:
                changes.append(ScoreChange(old.run.key, name, old_points, new_points, band, "moved", items))
            elif answer != "identical":
                changes.append(ScoreChange(old.run.key, name, old_points, new_points, band, answer))
    return changes


def answer_of(
    name: ScoreName, before: float | None, after: float | None, *, band: Band | None, other_weights: bool
) -> Answer:
    """Returns the answer for a score; before, after: in points, None if a side lacks it.

    band: of the former seeds, None without one. other_weights: whether training gave other weights. A new
    score is an additional task and has not moved.
    """
    if before == after or before is None:
        return "identical"
    if after is None:
        return "moved"
    if abs(after - before) <= (ROUNDING_POINTS if name.metric in CONTINUOUS else FLOOR):
        return "equal to rounding"
    if other_weights and (band is None or band.holds(after)):
        return "within seed noise"
    return "moved"


def answers_of_runs(pairs: Sequence[Pair], changes: Iterable[ScoreChange]) -> dict[str, Answer]:
    """Returns the answer of every run by its key; changes: the changed scores of the pairs.

    A run whose scores are all equal with other weights or another selected step is equal to rounding.
    """
    answers: dict[str, Answer] = {
        old.run.key: "identical" if is_same_training(old, new) else "equal to rounding" for old, new in pairs
    }
    for change in changes:
        answers[change.run] = worst([answers[change.run], change.answer])
    return answers


def is_same_training(old: ResultFile, new: ResultFile) -> bool:
    """Returns whether weights and selected step equal the former run's."""
    same_weights = old.provenance.encoder_sha256 == new.provenance.encoder_sha256
    return same_weights and old.selection == new.selection


def answer_of_losses(known: Sequence[float], losses: Sequence[float]) -> Answer:
    """Returns the answer for the first losses of a run; it is never `within seed noise`."""
    if list(known) == list(losses):
        return "identical"
    if len(known) == len(losses) and np.allclose(losses, known, rtol=LOSS_ROUNDING, atol=0):
        return "equal to rounding"
    return "moved"


def scores_by_name(result: ResultFile) -> Mapping[ScoreName, ScoreRecord]:
    """Returns the scores of a result by name."""
    return {score.name: score for score in result.scores}


def score_title(name: ScoreName) -> str:
    """Returns a score's name without its default parts."""
    task, *rest = name
    return " ".join([task, *(part for part in rest if part not in ("all", "best-dev"))])
