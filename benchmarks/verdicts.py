"""Error rates of the verdicts: simulations of every promise of docs/verdicts.md, with fixed seeds.

`python -m benchmarks.verdicts` writes the table of docs/verdicts.md; `--check` only compares. A study is
drawn from normal laws, in points: our seeds, and a reported number of a known origin. It is judged by the
functions of `harness.facts.verdicts` that judge the tables.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.verdict_studies import (
    Row,
    Studies,
    reported_numbers,
    row,
    rows_of_advice,
    rows_of_intervals,
    rows_of_looks,
    rows_of_others,
)
from harness.disk.files import write_text
from harness.facts.comparisons import (
    RESAMPLES,
    Pair,
    claimed_among_many,
    multibootstrap,
    percentile_interval,
    rank_intervals,
    surviving,
)
from harness.facts.verdicts import (
    HIGHER,
    LOOKS,
    LOWER,
    Origin,
    p_values,
    verdicts_at_a_look,
)
from harness.paths import SCORES
from harness.report.formats.readmes import with_section
from harness.report.system_pairs import (
    NO_ITEMS,
    OverItems,
    compare_systems,
    difference_of,
    system_scores,
)
from harness.results.store import read_results

DOCS = Path("docs/verdicts.md")
HEADING = "## Simulated error rates"
STUDIES = 20_000
QUICK = 2_000
PAGE = 1_755
"""Published one-run numbers on the pages of the five papers, when the procedures were first tested."""


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


def rows_of_claims(studies: int) -> list[Row]:
    """Returns the share of wrong answers to the claims of a paper, of pairs that differ or do not."""
    rng = np.random.default_rng(7)
    pages = max(20, studies // 50)
    rows = []
    for true in (0, 20):
        shifts = np.where(np.arange(40) < true, rng.choice((-2.0, 2.0), 40), 0.0)
        shares = []
        for _ in range(pages):
            ours, theirs = rng.normal(shifts[:, None], 1, (40, 5)), rng.normal(size=(40, 5))
            pairs = [Pair(*both) for both in zip(ours.tolist(), theirs.tolist(), strict=True)]
            answers = [answer for _, answer in claimed_among_many(pairs)]
            told = {"supported": 1.0, "contradicted": -1.0, "inconclusive": 0.0}
            signs = np.array([told[answer] for answer in answers])
            wrong = (signs != 0) & (signs != np.sign(shifts))
            shares.append(wrong.sum() / max(1, (signs != 0).sum()))
        kind = f"{true} differ by 2 sd" if true else "all equal"
        settings = f"40 pairs, 5 seeds a side, {kind}"
        rows.append(row("an answered claim is wrong", settings, np.mean(shares), pages))
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
        ours, none = dict(enumerate(scores.tolist())), dict.fromkeys(range(seeds), 0.0)
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


PARTS = (
    rows_of_looks,
    rows_of_advice,
    rows_of_others,
    rows_of_intervals,
    rows_of_pages,
    rows_of_systems,
    rows_of_claims,
)


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
        "| what may go wrong | studied with | promised | simulated | standard error |",
        "| --- | --- | --: | --: | --: |",
    ]
    for one in rows:
        limit = "none" if one.limit is None else f"{100 * one.limit:g} %"
        lines.append(
            f"| {one.promise} | {one.settings} | {limit} | {100 * one.rate:.1f} % | {100 * one.error:.1f} % |"
        )
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
