"""The difference of two systems on one test set or on average, what is known of its error, and its outcome.

A difference is uncertain over seeds, estimated from the scores, and over pairs of sentences, estimated from
the cosines of stored vectors. The seeds of two systems are independent, so the error over seeds is Welch's,
unless they are shown to move together, as for a copy with a small change: then they are compared seed by
seed.

The mean is tested first, at LEVEL. Only if it is won or lost, the test sets are tested, with Holm's steps at
LEVEL. So a wrong line is read in at most LEVEL of the comparisons of equal systems.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeVar, get_args

from scipy import special

from harness.evidence import statistics
from harness.evidence.number_tests import LEVEL, MARGIN
from harness.evidence.statistics import ROUNDING, Interval, StandardError, welch

Outcome = Literal["won", "lost", "inconclusive", "equal"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
CORRELATED = 0.3
"""Correlation of the seeds of two systems above which pairing them pays."""
LEAST_SHOWN = 0.01
"""Level at which a correlation is shown: a chosen test errs more often than a fixed one, by this at most."""
CHANCE = 0.8
"""Chance with which a detectable difference is found."""
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Difference:
    """Mean of the first minus mean of the second system, raw units.

    seeds: numbers of seeds of both sides; paired: whether they are compared seed by seed. over_seeds,
    over_pairs: errors over seeds and over pairs of sentences, None if not known. exact: whether neither
    system has random draws, so scores do not depend on seeds. level: of its test and its intervals; None: not
    tested, because the mean is inconclusive.
    """

    first: float
    second: float
    seeds: tuple[int, int]
    over_seeds: StandardError | None
    over_pairs: StandardError | None = None
    exact: bool = False
    paired: bool = False
    level: float | None = LEVEL

    @property
    def difference(self) -> float:
        """First minus second."""
        return self.first - self.second

    @property
    def jointly(self) -> StandardError | None:
        """The error over seeds and pairs, None unless both are known."""
        if self.over_seeds is None or self.over_pairs is None:
            return None
        return self.over_seeds.with_known(self.over_pairs.size)

    @property
    def deciding(self) -> tuple[StandardError | None, ...]:
        """The errors by which it must differ from zero, None for an unknown one. Both are asked of trained
        systems with known pairs, because the joint error of two seeds that happen to agree is too small.
        """
        if self.exact:
            return (self.over_pairs,)
        return (self.over_seeds, *([self.jointly] if self.jointly is not None else []))

    @property
    def p(self) -> float:
        """The larger p-value of the deciding errors, 1 if one is not known."""
        return max(1.0 if error is None else error.p(self.difference) for error in self.deciding)

    @property
    def intervals(self) -> tuple[Interval | None, Interval | None, Interval | None]:
        """The intervals over seeds, over pairs and jointly; None if not known or not tested."""
        over_seeds, over_pairs, jointly = map(
            self._interval, (self.over_seeds, self.over_pairs, self.jointly)
        )
        return over_seeds, over_pairs, jointly

    @cached_property
    def interval(self) -> Interval | None:
        """The widest interval of the deciding errors, None if one is not known or it is not tested."""
        known = [bounds for bounds in map(self._interval, self.deciding) if bounds is not None]
        if len(known) < len(self.deciding):
            return None
        return max(known, key=lambda bounds: bounds.high - bounds.low)

    def _interval(self, error: StandardError | None) -> Interval | None:
        if error is None or self.level is None:
            return None
        return error.interval(self.difference, self.level)

    @property
    def outcome(self) -> Outcome:
        """Whether the first system wins; inconclusive if an interval includes zero or is not known."""
        errors = [error.size for error in (self.over_seeds, self.over_pairs) if error is not None]
        if abs(self.difference) <= ROUNDING and all(size <= ROUNDING for size in errors):
            return "equal"
        if self.interval is None or self.interval.holds(0.0):
            return "inconclusive"
        return "won" if self.difference > 0 else "lost"

    @property
    def is_small(self) -> bool:
        """Whether it is won or lost by less than MARGIN, which counts as the same: its interval is inside the
        margin.
        """
        return self.outcome in ("won", "lost") and 100 * max(map(abs, self.interval or ())) < MARGIN

    @property
    def in_words(self) -> str:
        """The outcome, with the margin if it is small."""
        return f"{self.outcome} by < {MARGIN:g}" if self.is_small else self.outcome

    @property
    def reason(self) -> str:
        """The basis of the outcome, as text."""
        if self.exact:
            known = "" if self.over_pairs is not None else ", whose interval is not known"
            return f"over pairs of sentences{known}: no score depends on a seed"
        if self.over_seeds is None:
            return "inconclusive over seeds, of which each trained side needs two"
        by = "over paired seeds" if self.paired else "over seeds"
        return f"{by} and pairs jointly" if self.over_pairs is not None else by

    @property
    def detectable(self) -> float | None:
        """The true difference that its test finds with probability CHANCE, None without an interval."""
        if self.interval is None or self.level is None:
            return None
        return max(error.detectable(self.level, CHANCE) for error in self.deciding if error is not None)


def difference_of(
    first: Mapping[int, float],
    second: Mapping[int, float],
    *,
    exact: tuple[bool, bool] = (False, False),
    paired: bool = False,
    pairs: StandardError | None = None,
    systems: int = 2,
) -> Difference:
    """Returns first minus second; scores by seed, at least one, raw units.

    exact: whether a side does not depend on seeds. paired: compare seed by seed over the common seeds, of
    which there are two or more. pairs: the error over pairs; systems: of which all pairs are compared.
    A trained side with one seed has no known error, and two exact sides vary over pairs only.
    """
    if paired:
        shared = sorted(first.keys() & second.keys())
        first, second = ({seed: side[seed] for seed in shared} for side in (first, second))
    ours, theirs = [*first.values()], [*second.values()]
    if exact[0]:
        ours = ours[:1]
    if exact[1]:
        theirs = theirs[:1]
    error, known = None, [len(side) > 1 or still for side, still in zip((ours, theirs), exact, strict=True)]
    if paired:
        sd = statistics.sample_sd([one - other for one, other in zip(ours, theirs, strict=True)]) or 0.0
        error = StandardError(sd / math.sqrt(len(ours)), len(ours) - 1, systems)
    elif all(known) and not all(exact):
        error = welch(ours, theirs, systems=systems) or StandardError(0.0, math.inf, systems)
    means = statistics.mean(ours), statistics.mean(theirs)
    return Difference(*means, (len(ours), len(theirs)), error, pairs, all(exact), paired)


def move_together(first: Mapping[int, float], second: Mapping[int, float]) -> bool:
    """Returns whether the common seeds of two systems are shown to have a correlation above CORRELATED.

    Scores that move together have a sum that varies much more than their difference. The ratio of these
    variances has Fisher's F distribution times (1 + r) / (1 - r) for a correlation r of two systems with
    equal variances, and is smaller for unequal ones (intraclass correlation, Fisher 1925).
    """
    shared = sorted(first.keys() & second.keys())
    if len(shared) < 2:
        return False
    sums, differences = (
        statistics.sample_sd([first[seed] + sign * second[seed] for seed in shared]) or 0.0
        for sign in (1, -1)
    )
    if sums <= ROUNDING or differences <= ROUNDING:
        return sums > differences
    freedom, times = len(shared) - 1, (1 + CORRELATED) / (1 - CORRELATED)
    return bool(special.fdtrc(freedom, freedom, (sums / differences) ** 2 / times) < LEAST_SHOWN)


def mean_first(mean: Difference | None, tasks: Mapping[Name, Difference]) -> dict[Name, Difference]:
    """Returns the test sets with their levels: none while the mean is inconclusive, otherwise Holm's steps.
    If the mean has no interval, the steps alone keep LEVEL.
    """
    if mean is not None and mean.interval is not None and mean.outcome not in ("won", "lost"):
        return {name: replace(difference, level=None) for name, difference in tasks.items()}
    levels = holm([difference.p for difference in tasks.values()])
    return {
        name: replace(difference, level=level)
        for (name, difference), level in zip(tasks.items(), levels, strict=True)
    }


def holm(p: Sequence[float]) -> list[float]:
    """Returns the level to which each of several p-values is held, so that all together have LEVEL.

    The smallest is held to LEVEL / n, the next one to LEVEL / (n - 1), up to the first that is above; the
    others stay at that step (Holm 1979).
    """
    levels, step = [LEVEL] * len(p), len(p)
    for position in sorted(range(len(p)), key=p.__getitem__):
        levels[position] = LEVEL / step
        if p[position] < levels[position]:
            step = max(1, step - 1)
    return levels


def pairs_of_mean(parts: Sequence[StandardError | None]) -> StandardError | None:
    """Returns the error over pairs of a mean of test sets, None unless all are known. Test sets count as
    independent, although the parts of a year contain pairs of STS-B.
    """
    known = [part.size for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    return StandardError(math.hypot(*known) / len(known), math.inf)
