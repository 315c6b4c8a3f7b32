"""Error rates of the verdicts: simulations of every promise of docs/verdicts.md, with fixed seeds.

`python -m benchmarks.verdicts` writes the table of docs/verdicts.md. A study is drawn from normal laws, in
points: our seeds, and a reported number of a known origin. It is judged by the functions of
`harness.facts.verdicts` that judge the tables.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.verdict_studies import (
    Row,
    Studies,
    reported_numbers,
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
from harness.facts.verdicts import HIGHER, LOOKS, LOWER, Origin
from harness.paths import SCORES
from harness.report.formats.readmes import with_section
from harness.report.system_pairs import NO_ITEMS, OverItems, compare_systems, difference_of, system_scores
from harness.results.store import read_results

DOCS = Path("docs/verdicts.md")
STUDIES = 20_000
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
                found = study.p_values(look, Origin())
                p = np.minimum(1, len(LOOKS) * np.maximum(found.off, found.draw))
                told = np.isin(study.at(look, Origin()), (LOWER, HIGHER)) & surviving(p.tolist())
                shares.append(told[off:].sum() / max(1, told.sum()))
            kind = f"{off:,} off by 8 sd" if off else "all honest"
            settings = f"{PAGE:,} one-run numbers, sd {sd:g}, {kind}"
            rows.append(Row('"does not replicate" on a page that is wrong', settings, np.mean(shares), pages))
    return rows


def rows_of_systems(studies: int) -> list[Row]:
    """Returns how often equal systems are told apart: by ranks, and by `compare` on our own runs."""
    rng = np.random.default_rng(6)
    trials = max(200, studies // 20)
    wrong = sum(
        any(ranks != (1, 6) for ranks in rank_intervals(rng.normal(size=(6, 3)).tolist(), [False] * 6))
        for _ in range(trials)
    )
    told, compared = told_apart(0, 1)
    apart, sets = f"{told} of {compared} test sets", studies // 8
    alone = max(won_or_lost(rng, seeds, 0.0, sets) for seeds in (2, 3, 5))
    joint = max(won_or_lost(rng, seeds, pairs, sets) for seeds in (2, 3, 5) for pairs in (0.3, 1.0, 3.0))
    jointly = "the same with other pairs, over seeds and pairs jointly"
    return [
        Row("equal systems get different ranks in a table", "6 systems, 3 seeds", wrong / trials, trials),
        Row("seed 0 against seed 1 of one system: won or lost", apart, told / compared, compared),
        Row("equal systems: a test set won or lost", "2 to 5 seeds a side", alone, sets),
        Row(jointly, "pairs vary by 0.3 to 3 seed sds", joint, sets),
    ]


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
            told = {"supported": 1.0, "contradicted": -1.0, "inconclusive": 0.0}
            signs = np.array([told[answer] for _, answer in claimed_among_many(pairs)])
            wrong = (signs != 0) & (signs != np.sign(shifts))
            shares.append(wrong.sum() / max(1, (signs != 0).sum()))
        kind = f"{true} differ by 2 sd" if true else "all equal"
        settings = f"40 pairs, 5 seeds a side, {kind}"
        rows.append(Row("an answered claim is wrong", settings, np.mean(shares), pages))
    return rows


def won_or_lost(rng: np.random.Generator, seeds: int, pairs: float, sets: int) -> float:
    """Returns how often `sentbench compare` tells two equal systems apart.

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


HEAD = f"""\
## Simulated error rates

`python -m benchmarks.verdicts` simulates what may go wrong and writes this table: {STUDIES:,} studies a \
line, fewer where
one takes long, with fixed seeds. Each rate is the worst over the settings. A rate above its promise by \
more than three
standard errors of the simulation fails the command.

| what may go wrong | studied with | promised | simulated | standard error |
| --- | --- | --: | --: | --: |
"""


def main(studies: int = STUDIES) -> int:
    """Writes the table; returns 1 if a promise is broken."""
    parts = (
        rows_of_looks,
        rows_of_advice,
        rows_of_others,
        rows_of_intervals,
        rows_of_pages,
        rows_of_systems,
        rows_of_claims,
    )
    section, code = HEAD, 0
    for one in (found for part in parts for found in part(studies)):
        limit = "none" if one.limit is None else f"{100 * one.limit:g} %"
        rates = f"{limit} | {100 * one.rate:.1f} % | {100 * one.error:.1f} %"
        section += f"| {one.promise} | {one.settings} | {rates} |\n"
        if not one.holds:
            print(f"broken: {one.promise} ({one.settings}): {one.rate:.1%}, promised {one.limit:.0%}")
            code = 1
    write_text(DOCS, with_section(DOCS.read_text(encoding="utf-8"), section, where=str(DOCS)))
    return code


if __name__ == "__main__":
    sys.exit(main())
