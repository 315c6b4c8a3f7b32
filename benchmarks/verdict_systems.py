"""Simulated intervals, and comparisons of many systems."""

import math
from dataclasses import replace

import numpy as np

from benchmarks.verdict_studies import OUTSIDE_OF_IT, ErrorRate, Studies, reported_numbers
from harness.evidence.comparisons import (
    RESAMPLES,
    Pair,
    claimed_among_many,
    multibootstrap,
    percentile_interval,
    rank_intervals,
    resampled_correlations,
)
from harness.evidence.number_tests import LEVEL, LOOKS, Origin
from harness.evidence.store import read_results
from harness.paths import SCORES
from harness.report.system_pairs import (
    NO_ITEMS,
    OverItems,
    SystemScores,
    TaskName,
    against_all,
    compare_systems,
    difference_of,
    system_scores,
)

TASKS = [TaskName(str(number), "spearman", "all", "senteval") for number in range(6)]


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
    """Returns the rates at which equal systems are distinguished: by ranks, by `compare`, and as the best."""
    rng = np.random.default_rng(6)
    trials = max(200, studies // 20)
    apart = "equal systems get different ranks in a table"
    rows = []
    for sds, seeds, limit in (([1.0] * 6, 3, LEVEL), ([1.0] * 19, 3, LEVEL), ([1.0] * 18 + [5.0], 3, None)):
        wrong = sum(
            any(
                ranks != (1, len(sds))
                for ranks in rank_intervals(
                    [rng.normal(0, sd, seeds).tolist() for sd in sds], [False] * len(sds)
                )
            )
            for _ in range(trials)
        )
        odd = "" if limit else f", one varies five times as much; {OUTSIDE_OF_IT}"
        rows.append(
            ErrorRate(apart, f"{len(sds)} systems, {seeds} seeds{odd}", wrong / trials, trials, limit)
        )
    decided, compared = decided_test_sets(0, 1)
    sets = studies // 8
    alone = max(won_or_lost(rng, seeds, 0.0, sets) for seeds in (2, 3, 5))
    joint = max(won_or_lost(rng, seeds, pairs, sets) for seeds in (2, 3, 5) for pairs in (0.3, 1.0, 3.0))
    first = f"{decided} of {compared} test sets"
    rows += [
        ErrorRate("seed 0 against seed 1 of one system: won or lost", first, decided / compared, compared),
        ErrorRate("equal systems: one test set won or lost", "2 to 5 seeds a side", alone, sets),
        ErrorRate(
            "the same over seeds and pairs jointly",
            "pairs vary by 0.3 to 3 seed sds",
            joint,
            sets,
        ),
    ]
    any_won = sum(_any_won(_equal(rng, 2, seeds)) for seeds in (3, 5) for _ in range(trials)) / (2 * trials)
    rows.append(
        ErrorRate(
            "`try`, equal methods: some test set of six won or lost", "3 and 5 seeds", any_won, 2 * trials
        )
    )
    best = sum(_best_wins(_equal(rng, 19, 3)) for _ in range(trials)) / trials
    how = "19 equal systems, 3 seeds, six test sets"
    return [*rows, ErrorRate("page Compare, best against all: some mean won or lost", how, best, trials)]


def _equal(rng: np.random.Generator, count: int, seeds: int) -> list[SystemScores]:
    """Returns equal systems with scores of six test sets that share half of their variance."""
    systems = []
    for number in range(count):
        common = rng.normal(size=seeds)
        tasks = {task: dict(enumerate((common + rng.normal(size=seeds)).tolist())) for task in TASKS}
        systems.append(SystemScores(str(number), str(number), False, tasks))
    return systems


def _any_won(systems: list[SystemScores]) -> bool:
    tally = compare_systems(*systems).tally
    return tally["won"] + tally["lost"] > 0


def _best_wins(systems: list[SystemScores]) -> bool:
    best = max(systems, key=lambda system: math.fsum(system.means(TASKS).values()))
    comparisons = against_all(best, systems)
    return any(
        comparison.mean is not None and comparison.mean.outcome in ("won", "lost")
        for comparison in comparisons
    )


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


def won_or_lost(rng: np.random.Generator, seeds: int, pairs: float, sets: int) -> float:
    """Returns the rate at which `compare` distinguishes two equal systems.

    The paired differences of seeds have a standard deviation of 1. pairs: the standard deviation over one
    test set's pairs, shared by all seeds and estimated by the draws; 0 without stored vectors.
    """
    decided = 0
    for number in range(sets):
        scores = rng.normal(size=seeds) + pairs * rng.normal()
        over = NO_ITEMS
        if pairs:
            draws = scores[:, None] + pairs * rng.normal(size=RESAMPLES)
            over = OverItems(joint=percentile_interval(multibootstrap(draws, stream=[number])))
        ours, none = dict(enumerate(scores.tolist())), dict.fromkeys(range(seeds), 0.0)
        decided += difference_of(ours, none, over=over).outcome in ("won", "lost")
    return decided / sets


def decided_test_sets(first: int, second: int) -> tuple[int, int]:
    """Returns the numbers of decided and of all test sets, for one seed of two systems."""
    results = [result for result in read_results(SCORES.glob("*.json")) if result.selection.last_step > 0]
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
