"""`sentbench reproduced`: say whether encoders and scores equal the committed ones, or which do not.

Example: `sentbench reproduced --against HEAD`
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

from harness.errors import InputError
from harness.paths import SCORES
from harness.results.history import results_of
from harness.results.schema import ResultFile

SHOWN = 20
"""Differences that are listed one by one."""


class Comparison(NamedTuple):
    """How many encoders and scores are equal of how many, and a line for each that is not."""

    encoders: int
    of_encoders: int
    scores: int
    of_scores: int
    differences: list[str]


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("--against", metavar="A", help="a git revision, or a folder of scores; default: HEAD")


def execute(arguments: argparse.Namespace) -> None:
    """Prints the differences, at most SHOWN, and last the counts.

    Without a git repository nothing is committed, which is no fault. Errors: InputError if what was named
    holds no scores.
    """
    here = results_of(str(SCORES))
    try:
        there = results_of(arguments.against or "HEAD")
    except InputError as error:
        if arguments.against:
            raise
        print(f"reproduced: nothing to compare with ({error})")
        return
    found = compare(there, here)
    for line in found.differences[:SHOWN]:
        print(line)
    if len(found.differences) > SHOWN:
        print(f"... and {len(found.differences) - SHOWN} more; see `sentbench compare HEAD {SCORES}`")
    print(
        f"reproduced: {found.encoders} of {found.of_encoders} encoders and {found.scores} of "
        f"{found.of_scores} scores equal the committed ones"
    )


def compare(committed: Sequence[ResultFile], here: Sequence[ResultFile]) -> Comparison:
    """Returns what of `here` equals `committed`: weights by their sha256, scores by their kept digits.

    What is on one side only counts as different.
    """
    before, after = ({result.run.key: result for result in side} for side in (committed, here))
    differences, equal_encoders, equal_scores, all_scores = [], 0, 0, 0
    for key in sorted({*before, *after}):
        old, new = before.get(key), after.get(key)
        scores = [_scores(result) if result else {} for result in (old, new)]
        names = sorted({*scores[0], *scores[1]})
        all_scores += len(names)
        if old is None or new is None:
            differences.append(f"{key}: {'not committed' if old is None else 'not run here'}")
            continue
        if old.provenance.encoder_sha256 == new.provenance.encoder_sha256:
            equal_encoders += 1
        else:
            differences.append(f"{key}: other weights than the committed ones")
        for name in names:
            values = [side.get(name) for side in scores]
            equal_scores += values[0] == values[1]
            if values[0] != values[1]:
                differences.append(f"{key}: {' '.join(name)} is {values[1]}, committed {values[0]}")
    return Comparison(equal_encoders, len({*before, *after}), equal_scores, all_scores, differences)


def _scores(result: ResultFile) -> dict[tuple[str, ...], float]:
    return {
        (score.task, score.metric, score.setting, score.selection): score.value for score in result.scores
    }
