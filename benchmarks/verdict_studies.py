"""Simulated studies of one reported number: what the procedures of `harness.facts` get wrong.

A study draws our runs and a reported number, follows the rules, and counts wrong verdicts.
"""

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import stats

from harness.facts import statistics
from harness.facts.comparisons import percentile_interval, resampled_correlations
from harness.facts.settling import chance_of_verdict
from harness.facts.statistics import KnownSd
from harness.facts.verdicts import (
    DEV_CORRELATION,
    HIGHER,
    LEVEL,
    LOOKS,
    LOWER,
    MARGIN,
    MOST_PICKED,
    OPEN,
    SAME,
    Origin,
    PValues,
    by_others,
    origin_of,
    p_values,
    verdicts_at_a_look,
)

SDS = (0.25, 0.5, 0.8, 1.5)


class Row(NamedTuple):
    """One line of the table: the rate of something wrong, the worst over the settings, in [0, 1].

    trials: independent simulations. limit: the promise, None where its assumptions do not hold and none is
    made. chance: what the rate would be if the promise held and no more, by default the limit.
    """

    promise: str
    settings: str
    rate: float
    trials: int
    limit: float | None = LEVEL
    chance: float | None = None

    @property
    def error(self) -> float:
        """The standard error of the rate by the number of simulations."""
        chance = self.chance or self.limit or LEVEL
        return math.sqrt(chance * (1 - chance) / self.trials)

    @property
    def holds(self) -> bool:
        """Whether the rate is within the promise and three standard errors."""
        return self.limit is None or self.rate <= self.limit + 3 * self.error + 1e-9


class Studies:
    """Drawn studies of one law: reported numbers and the mean and sd of our first seeds at any count."""

    def __init__(self, rng: np.random.Generator, sd: float | np.ndarray, reported: np.ndarray) -> None:
        seeds = rng.normal(0.0, sd, (LOOKS[-1], len(reported)))
        counts = np.arange(1, len(seeds) + 1)[:, None]
        self.means = np.cumsum(seeds, axis=0) / counts
        squares = np.cumsum(seeds**2, axis=0) - counts * self.means**2
        self.sds = np.sqrt(np.maximum(squares, 0) / np.maximum(counts - 1, 1))
        self.reported = reported

    def differences(self, look: int) -> np.ndarray:
        """Returns our mean at a look minus the reported number; [studies]."""
        return self.means[look - 1] - self.reported

    def p_values(self, look: int, origin: Origin) -> PValues:
        """Returns those of one look."""
        return p_values(self.differences(look), self.sds[look - 1], look, origin=origin)

    def at(self, look: int, origin: Origin) -> np.ndarray:
        """Returns the verdicts at one look; [studies]."""
        return verdicts_at_a_look(self.p_values(look, origin), self.differences(look))

    def until_settled(self, origin: Origin) -> np.ndarray:
        """Returns the verdicts of people who add seeds up to the next look until there is one; [studies]."""
        found = np.full(len(self.reported), OPEN)
        for look in LOOKS:
            found = np.where(found == OPEN, self.at(look, origin), found)
        return found


def reported_numbers(
    rng: np.random.Generator, sd: float, studies: int, origin: Origin, *, ratio: float = 1.0
) -> np.ndarray:
    """Returns honest reported numbers of a method with mean 0; ratio: their sd by ours. Shape: [studies]."""
    runs = rng.normal(size=(max(origin), studies))
    if origin.picked == 1:
        return sd * ratio * runs[: origin.averaged].mean(axis=0)
    dev = DEV_CORRELATION * runs + math.sqrt(1 - DEV_CORRELATION**2) * rng.normal(size=runs.shape)
    return sd * ratio * runs[dev.argmax(axis=0), np.arange(studies)]


def failed(found: np.ndarray) -> float:
    """Returns the share that does not replicate."""
    return float(np.isin(found, (LOWER, HIGHER)).mean())


def calibration(
    rng: np.random.Generator, seeds: int, look: int, studies: int
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the stated probability of a verdict at a later look, and whether there was one; [studies].

    Differences are drawn from -2 to 2 points and standard deviations from 0.2 to 1.5; studies that have a
    verdict before are left out.
    """
    sds = np.exp(rng.uniform(math.log(0.2), math.log(1.5), 20 * studies))
    study = Studies(rng, sds, rng.uniform(-2, 2, 20 * studies))
    chosen = np.flatnonzero(study.at(seeds, Origin()) == OPEN)[:studies]
    settled = study.at(look, Origin())[chosen] != OPEN
    drawn = zip(study.differences(seeds)[chosen], study.sds[seeds - 1][chosen], strict=True)
    stated = [
        chance_of_verdict(float(difference), float(sd), seeds, look, origin=Origin()) or 0.0
        for difference, sd in drawn
    ]
    return np.array(stated), settled


def calibration_without_runs(
    rng: np.random.Generator, look: int, studies: int
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the same for a look where no seed is run: the mean is guessed, the sd is a study's."""
    sds = np.exp(rng.uniform(math.log(0.05), math.log(1.0), studies))
    study = Studies(rng, sds, rng.uniform(-2, 2, studies))
    known = [KnownSd(sd, 50) for sd in (sds * np.sqrt(rng.chisquare(49, studies) / 49)).tolist()]
    stated, settled = [], []
    for index, spread in enumerate(known):
        reported = float(study.reported[index])
        stated.append(chance_of_verdict(-reported, None, 0, look, origin=Origin(), known=spread) or 0.0)
        difference = study.means[look - 1, index] - reported
        found = p_values(difference, study.sds[look - 1, index], look, origin=Origin(), known=spread)
        settled.append(bool(verdicts_at_a_look(found, difference) != OPEN))
    return np.array(stated), np.array(settled)


def rows_of_looks(studies: int) -> list[Row]:
    """Returns the errors of people who add the seeds that the tool asks for until there is a verdict."""
    rng = np.random.default_rng(1)

    def at_constant(shift: float, sd: float, origin: Origin) -> np.ndarray:
        return Studies(rng, sd, np.full(studies, shift)).until_settled(origin)

    def worst(drawn: Origin, judged: Origin, ratio: float = 1.0) -> float:
        reported = partial(reported_numbers, rng, studies=studies, origin=drawn, ratio=ratio)
        return max(failed(Studies(rng, sd, reported(sd)).until_settled(judged)) for sd in SDS)

    shifts, within = (MARGIN, -MARGIN, 0.8), (0.0, 0.3, MARGIN)
    off = max((at_constant(shift, sd, origin_of(None)) == SAME).mean() for sd in SDS for shift in shifts)
    exact = max(failed(at_constant(shift, sd, Origin())) for sd in SDS for shift in within)
    kinds = {
        "one honest run": (Origin(), origin_of(1)),
        "one honest run, number of runs not stated": (Origin(), origin_of(None)),
        "best of 5 on dev, not stated": (Origin(1, 5), origin_of(None)),
        f"best of {MOST_PICKED} on dev, not stated": (Origin(1, MOST_PICKED), origin_of(None)),
        "best of 5 on dev, stated": (Origin(1, 5), Origin(1, 5)),
        "mean of 3": (Origin(3), Origin(3)),
        "mean of 5": (Origin(5), Origin(5)),
    }
    way = "sd 0.25 to 1.5; looks followed, or one seed at a time, up to 40"
    twice, outside = "mean of 3, and their sd is twice ours", "outside of the assumptions"
    return [
        Row('off by 0.5 or more, yet "replicates"', way, off, studies),
        Row('within 0.5, exact, yet "does not replicate"', "the same", exact, studies),
        *(
            Row(f'{name}, yet "does not replicate"', "the same", worst(*origins), studies)
            for name, origins in kinds.items()
        ),
        Row(twice, outside, worst(Origin(3), Origin(3), ratio=2), studies, None),
    ]


def rows_of_advice(studies: int) -> list[Row]:
    """Returns how far the stated probability of a verdict is from the share that gets one, at its worst."""
    rng = np.random.default_rng(2)
    rows = []
    for seeds, look in ((5, 10), (5, 20), (10, 20), (20, 40), (0, 5), (0, 20)):
        draw = partial(calibration, rng, seeds) if seeds else partial(calibration_without_runs, rng)
        stated, settled = draw(look, max(200, studies // 10))
        parts = np.array_split(np.argsort(stated), 4)
        off = max(abs(stated[part].mean() - settled[part].mean()) for part in parts)
        how = "worst quarter" if seeds else "worst quarter; the guess is right, sd by a study of 50 seeds"
        name = f"probability of a verdict, {seeds} to {look} seeds: off by"
        rows.append(Row(name, how, off, len(parts[0]), chance=0.5))
    return rows


def rows_of_others(studies: int) -> list[Row]:
    """Returns how often sources that are right on average are said to score lower or higher."""
    rng = np.random.default_rng(3)

    def wrong(count: int, sd: float, *, only_bad: bool = False) -> float:
        found = 0
        for _ in range(studies // 4):
            values = rng.normal(0, sd, count)
            if only_bad:
                values = -np.abs(values)
            sources = {str(number): float(value) for number, value in enumerate(values)}
            answer = by_others(sources, 0.0, same_authors=False, searched=True).answer
            found += answer in ("independent runs score lower", "independent runs score higher")
        return found / (studies // 4)

    fair = max(wrong(count, sd) for count in (3, 6, 15) for sd in (0.3, 0.8))
    biased = wrong(8, 0.8, only_bad=True)
    promise = "right on average, yet independent runs score lower or higher"
    return [
        Row(promise, "3 to 15 sources, sd 0.3 and 0.8", fair, studies // 4),
        Row(promise, "8 sources, only results below the number are told", biased, studies // 4, None),
    ]


def rows_of_intervals(studies: int) -> list[Row]:
    """Returns how often intervals miss one more run and a correlation, and the power that is asked for."""
    rng, worst = np.random.default_rng(4), 0.0
    for seeds in LOOKS:
        study = Studies(rng, 0.8, reported_numbers(rng, 0.8, studies, Origin()))
        worst = max(worst, (study.p_values(seeds, Origin()).draw < LEVEL).mean())
    rows = [Row("95 % interval of one more run misses it", "5 to 40 seeds", worst, studies)]
    trials, missed, true = max(60, studies // 50), 0, 0.8
    spearman = 6 / math.pi * math.asin(true / 2)
    for number in range(trials):
        gold, noise = rng.normal(size=(2, 500))
        similar = true * gold + math.sqrt(1 - true**2) * noise
        (draws,) = resampled_correlations(gold, [similar], ranked=True, stream=[number], resamples=300)
        interval = percentile_interval(draws)
        missed += interval is None or not interval.holds(spearman)
    rows.append(Row("95 % interval of Spearman over pairs misses it", "500 pairs", missed / trials, trials))
    for sd in (0.5, 1.0):
        seeds = statistics.seeds_needed(0.5, sd, target=0.8)
        one, two = rng.normal(0, sd, (studies, seeds)), rng.normal(0.5, sd, (studies, seeds))
        power = float((stats.ttest_ind(one, two, axis=1, equal_var=False).pvalue < 0.05).mean())
        settings = f"sd {sd:g}, {seeds} seeds a side"
        rows.append(Row("`--power 0.8` does not show 0.5", settings, 1 - power, studies, 0.2))
    return rows
