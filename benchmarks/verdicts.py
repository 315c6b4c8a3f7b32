"""Error rates of the verdicts: simulations of every promise of docs/verdicts.md, with fixed seeds.

`python -m benchmarks.verdicts` writes the table of docs/verdicts.md; `--check` only compares. A study is
drawn from normal laws, in points: our seeds, and a reported number of a known origin. It is judged by the
functions of `harness.facts.verdicts` that judge the tables.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats

from harness.disk.files import write_text
from harness.facts import statistics
from harness.facts.bootstrap import RESAMPLES, multibootstrap, percentile_interval, resampled_correlations
from harness.facts.comparisons import rank_intervals, surviving
from harness.facts.settling import chance_of_verdict
from harness.facts.statistics import KnownSpread
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
    by_others,
    origin_of,
    p_values,
    verdicts_at_a_look,
)
from harness.paths import SCORES
from harness.report.formats.sections import with_section
from harness.report.system_pairs import (
    NO_ITEMS,
    OverItems,
    Side,
    compare_systems,
    difference_of,
    system_scores,
)
from harness.results.store import read_results

DOCS = Path("docs/verdicts.md")
HEADING = "## Simulated error rates"
STUDIES = 20_000
QUICK = 2_000
SDS = (0.25, 0.5, 0.8, 1.5)
WAY = "sd 0.25 to 1.5; looks followed, or one seed at a time, up to 40"
PAGE = 1_755
"""Published one-run numbers on the pages of the five papers, when the procedures were first tested."""


class Row(NamedTuple):
    """One line of the table. rate: worst over the settings, in [0, 1]; error: its standard error by the
    number of simulations; limit: the promise, None where its assumptions do not hold and none is made.
    """

    promise: str
    settings: str
    rate: float
    error: float
    limit: float | None = LEVEL

    @property
    def holds(self) -> bool:
        """Whether the rate is within the promise and three standard errors."""
        return self.limit is None or self.rate <= self.limit + 3 * self.error + 1e-9


def row(promise: str, settings: str, rate: float, trials: int, limit: float | None = LEVEL) -> Row:
    """Returns the line of a rate that so many independent trials gave."""
    at = LEVEL if limit is None else limit
    return Row(promise, settings, float(rate), math.sqrt(at * (1 - at) / trials), limit)


class Studies:
    """Drawn studies of one law: reported numbers and the mean and sd of our first seeds at any count."""

    def __init__(self, rng: np.random.Generator, sd: float | np.ndarray, reported: np.ndarray) -> None:
        seeds = rng.normal(0.0, sd, (LOOKS[-1], len(reported)))
        counts = np.arange(1, len(seeds) + 1)[:, None]
        self.means = np.cumsum(seeds, axis=0) / counts
        squares = np.cumsum(seeds**2, axis=0) - counts * self.means**2
        self.sds = np.sqrt(np.maximum(squares, 0) / np.maximum(counts - 1, 1))
        self.reported = reported

    def at(self, look: int, origin: Origin) -> np.ndarray:
        """Returns the verdicts at one look; [studies]."""
        difference = self.means[look - 1] - self.reported
        found = p_values(difference, self.sds[look - 1], look, origin=origin)
        return verdicts_at_a_look(found, difference)

    def until_settled(self, origin: Origin, looks: Iterable[int] = LOOKS) -> np.ndarray:
        """Returns the verdicts of people who add seeds up to the next look until there is one; [studies]."""
        found = np.full(len(self.reported), OPEN)
        for look in looks:
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
    """Returns the stated probability of a verdict at the next look, and whether there was one; [studies].

    Differences are drawn from -2 to 2 points and standard deviations from 0.2 to 1.5; studies that have a
    verdict before are left out.
    """
    sds = np.exp(rng.uniform(math.log(0.2), math.log(1.5), 20 * studies))
    study = Studies(rng, sds, rng.uniform(-2, 2, 20 * studies))
    chosen = np.flatnonzero(study.at(seeds, Origin()) == OPEN)[:studies]
    settled = study.at(look, Origin())[chosen] != OPEN
    differences = (study.means[seeds - 1] - study.reported)[chosen]
    own = study.sds[seeds - 1][chosen]
    stated = [
        chance_of_verdict(float(difference), float(sd), seeds, look, origin=Origin()) or 0.0
        for difference, sd in zip(differences, own, strict=True)
    ]
    return np.array(stated), settled


def calibration_without_runs(rng: np.random.Generator, studies: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the same for the first look where no seed is run: the mean is guessed, the sd is a study's."""
    sds = np.exp(rng.uniform(math.log(0.05), math.log(1.0), studies))
    study = Studies(rng, sds, rng.uniform(-2, 2, studies))
    known = [KnownSpread(sd, 50) for sd in (sds * np.sqrt(rng.chisquare(49, studies) / 49)).tolist()]
    look, stated, settled = LOOKS[0], [], []
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
    off = max(
        float((Studies(rng, sd, np.full(studies, shift)).until_settled(origin_of(None)) == SAME).mean())
        for sd in SDS
        for shift in (MARGIN, -MARGIN, 0.8)
    )
    exact = max(
        failed(Studies(rng, sd, np.full(studies, shift)).until_settled(Origin()))
        for sd in SDS
        for shift in (0.0, 0.3, MARGIN)
    )
    rows = [
        row('off by 0.5 or more, yet "replicates"', WAY, off, studies),
        row('within 0.5, exact, yet "does not replicate"', "the same", exact, studies),
    ]
    kinds = {
        "one honest run": (Origin(), origin_of(1)),
        "one honest run, number of runs not stated": (Origin(), origin_of(None)),
        "best of 5 on dev, not stated": (Origin(1, 5), origin_of(None)),
        f"best of {MOST_PICKED} on dev, not stated": (Origin(1, MOST_PICKED), origin_of(None)),
        "best of 5 on dev, stated": (Origin(1, 5), Origin(1, 5)),
        "mean of 3": (Origin(3), Origin(3)),
        "mean of 5": (Origin(5), Origin(5)),
    }
    for name, (drawn, judged) in kinds.items():
        worst = max(
            failed(Studies(rng, sd, reported_numbers(rng, sd, studies, drawn)).until_settled(judged))
            for sd in SDS
        )
        rows.append(row(f'{name}, yet "does not replicate"', "the same", worst, studies))
    twice = max(
        failed(
            Studies(rng, sd, reported_numbers(rng, sd, studies, Origin(3), ratio=2)).until_settled(Origin(3))
        )
        for sd in SDS
    )
    rows.append(
        Row("mean of 3, and their sd is twice ours", "outside of the assumptions", twice, studies, None)
    )
    return rows


def rows_of_advice(studies: int) -> list[Row]:
    """Returns how far the stated probability of a verdict is from the share that gets one, at its worst."""
    rng = np.random.default_rng(2)
    rows = []
    for seeds, look in ((5, 10), (10, 20), (20, 40)):
        stated, settled = calibration(rng, seeds, look, max(200, studies // 10))
        parts = np.array_split(np.argsort(stated), 4)
        off = max(abs(stated[part].mean() - settled[part].mean()) for part in parts)
        error = math.sqrt(0.25 / len(parts[0]))
        rows.append(
            Row(f"probability of a verdict, {seeds} to {look} seeds: off by", "worst quarter", off, error)
        )
    stated, settled = calibration_without_runs(rng, max(200, studies // 10))
    parts = np.array_split(np.argsort(stated), 4)
    off = max(abs(stated[part].mean() - settled[part].mean()) for part in parts)
    how = "worst quarter; the guess is right, sd by a study of 50 seeds"
    rows.append(
        Row("probability of a verdict, 0 to 5 seeds: off by", how, off, math.sqrt(0.25 / len(parts[0])))
    )
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
        row(promise, "3 to 15 sources, sd 0.3 and 0.8", fair, studies // 4),
        row(promise, "8 sources, only results below the number are told", biased, studies // 4, None),
    ]


def rows_of_intervals(studies: int) -> list[Row]:
    """Returns how often intervals miss one more run and a correlation, and the power that is asked for."""
    rng = np.random.default_rng(4)
    worst = 0.0
    for seeds in LOOKS:
        study = Studies(rng, 0.8, reported_numbers(rng, 0.8, studies, Origin()))
        difference = study.means[seeds - 1] - study.reported
        found = p_values(difference, study.sds[seeds - 1], seeds, origin=Origin())
        worst = max(worst, float((found.draw < LEVEL).mean()))
    rows = [row("95 % interval of one more run misses it", "5 to 40 seeds", worst, studies)]
    trials, missed, true = max(60, studies // 50), 0, 0.8
    spearman = 6 / math.pi * math.asin(true / 2)
    for number in range(trials):
        gold, noise = rng.normal(size=(2, 500))
        similar = true * gold + math.sqrt(1 - true**2) * noise
        (draws,) = resampled_correlations(gold, [similar], ranked=True, stream=[number], resamples=300)
        interval = percentile_interval(draws)
        missed += interval is None or not interval.holds(spearman)
    rows.append(row("95 % interval of Spearman over pairs misses it", "500 pairs", missed / trials, trials))
    for sd in (0.5, 1.0):
        seeds = statistics.seeds_needed(0.5, sd, samples=2, target=0.8)
        one, two = rng.normal(0, sd, (studies, seeds)), rng.normal(0.5, sd, (studies, seeds))
        power = float((stats.ttest_ind(one, two, axis=1, equal_var=False).pvalue < 0.05).mean())
        rows.append(
            row(
                "`--power 0.8` does not show 0.5", f"sd {sd:g}, {seeds} seeds a side", 1 - power, studies, 0.2
            )
        )
    return rows


def rows_of_pages(studies: int) -> list[Row]:
    """Returns the share of wrong "does not replicate" on a page of many numbers."""
    rng = np.random.default_rng(5)
    pages = max(20, studies // 200)
    rows = []
    for sd in (0.5, 0.8):
        for off in (0, PAGE // 10):
            shares = []
            for _ in range(pages):
                reported = reported_numbers(rng, sd, PAGE, Origin())
                reported[:off] += 8 * sd
                study = Studies(rng, sd, reported)
                look = int(rng.choice(LOOKS))
                difference = study.means[look - 1] - reported
                found = p_values(difference, study.sds[look - 1], look, origin=Origin())
                p = np.minimum(1, len(LOOKS) * np.maximum(found.off, found.draw))
                told = np.isin(verdicts_at_a_look(found, difference), (LOWER, HIGHER)) & surviving(p.tolist())
                shares.append(told[off:].sum() / max(1, told.sum()))
            kind = f"{off:,} off by 8 sd" if off else "all honest"
            settings = f"{PAGE:,} one-run numbers, sd {sd:g}, {kind}"
            rows.append(row('"does not replicate" on a page that is wrong', settings, np.mean(shares), pages))
    return rows


def rows_of_systems(studies: int) -> list[Row]:
    """Returns how often equal systems are told apart: by ranks, and by `compare-systems` on our own runs."""
    rng = np.random.default_rng(6)
    trials = max(200, studies // 20)
    wrong = sum(
        any(ranks != (1, 6) for ranks in rank_intervals(rng.normal(size=(6, 3)).tolist(), [False] * 6))
        for _ in range(trials)
    )
    rows = [row("equal systems get different ranks in a table", "6 systems, 3 seeds", wrong / trials, trials)]
    told, sets = told_apart(0, 1)
    rows.append(
        row(
            "seed 0 against seed 1 of one system: won or lost",
            f"{told} of {sets} test sets",
            told / sets,
            sets,
        )
    )
    sets = studies // 8
    alone = max(won_or_lost(rng, seeds, 0.0, sets) for seeds in (2, 3, 5))
    rows.append(row("equal systems: a test set won or lost", "2 to 5 seeds a side", alone, sets))
    promise, settings = (
        "the same with other pairs, over seeds and pairs jointly",
        "pairs vary by 0.3 to 3 seed sds",
    )
    joint = max(won_or_lost(rng, seeds, pairs, sets) for seeds in (2, 3, 5) for pairs in (0.3, 1.0, 3.0))
    rows.append(row(promise, settings, joint, sets))
    return rows


def won_or_lost(rng: np.random.Generator, seeds: int, pairs: float, sets: int) -> float:
    """Returns how often `compare-systems` tells two equal systems apart.

    The paired differences of seeds have a standard deviation of 1. pairs: that of one test set's pairs, which
    moves all seeds alike and which the draws of the pairs show; 0 where no vectors are stored.
    """
    found = 0
    for number in range(sets):
        scores = rng.normal(size=seeds) + pairs * rng.normal()
        over = NO_ITEMS
        if pairs:
            draws = scores[:, None] + pairs * rng.normal(size=RESAMPLES)
            over = OverItems(joint=percentile_interval(multibootstrap(draws, stream=[number])))
        ours = Side(dict(enumerate(scores.tolist())), exact=False)
        none = Side(dict.fromkeys(range(seeds), 0.0), exact=False)
        found += difference_of(ours, none, over=over).outcome in ("won", "lost")
    return found / sets


def told_apart(first: int, second: int) -> tuple[int, int]:
    """Returns how many test sets one seed of a system wins or loses against another, and of how many."""
    results = [result for result in read_results(SCORES.glob("*.json")) if result.selection.last_step > 0]
    one, two = (
        system_scores(result for result in results if result.run.seed == seed) for seed in (first, second)
    )
    won = total = 0
    for key in one.keys() & two.keys():
        # both get the same seed number, as two systems would have it
        ours, theirs = (
            replace(
                side[key],
                tasks={name: {0: next(iter(seeds.values()))} for name, seeds in side[key].tasks.items()},
            )
            for side in (one, two)
        )
        tally = compare_systems(ours, theirs).tally
        won, total = won + tally["won"] + tally["lost"], total + sum(tally.values())
    return won, total


PARTS = (rows_of_looks, rows_of_advice, rows_of_others, rows_of_intervals, rows_of_pages, rows_of_systems)


def all_rows(studies: int = STUDIES) -> list[Row]:
    """Returns every line of the table."""
    return [found for part in PARTS for found in part(studies)]


INTRODUCTION = (
    "`python -m benchmarks.verdicts` simulates what may go wrong and writes this table: "
    f"{STUDIES:,} studies a line, fewer where\none takes long, with fixed seeds. "
    "Each rate is the worst over the settings. A rate above its promise by more than three\n"
    "standard errors of the simulation fails the command."
)


def section_of(rows: Iterable[Row]) -> str:
    """Returns the section of docs/verdicts.md."""
    lines = [
        HEADING,
        "",
        INTRODUCTION,
        "",
        "| what may go wrong | studied with | promised | simulated |",
        "| --- | --- | --: | --: |",
    ]
    for one in rows:
        limit = "none" if one.limit is None else f"{100 * one.limit:g} %"
        lines.append(f"| {one.promise} | {one.settings} | {limit} | {100 * one.rate:.1f} % |")
    return "\n".join(lines)


def main() -> int:
    """Writes the table, or compares it; returns 1 if a promise is broken or the table differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing, compare with the table")
    arguments = parser.parse_args()
    rows = all_rows()
    for one in rows:
        if not one.holds:
            print(f"broken: {one.promise} ({one.settings}): {one.rate:.1%}, promised {one.limit:.0%}")
    before = DOCS.read_text(encoding="utf-8")
    after = with_section(before, section_of(rows), where=str(DOCS))
    if not arguments.check:
        write_text(DOCS, after)
    elif before != after:
        print(f"{DOCS} differs; run python -m benchmarks.verdicts")
    return int(not all(one.holds for one in rows) or (arguments.check and before != after))


if __name__ == "__main__":
    sys.exit(main())
