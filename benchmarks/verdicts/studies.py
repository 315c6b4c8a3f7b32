"""Simulated studies of a reported number by our seeds: error rates and power of the procedures.

A study draws our runs and a reported number, follows the rules, and counts.
"""

import math
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np

from harness.evidence.ledger import load_ledger
from harness.evidence.number_tests import (
    DEV_CORRELATION,
    LEVEL,
    LOOKS,
    MARGIN,
    MOST_PICKED,
    Origin,
    PValues,
    look_of,
    origin_of,
    p_values,
)
from harness.evidence.published import load_published
from harness.evidence.studies import runs_of
from harness.evidence.verdicts import answers_at_a_look, judge
from harness.evidence.words import DRAWS, LEVELS
from harness.paths import LEADERBOARDS
from harness.report.tables.evidence import SeedScore, in_declared_order

SDS = (0.25, 0.5, 0.8, 1.5)
SAME, NOT_KNOWN, OUTSIDE = (
    LEVELS.index("within half a point"),
    LEVELS.index("not known"),
    DRAWS.index("outside"),
)
OUTSIDE_OF_IT = "outside of the promise"
RED = '"does not replicate"'


class ErrorRate(NamedTuple):
    """One line of the table: an error rate in [0, 1], the worst over the settings.

    trials: independent simulations. limit: the promised rate, None if its assumptions do not hold. chance:
    the rate if the promise held exactly, by default the limit.
    """

    promise: str
    settings: str
    rate: float
    trials: int
    limit: float | None = LEVEL
    chance: float | None = None

    @property
    def error(self) -> float:
        """The standard error of the rate over simulations."""
        chance = self.chance or self.limit or LEVEL
        return math.sqrt(chance * (1 - chance) / self.trials)

    @property
    def holds(self) -> bool:
        """Whether the rate exceeds the promise by at most three standard errors."""
        return self.limit is None or self.rate <= self.limit + 3 * self.error + 1e-9


class Studies:
    """Studies of many reported numbers: the mean and sd of our first seeds at any count.

    seeds: of each study in order, [40, studies].
    """

    def __init__(self, seeds: np.ndarray, reported: np.ndarray | float) -> None:
        counts = np.arange(1, len(seeds) + 1)[:, None]
        self.means = np.cumsum(seeds, axis=0) / counts
        squares = np.cumsum(seeds**2, axis=0) - counts * self.means**2
        self.sds = np.sqrt(np.maximum(squares, 0) / np.maximum(counts - 1, 1))
        self.reported = reported

    @classmethod
    def normal(cls, rng: np.random.Generator, sd: Any, reported: np.ndarray) -> "Studies":
        """Returns studies with normal seeds around 0; sd: of all or of each."""
        return cls(rng.normal(0.0, sd, (LOOKS[-1], len(reported))), reported)

    def differences(self, look: int) -> np.ndarray:
        """Returns our mean at a look minus the reported number; [studies]."""
        return np.asarray(self.means[look - 1] - self.reported)

    def p_values(self, look: int, origin: Origin, rounding: float = 0.0) -> PValues:
        """Returns the p-values at one look."""
        return p_values(self.differences(look), self.sds[look - 1], look, origin=origin, rounding=rounding)

    def at(self, look: int, origin: Origin, rounding: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Returns the level and the draw at one look; [studies] each."""
        return answers_at_a_look(self.p_values(look, origin, rounding), self.differences(look))

    def at_any_look(self, wrong: Callable[[np.ndarray, np.ndarray], np.ndarray], origin: Origin) -> float:
        """Returns the share of studies that are wrong at one or more looks."""
        return float(np.any([wrong(*self.at(look, origin)) for look in LOOKS], axis=0).mean())

    def replicates(self) -> float:
        """Returns the share that replicates at one or more looks."""
        return self.at_any_look(lambda level, draw: level == SAME, Origin())

    def level_is_off(self) -> float:
        """Returns the share with a different level at one or more looks."""
        return self.at_any_look(lambda level, draw: (level != SAME) & (level != NOT_KNOWN), Origin())

    def fails(self, origin: Origin) -> float:
        """Returns the share that does not replicate at one or more looks."""
        return self.at_any_look(failed, origin)


def failed(level: np.ndarray, draw: np.ndarray) -> np.ndarray:
    """Returns the mask of studies that do not replicate: both answers are off."""
    return (level != SAME) & (level != NOT_KNOWN) & (draw == OUTSIDE)


def reported_numbers(
    rng: np.random.Generator, sd: float, studies: int, origin: Origin, *, ratio: float = 1.0
) -> np.ndarray:
    """Returns honest reported numbers [studies] of a method with mean 0; ratio: of their sd to ours."""
    runs = rng.normal(size=(origin.averaged, origin.picked, studies))
    dev = DEV_CORRELATION * runs + math.sqrt(1 - DEV_CORRELATION**2) * rng.normal(size=runs.shape)
    best = np.take_along_axis(runs, dev.argmax(axis=1)[:, None], axis=1)
    return sd * ratio * best.mean(axis=(0, 1))


def rows_of_looks(studies: int) -> list[ErrorRate]:
    """Returns the error rates with optional stopping after any number of seeds."""
    rng = np.random.default_rng(1)

    def at_constant(shift: float, sd: float) -> Studies:
        return Studies.normal(rng, sd, np.full(studies, shift))

    def worst(drawn: Origin, judged: Origin, ratio: float = 1.0) -> float:
        reported = partial(reported_numbers, rng, studies=studies, origin=drawn, ratio=ratio)
        return max(Studies.normal(rng, sd, reported(sd)).fails(judged) for sd in SDS)

    shifts, within = (MARGIN, -MARGIN, 0.8), (0.0, 0.3, MARGIN)
    off = max(at_constant(shift, sd).replicates() for sd in SDS for shift in shifts)
    exact = max(at_constant(shift, sd).level_is_off() for sd in SDS for shift in within)
    way = "sd 0.25 to 1.5; looks followed, or one seed at a time, up to 40"
    kinds = {
        "one honest run": (Origin(), origin_of(1)),
        "one honest run, number of runs not stated": (Origin(), origin_of(None)),
        "best of 5 on dev, not stated": (Origin(1, 5), origin_of(None)),
        f"best of {MOST_PICKED} on dev, not stated": (Origin(1, MOST_PICKED), origin_of(None)),
        "best of 5 on dev, stated": (Origin(1, 5), origin_of(1, 5)),
        "mean of 3": (Origin(3), origin_of(3)),
        "mean of 5": (Origin(5), origin_of(5)),
        "mean of 3 runs, each the best of 5 on dev, stated": (Origin(3, 5), origin_of(3, 5)),
    }
    outside = {
        "best of 20 on dev, not stated": (Origin(1, 20), origin_of(None), 1.0),
        "best of 5 on dev, entered as one run": (Origin(1, 5), Origin(), 1.0),
        "best of 10 on dev, entered as one run": (Origin(1, 10), Origin(), 1.0),
        "mean of 3 runs, each the best of 5 on dev, the choice not stated": (Origin(3, 5), Origin(3), 1.0),
        "mean of 5 runs, each the best of 5 on dev, the choice not stated": (Origin(5, 5), Origin(5), 1.0),
        "one run, and the sd behind it is 1.5 times ours": (Origin(), Origin(), 1.5),
        "one run, and the sd behind it is twice ours": (Origin(), Origin(), 2.0),
        "mean of 3, and the sd behind it is twice ours": (Origin(3), Origin(3), 2.0),
    }
    return [
        ErrorRate('off by 0.5 or more, yet "replicates"', way, off, studies),
        ErrorRate("within 0.5, yet the level is said to be off", "the same", exact, studies),
        *(ErrorRate(f"{name}, yet {RED}", "the same", worst(*kinds[name]), studies) for name in kinds),
        *(
            ErrorRate(
                f"{name}, yet {RED}", f"the same; {OUTSIDE_OF_IT}", worst(*outside[name]), studies, None
            )
            for name in outside
        ),
    ]


def rows_of_laws(studies: int) -> list[ErrorRate]:
    """Returns the error rates for seeds without a common normal distribution."""
    rng, shape, off = np.random.default_rng(7), (LOOKS[-1], studies), 'off by 0.5, yet "replicates"'
    skewed = -rng.gamma(1.0, size=shape)
    blocks = rng.normal(0, 0.3, shape) + np.repeat(rng.normal(0, 0.3, (LOOKS[-1] // 5, studies)), 5, axis=0)
    rows = [
        ErrorRate(off, f"left-skewed seeds (exponential), sd {sd:g}; {OUTSIDE_OF_IT}", rate, studies, None)
        for sd in (0.5, 0.8)
        for rate in [Studies(sd * (skewed + 1), np.full(studies, MARGIN)).replicates()]
    ]
    kind = f"blocks of 5 seeds by several people, sd 0.3 within and between; {OUTSIDE_OF_IT}"
    rows.append(ErrorRate(off, kind, Studies(blocks, np.full(studies, MARGIN)).replicates(), studies, None))
    for sd in (0.2, 0.4, 0.8):
        seeds = rng.normal(0, sd, shape) - 20 * (rng.random(shape) < 0.05)
        rate = Studies(seeds, np.zeros(studies)).replicates()
        kind = f"5 % of runs collapse by 20, sd {sd:g}; {OUTSIDE_OF_IT}"
        rows.append(ErrorRate('1.0 above the mean of all runs, yet "replicates"', kind, rate, studies, None))
    few = max(400, studies // 10)
    rate = max(_without_collapsed(rng, sd, few) for sd in (0.2, 0.4, 0.8))
    kind = "5 % of runs collapse by 20, sd 0.2 to 0.8"
    rows.append(
        ErrorRate('off by 0.5 from the other runs, yet "replicates" without the collapsed', kind, rate, few)
    )
    study = Studies.normal(rng, 0.05, np.round(rng.normal(0, 0.05, studies), 1))
    rate = study.at_any_look(lambda level, draw: draw == OUTSIDE, Origin())
    kind = f"printed with one decimal, entered as two, sd 0.05; {OUTSIDE_OF_IT}"
    rows.append(ErrorRate("one honest run, yet outside the range of runs", kind, rate, studies, None))
    rows.append(ErrorRate(off, "seeds that arrive in any order", _out_of_order(rng, few), few))
    return [*rows, *_rows_of_fifty(rng, studies), *_rows_of_labs(studies)]


def _without_collapsed(rng: np.random.Generator, sd: float, studies: int) -> float:
    """Returns the rate at which uncollapsed runs wrongly replicate a number."""
    replicated = 0
    for _ in range(studies):
        seeds = rng.normal(0, sd, LOOKS[-1]) - 20 * (rng.random(LOOKS[-1]) < 0.05)
        judgements = [judge(seeds[:look].tolist(), MARGIN, origin=Origin()) for look in LOOKS]
        replicated += any((judgement.without or judgement).verdict.agrees for judgement in judgements)
    return replicated / studies


def _out_of_order(rng: np.random.Generator, studies: int) -> float:
    """Returns the rate at which a wrong number replicates at a look, with looks as seeds arrive."""
    replicated, declared = 0, list(range(LOOKS[-1]))
    for _ in range(studies):
        seeds, arrived, met = rng.normal(0, 0.3, LOOKS[-1]), [], set()
        for seed in rng.permutation(LOOKS[-1]).tolist():
            arrived.append(
                cast(SeedScore, SimpleNamespace(run=SimpleNamespace(seed=seed), value=seeds[seed]))
            )
            ordered, ready = in_declared_order(arrived, declared)
            if look_of(ready) not in met:
                met.add(look_of(ready))
                values = [score.value for score in ordered]
                judgement = judge(values, MARGIN, origin=Origin(), in_order=ready)
                if judgement.verdict.agrees:
                    replicated += 1
                    break
    return replicated / studies


def fifty_runs(backbone: str) -> np.ndarray:
    """Returns the fifty seeds of SimCSE on a backbone in the ledger, mean of the seven sets; [50]."""
    ledger = load_ledger(LEADERBOARDS / "evidence", load_published())
    return np.array(
        max((runs_of(study.scores.get("Avg", 0.0)) for study in ledger.of(f"simcse@{backbone}")), key=len)
    )


def _rows_of_fifty(rng: np.random.Generator, studies: int) -> list[ErrorRate]:
    """Returns the rate at which one of the ledger's fifty runs fails against forty of the others."""
    rows = []
    for backbone, limit in (("bert-base-uncased", LEVEL), ("bert-large-uncased", None)):
        runs = fifty_runs(backbone)
        values = runs[np.argsort(rng.random((len(runs), studies)), axis=0)]
        rate = Studies(values[: LOOKS[-1]], values[LOOKS[-1]]).fails(Origin())
        left = "" if limit else f", left-skewed; {OUTSIDE_OF_IT}"
        kind = f"50 seeds of SimCSE on {backbone}{left}"
        rows.append(ErrorRate(f"one honest run, yet {RED}", kind, rate, studies, limit))
    return rows


def _rows_of_labs(studies: int) -> list[ErrorRate]:
    """Returns the rates at which our seeds fail an honest run of a lab that differs by an offset."""
    rng, rows = np.random.default_rng(8), []
    for offset in (0.3, 0.5):
        reported = rng.normal(0, math.hypot(0.3, offset), studies)
        rate = Studies.normal(rng, 0.3, reported).fails(Origin())
        kind = f"sd 0.3, an offset between the labs of sd {offset:g}; {OUTSIDE_OF_IT}"
        rows.append(ErrorRate(f"one honest run, yet {RED}", kind, rate, studies, None))
    return rows


TRUTHS = ((0.3, 0.8), (0.5, 0.0), (0.5, 0.3), (0.5, 1.0), (0.8, 0.3), (0.8, 2.0), (1.0, 0.0))
"""Standard deviations and true differences in the table of usefulness."""


def useful(studies: int) -> list[tuple[float, float, list[float]]]:
    """Returns for each truth the share of studies with the right verdict up to each look."""
    rng, rows = np.random.default_rng(9), []
    for sd, shift in TRUTHS:
        study, levels = Studies.normal(rng, sd, np.full(studies, shift)), np.full(studies, NOT_KNOWN)
        right = SAME if shift < MARGIN else LEVELS.index("lower")
        shares = []
        for look in LOOKS:
            levels = np.where(levels == NOT_KNOWN, study.at(look, Origin())[0], levels)
            shares.append(float((levels == right).mean()))
        rows.append((sd, shift, shares))
    return rows
