"""Simulated pages of many published numbers."""

from typing import cast

import numpy as np

from benchmarks.verdicts.studies import OUTSIDE_OF_IT, RED, ErrorRate, Studies, failed, reported_numbers
from harness.evidence.comparisons import surviving
from harness.evidence.ledger import load_ledger
from harness.evidence.number_tests import (
    AMONG_BORROWED,
    AMONG_SOURCES,
    LEVEL,
    LOOKS,
    Origin,
    borrows,
    over_looks,
    p_values_of_sources,
)
from harness.evidence.published import load_published
from harness.evidence.statistics import KnownSd
from harness.evidence.studies import runs_of
from harness.evidence.verdicts import answers_by_sources
from harness.paths import LEADERBOARDS

PAGE = 1_755
"""Number of published single-run numbers of the five papers when the procedures were first tested."""


def rows_of_pages(studies: int) -> list[ErrorRate]:
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
                study = Studies.normal(rng, sd, reported)
                look = int(rng.choice(LOOKS))
                tests_at_look = study.p_values(look, Origin())
                p = [
                    over_looks(value)
                    for value in np.maximum(tests_at_look.level_differs, tests_at_look.replicates).tolist()
                ]
                failures = failed(*study.at(look, Origin())) & surviving(p)
                shares.append(failures[off:].sum() / max(1, failures.sum()))
            kind = f"{off:,} off by 8 sd" if off else "all honest"
            settings = f"{PAGE:,} one-run numbers, sd {sd:g}, {kind}"
            rows.append(ErrorRate(f"{RED} on a page that is wrong", settings, float(np.mean(shares)), pages))
    return [*rows, *_rows_of_gates(rng, pages)]


def _rows_of_gates(rng: np.random.Generator, pages: int) -> list[ErrorRate]:
    """Returns the rates of wrong red cells by others on a page of twenty rows, seven sets and their average.

    The sets of a run vary as those of the fifty seeds of SimCSE on BERT-base, whose spread is borrowed. On a
    page with a wrong row, 5 % of the numbers, all prints of this row are 3 too high.
    """
    runs, sources, rows_of_page, many = _fifty_sets(), 8, 20, 20 * pages
    whole = np.concatenate([runs.mean(axis=1, keepdims=True), runs], axis=1)
    lent, rows = KnownSd(cast("float", whole.std(axis=0, ddof=1)), len(runs)), []
    for wrong_rows in (0, 1):
        wrong_pages, shares, found = 0, [], 0
        for _ in range(many):
            scores = whole[rng.integers(len(runs), size=(sources + 1, rows_of_page))]
            scores[0, :wrong_rows] += 3.0
            means = scores[1:].mean(axis=0)
            sds = scores[1:].std(axis=0, ddof=1)
            tests = p_values_of_sources(means - scores[0], sds, [1] * sources, origin=Origin(), borrowed=lent)
            level = np.where(borrows(sources, sds, lent), AMONG_BORROWED, AMONG_SOURCES)
            off = failed(*answers_by_sources(tests, means - scores[0], cast("float", level)))
            p = np.minimum(1, np.maximum(tests.level_differs, tests.replicates * LEVEL / level))
            reds = off & (off[:, :1] & np.array(surviving(p[:, 0].tolist()))[:, None])
            wrong_pages += bool(reds[wrong_rows:].any())
            shares.append(reds[wrong_rows:].sum() / max(1, reds.sum()))
            found += bool(wrong_rows and reds[0, 0])
        how = f"{rows_of_page} rows of 7 sets and their average, by {sources} sources each, spread borrowed"
        if not wrong_rows:
            rows.append(
                ErrorRate("some cell is red by others on an honest page", how, wrong_pages / many, many)
            )
            continue
        how += "; one row is 3 too high"
        rows += [
            ErrorRate("red by others on a page that is wrong", how, float(np.mean(shares)), many),
            ErrorRate(
                "red by others: the wrong average is not found",
                f"{how}; {OUTSIDE_OF_IT}",
                1 - found / many,
                many,
                None,
            ),
        ]
    return rows


def _fifty_sets() -> np.ndarray:
    """Returns the fifty seeds of SimCSE on BERT-base on the seven sets, minus their means; [50, 7]."""
    ledger = load_ledger(LEADERBOARDS / "evidence", load_published())
    (study,) = (
        study
        for study in ledger.of("simcse@bert-base-uncased")
        if len(runs_of(study.scores.get("STS12", 0.0))) == 50
    )
    columns = ("STS12", "STS13", "STS14", "STS15", "STS16", "STSB", "SICKR")
    sets = np.array([runs_of(study.scores[column]) for column in columns]).T
    return np.asarray(sets - sets.mean(axis=0))
