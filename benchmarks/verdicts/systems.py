"""Simulated intervals, and comparisons of many systems."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from benchmarks.verdicts.studies import OUTSIDE_OF_IT, ErrorRate, Studies, reported_numbers
from harness.evidence.comparisons import (
    Pair,
    claimed_among_many,
    rank_intervals,
)
from harness.evidence.differences import Difference, difference_of
from harness.evidence.further import read_recorded
from harness.evidence.number_tests import LEVEL, LOOKS, Origin
from harness.evidence.resampling import percentile_interval, resampled_correlations
from harness.evidence.statistics import StandardError
from harness.evidence.system_pairs import (
    SystemScores,
    TaskName,
    against_all,
    compare_systems,
    system_scores,
)

TASKS = [TaskName(str(number), "spearman", "all", "senteval") for number in range(6)]
SIDES = (2, 3, 5, 10, 20)
"""Numbers of seeds a side at which comparisons are studied."""


def rows_of_intervals(studies: int) -> list[ErrorRate]:
    """Returns the rates at which intervals miss."""
    rng, worst = np.random.default_rng(4), 0.0
    for seeds in LOOKS:
        study = Studies.normal(rng, 0.8, reported_numbers(rng, 0.8, studies, Origin()))
        worst = max(worst, float((study.p_values(seeds, Origin()).replicates < LEVEL).mean()))
    rows = [ErrorRate("95 % interval of one more run misses it", "5 to 40 seeds", worst, studies)]
    heavy = Studies(rng.standard_t(3, (LOOKS[-1], studies)), rng.standard_t(3, studies))
    rate, how = float((heavy.p_values(5, Origin()).replicates < LEVEL).mean()), "5 seeds, Student's t(3)"
    rows.append(
        ErrorRate("95 % interval of one more run misses it", f"{how}; {OUTSIDE_OF_IT}", rate, studies, None)
    )
    trials, missed, true = max(60, studies // 2), 0, 0.8
    spearman = 6 / math.pi * math.asin(true / 2)
    for number in range(trials):
        gold, noise = rng.normal(size=(2, 500))
        similar = true * gold + math.sqrt(1 - true**2) * noise
        (draws,) = resampled_correlations(gold, [similar], ranked=True, stream=[number], resamples=300)
        interval = percentile_interval(draws)
        missed += interval is None or not interval.holds(spearman)
    rows.append(
        ErrorRate("95 % interval of Spearman over pairs misses it", "500 pairs", missed / trials, trials)
    )
    return rows


def rows_of_systems(studies: int) -> list[ErrorRate]:
    """Returns the rates at which equal systems are distinguished: by ranks, by `compare`, and as the best.

    Seeds vary as the committed ones: each system has the covariance of its test sets over its seeds.
    """
    rng, trials = np.random.default_rng(6), max(400, studies // 4)
    roots = committed_roots()
    how = f"{len(roots)} systems with the committed covariances, "
    rows = []
    for counts in ((3,), (10,), (10, 20)):
        apart = any_won = any_task = 0
        for _ in range(trials):
            systems = [
                _drawn(rng, root, counts[number % len(counts)], str(number))
                for number, root in enumerate(roots)
            ]
            groups = [[*system.means(TASKS).values()] for system in systems]
            apart += any(ranks != (1, len(roots)) for ranks in rank_intervals(groups, [False] * len(roots)))
            means, tasks = _best_wins(systems)
            any_won, any_task = any_won + means, any_task + tasks
        at = f"{how}{' or '.join(map(str, counts))} seeds"
        rows += [
            ErrorRate("equal systems get different ranks in a table", at, apart / trials, trials),
            ErrorRate("page Compare, best against all: some mean won or lost", at, any_won / trials, trials),
            ErrorRate("the same: some line won or lost", at, any_task / trials, trials),
        ]
    decided, compared = decided_test_sets(0, 1)
    first = f"{decided} of {compared} test sets"
    rows.append(
        ErrorRate("seed 0 against seed 1 of one system: won or lost", first, decided / compared, compared)
    )
    return [*rows, *_rows_of_two(rng, roots, max(400, studies // 2))]


def _rows_of_two(rng: np.random.Generator, roots: list[np.ndarray], trials: int) -> list[ErrorRate]:
    """Returns the rates for two systems: equal ones in any line, and the power of ten seeds."""
    promise = "`try`, `compare`, equal systems: some line won or lost"
    rows = []
    for ours, theirs in (*((seeds, seeds) for seeds in SIDES), (10, 20)):
        wrong = 0
        for _ in range(trials):
            first, second = rng.choice(len(roots), 2)
            wrong += _any_won(_drawn(rng, roots[first], ours, "a"), _drawn(rng, roots[second], theirs, "b"))
        seeds = f"{ours} seeds a side" if ours == theirs else f"{ours} seeds against {theirs}"
        at = f"six test sets and their mean, committed covariances, {seeds}"
        rows.append(ErrorRate(promise, at, wrong / trials, trials))
    for correlation in (0.3, 0.9):
        at = f"the same, 5 seeds a side that correlate by {correlation:g}"
        wrong = sum(_any_won(*_together(rng, roots, 5, correlation)) for _ in range(trials))
        rows.append(ErrorRate(promise, at, wrong / trials, trials))
    for pairs in (0.3, 1.0, 3.0):
        wrong = sum(won_or_lost(rng, seeds, pairs) for seeds in (2, 3, 5) for _ in range(trials // 3))
        at = f"one test set that varies over pairs by {pairs:g} seed sds, 2 to 5 seeds a side"
        rows.append(ErrorRate("the same over seeds and pairs jointly", at, wrong / trials, trials))
    both = [_committed()[f"{name}-small@words-50d"] for name in ("simcse", "distill")]
    sds = [float(np.std([*system.means([*system.tasks]).values()], ddof=1)) for system in both]
    missed = sum(not _found(rng, sds, (10, 10), 0.034) for _ in range(trials))
    at = "10 seeds a side, 3.4 points of the mean, the committed sds of SimCSE and distillation"
    promise = "`try`, `compare`: a true difference is not found"
    rows.append(ErrorRate(promise, at, missed / trials, trials, 0.2))
    for counts in ((10, 20), (20, 10)):
        missed = sum(not _found(rng, sds, counts, stated(sds, counts)) for _ in range(trials))
        at = f"{counts[0]} seeds against {counts[1]}, the difference that the output states, the same sds"
        rows.append(ErrorRate(promise, at, missed / trials, trials, 0.2))
    return rows


def stated(sds: Sequence[float], counts: tuple[int, int]) -> float:
    """Returns the difference that `compare` states for sides with exactly these standard deviations."""
    sides = []
    for sd, count in zip(sds, counts, strict=True):
        scores = np.linspace(-1, 1, count)
        sides.append(dict(enumerate((scores * sd / scores.std(ddof=1)).tolist())))
    least = difference_of(*sides).detectable
    assert least is not None
    return least


def committed_roots() -> list[np.ndarray]:
    """Returns for each trained system of the small plan a root of the covariance of its six test sets over
    its seeds, scaled to divisor n - 1; [tasks, seeds] each."""
    systems = [system for system in _committed().values() if not system.exact]
    roots = []
    for system in systems:
        scores = np.array([[*seeds.values()] for seeds in system.tasks.values()])
        roots.append((scores - scores.mean(axis=1, keepdims=True)) / math.sqrt(scores.shape[1] - 1))
    return [root for root in roots if len(root) == len(TASKS)]


def _committed() -> dict[str, SystemScores]:
    return system_scores(read_recorded().results)


def _drawn(rng: np.random.Generator, root: np.ndarray, seeds: int, name: str) -> SystemScores:
    """Returns a system of mean zero with normal scores of this covariance."""
    scores = root @ rng.normal(size=(root.shape[1], seeds))
    tasks = {task: dict(enumerate(row.tolist())) for task, row in zip(TASKS, scores, strict=True)}
    return SystemScores(name, name, False, tasks)


def _together(
    rng: np.random.Generator, roots: list[np.ndarray], seeds: int, correlation: float
) -> tuple[SystemScores, SystemScores]:
    """Returns two equal systems with the same covariance, whose seeds correlate."""
    root = roots[int(rng.choice(len(roots)))]
    common, *own = rng.normal(size=(3, root.shape[1], seeds))
    sides = []
    for name, noise in zip("ab", own, strict=True):
        scores = root @ (math.sqrt(correlation) * common + math.sqrt(1 - correlation) * noise)
        tasks = {task: dict(enumerate(row.tolist())) for task, row in zip(TASKS, scores, strict=True)}
        sides.append(SystemScores(name, name, False, tasks))
    return sides[0], sides[1]


def _decided(difference: Difference | None) -> bool:
    return difference is not None and difference.outcome in ("won", "lost")


def _any_won(first: SystemScores, second: SystemScores) -> bool:
    both = compare_systems(first, second)
    return any(map(_decided, (both.mean, *both.tasks.values())))


def _best_wins(systems: list[SystemScores]) -> tuple[bool, bool]:
    """Returns whether some mean, and whether some line, is won or lost by the best system."""
    best = max(systems, key=lambda system: math.fsum(system.means(TASKS).values()))
    comparisons = against_all(best, systems)
    lines = [line for both in comparisons for line in both.tasks.values()]
    means = any(_decided(both.mean) for both in comparisons)
    return means, means or any(map(_decided, lines))


def _found(rng: np.random.Generator, sds: Sequence[float], counts: tuple[int, int], true: float) -> bool:
    sides = [
        SystemScores(name, name, False, {TASKS[0]: dict(enumerate(rng.normal(mean, sd, count).tolist()))})
        for name, mean, sd, count in zip("ab", (true, 0.0), sds, counts, strict=True)
    ]
    mean = compare_systems(sides[0], sides[1]).mean
    return mean is not None and mean.outcome == "won"


def won_or_lost(rng: np.random.Generator, seeds: int, pairs: float) -> bool:
    """Returns whether `compare` distinguishes two equal systems with known errors over pairs.

    The scores of seeds have a standard deviation of 1. pairs: the standard deviation over one test set's
    pairs, shared by all seeds.
    """
    shifted = pairs * rng.normal()
    ours, theirs = (
        SystemScores(name, name, False, {TASKS[0]: dict(enumerate((rng.normal(size=seeds) + by).tolist()))})
        for name, by in (("a", shifted), ("b", 0.0))
    )
    both = compare_systems(ours, theirs, pairs={TASKS[0]: StandardError(pairs, math.inf)})
    return any(map(_decided, (both.mean, *both.tasks.values())))


def rows_of_claims(studies: int) -> list[ErrorRate]:
    """Returns the share of wrong answers for many pairs, some with true differences."""
    rng = np.random.default_rng(7)
    pages = max(50, studies // 50)
    rows = []
    for true in (0, 20):
        shifts = np.where(np.arange(40) < true, rng.choice((-2.0, 2.0), 40), 0.0)
        shares = []
        for _ in range(pages):
            ours, theirs = rng.normal(shifts[:, None], 1, (40, 5)), rng.normal(size=(40, 5))
            pairs = [Pair(*both) for both in zip(ours.tolist(), theirs.tolist(), strict=True)]
            sign_of = {"supported": 1.0, "contradicted": -1.0, "inconclusive": 0.0}
            signs = np.array([sign_of[answer] for _, answer in claimed_among_many(pairs)])
            wrong = (signs != 0) & (signs != np.sign(shifts))
            shares.append(wrong.sum() / max(1, (signs != 0).sum()))
        kind = f"{true} differ by 2 sd" if true else "all equal"
        settings = f"40 pairs, 5 seeds a side, {kind}"
        rows.append(ErrorRate("an answered claim is wrong", settings, float(np.mean(shares)), pages))
    return rows


def decided_test_sets(first: int, second: int) -> tuple[int, int]:
    """Returns the numbers of decided and of all test sets, for one seed of two systems."""
    results = [result for result in read_recorded().results if result.selection.last_step > 0]
    seed_a, seed_b = (
        system_scores(result for result in results if result.run.seed == seed) for seed in (first, second)
    )
    won = total = 0
    for key in seed_a.keys() & seed_b.keys():
        # both have the same seed, like two systems
        ours, theirs = (
            replace(
                side[key],
                tasks={name: {0: next(iter(seeds.values()))} for name, seeds in side[key].tasks.items()},
            )
            for side in (seed_a, seed_b)
        )
        tally = compare_systems(ours, theirs).tally
        won, total = won + tally["won"] + tally["lost"], total + sum(tally.values())
    return won, total
