"""Two systems side by side: the paired difference of each task with intervals, and how many tasks each wins.

Two things are uncertain in a difference and each has its interval: what other seeds would give, from the
scores, and what other pairs of sentences would give, from the cosines of stored vectors. A task is won where
every interval that is known keeps off zero.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from harness.report import statistics
from harness.report.intervals import Interval, student
from harness.report.tables.moves import HEADLINE, SAME
from harness.results.schema import ResultFile

Outcome = Literal["won", "lost", "open", "equal"]
CONFIDENCE = 0.95


class TaskName(NamedTuple):
    """What two systems are compared on: the setting `all` of one task by one metric in one text form."""

    task: str
    metric: str
    selection: str
    text: str


@dataclass(frozen=True)
class Difference:
    """One task: means over seeds of both systems and first minus second, raw units.

    difference: the mean over the paired seeds. paired: how many seeds both have, each compared with its
    like; a system with one run is compared with every seed of the other, whose spread alone is then in
    `seeds`. seeds, pairs: 95 % intervals of the difference over seeds and over pairs of sentences, None where
    not known.
    """

    name: TaskName
    first: float
    second: float
    difference: float
    paired: int
    seeds: Interval | None
    pairs: Interval | None

    @property
    def outcome(self) -> Outcome:
        """Whether the first system wins the task; open where no interval is known or one holds zero."""
        known = [interval for interval in (self.seeds, self.pairs) if interval is not None]
        if abs(self.difference) <= SAME and all(max(map(abs, interval)) <= SAME for interval in known):
            return "equal"
        if not known or any(interval.holds(0.0) for interval in known):
            return "open"
        return "won" if self.difference > 0 else "lost"


def compare_systems(
    first: Iterable[ResultFile],
    second: Iterable[ResultFile],
    *,
    pairs: Mapping[TaskName, Interval] | None = None,
) -> list[Difference]:
    """Returns a difference for every headline score that both systems have, in the order of the first.

    first, second: the results of one system on one backbone each. pairs: intervals over pairs of sentences,
    where they are known (see `harness.report.bootstrap`).
    """
    ours, theirs = scores_by_task(first), scores_by_task(second)
    found = []
    for name in (name for name in ours if name in theirs):
        differences = paired_differences(ours[name], theirs[name])
        first_mean, second_mean = (statistics.mean([*side[name].values()]) for side in (ours, theirs))
        over_pairs = (pairs or {}).get(name)
        interval = seeds_interval(differences)
        difference = statistics.mean(differences) if differences else first_mean - second_mean
        found.append(
            Difference(name, first_mean, second_mean, difference, len(differences), interval, over_pairs)
        )
    return found


def scores_by_task(results: Iterable[ResultFile]) -> dict[TaskName, dict[int, float]]:
    """Returns the headline scores (setting `all`) of one system by task and seed."""
    found: dict[TaskName, dict[int, float]] = {}
    for result in results:
        for score in result.scores:
            if score.metric in HEADLINE and score.setting == "all":
                name = TaskName(score.task, score.metric, score.selection, result.provenance.text)
                found.setdefault(name, {})[result.run.seed] = score.value
    return found


def paired_differences(ours: Mapping[int, float], theirs: Mapping[int, float]) -> list[float]:
    """Returns first minus second for each seed that both have; a single run goes with every seed."""
    if len(theirs) == 1:
        return [value - next(iter(theirs.values())) for value in ours.values()]
    if len(ours) == 1:
        return [next(iter(ours.values())) - value for value in theirs.values()]
    return [value - theirs[seed] for seed, value in sorted(ours.items()) if seed in theirs]


def seeds_interval(differences: Sequence[float], *, confidence: float = CONFIDENCE) -> Interval | None:
    """Returns Student's interval of a mean of paired differences; None below two of them."""
    sd = statistics.sample_sd(differences)
    if sd is None:
        return None
    reach = student(len(differences) - 1, confidence) * sd / math.sqrt(len(differences))
    centre = statistics.mean(differences)
    return Interval(centre - reach, centre + reach)


def tally(found: Sequence[Difference]) -> dict[Outcome, int]:
    """Returns how many tasks the first system won, lost, left open and scored the same on."""
    counts = Counter(one.outcome for one in found)
    return {"won": counts["won"], "lost": counts["lost"], "open": counts["open"], "equal": counts["equal"]}


def to_json(found: Sequence[Difference], names: tuple[str, str]) -> dict[str, Any]:
    """Returns the comparison as plain values, raw units."""
    tasks = [
        {
            **one.name._asdict(),
            "first": one.first,
            "second": one.second,
            "difference": one.difference,
            "paired_seeds": one.paired,
            "over_seeds": None if one.seeds is None else list(one.seeds),
            "over_pairs": None if one.pairs is None else list(one.pairs),
            "outcome": one.outcome,
        }
        for one in found
    ]
    counts = {str(outcome): count for outcome, count in tally(found).items()}
    return {"first": names[0], "second": names[1], **counts, "tasks": tasks}
