"""The next look at a reported number: its seeds, their cost, and the means that give a verdict."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from harness.evidence import statistics
from harness.evidence.chances import chances
from harness.evidence.number_tests import INTERVAL, LOOKS, MARGIN, next_look
from harness.evidence.numbers import PublishedNumber
from harness.evidence.statistics import SMALL_SAMPLE, KnownSd

ADVISED, EVEN = 0.8, 0.5
"""Chance with which an advised look settles the level, and the least chance of the last look."""

RUNS_PLAN = "sentbench launch"
"""The command that runs a written plan."""


class Price(NamedTuple):
    """Cost of a system's seeds. command: plans its runs, without the number of seeds. each: hours per seed by
    item, including parents; shared: hours of items that all seeds share; nan if unknown. corpora: derived
    corpora, whose creation the hours exclude. gpu: the GPU of the hours, empty if not named.
    """

    command: str
    each: Mapping[str, float]
    shared: Mapping[str, float]
    corpora: str = ""
    gpu: str = ""


@dataclass(frozen=True)
class Plan:
    """The next look at a number, and its cost. seeds: total, more: still to run, both None if more seeds
    do not help. why: the reason if they are None, otherwise the means that give a verdict at that look,
    and the assumed standard deviation. gpu_hours: of the seeds still to run and their inputs, None if
    unknown.
    command: plans and runs them. corpora: derived corpora to make, which the hours exclude. gpu: the GPU of
    the hours, empty if not named.
    """

    seeds: int | None = None
    more: int | None = None
    gpu_hours: float | None = None
    command: str = ""
    why: str = ""
    corpora: str = ""
    gpu: str = ""

    @property
    def cost(self) -> str:
        """The seeds still to run with their hours, in words; empty if none are known."""
        if self.more is None:
            return ""
        on = f" on one {self.gpu}" if self.gpu else ""
        hours = "" if self.gpu_hours is None else f", {format_hours(self.gpu_hours)}{on}"
        made = f" and the creation of {self.corpora}" if self.corpora else ""
        return f"{counted(self.more, 'seed')}{hours}{made}"


def format_hours(hours: float) -> str:
    """Returns GPU hours in the format of `sentbench plan`."""
    number = f"{hours:,.0f}" if hours >= 100 else f"{hours:.2g}" if hours < 10 else f"{hours:.1f}"
    return f"{number} GPU hours"


def counted(number: int, what: str) -> str:
    """Returns a count with its noun, in the plural unless the count is one."""
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def plan_for(
    number: PublishedNumber,
    values: Sequence[float],
    *,
    others: float | None,
    known: KnownSd | None,
    planned: KnownSd | None,
    price: Price | None,
    in_order: int | None = None,
) -> Plan:
    """Returns the next declared look at a reported number with our `values`, in points.

    others: mean of independent runs minus the number, None if not known. known, planned, in_order: as of
    `verify`. price: None for a system that no recipe declares. The first look with a chance of ADVISED is
    advised, if the mean is where our runs or others have it, or equals the number if there are none; none if
    the last look has no even chance.
    """
    if known is not None and known.n == 0:
        reason = "no seed changes its score"
        return Plan(why=reason) if values else replace(_costed(1, 0, price), why=reason)
    ready = len(values) if in_order is None else in_order
    look = next_look(ready)
    if look is None:
        return Plan(why=f"no verdict after {LOOKS[-1]} seeds, and no further look is planned")
    sd, basis = _assumed_sd(values, known, planned)
    if sd is None:
        why = "its chance is not known, as no standard deviation is before two seeds"
        return replace(_costed(look, ready, price), why=why)
    guess = statistics.mean(values) - number.value if values else others
    by = _chances(guess, sd)
    if by[LOOKS[-1]] < EVEN:
        mean = "" if guess is None else f" and a mean {abs(guess):.2f} off"
        return Plan(why=f"cannot be settled by {LOOKS[-1]} seeds: sd {sd:.2f} {basis}{mean}")
    likely = next((later for later in LOOKS if by[later] >= ADVISED), LOOKS[-1])
    advised = max(look, likely)
    error = error_at(advised, sd)
    near = f"within {MARGIN - error:.2f} or " if error < MARGIN else ""
    why = (
        f"a verdict if our mean is then {near}more than {MARGIN + error:.2f} off, {_odds(by, advised, guess)}"
    )
    return replace(_costed(advised, ready, price), why=f"{why}; sd {sd:.2f} {basis}")


def chances_of_seeds(
    *, others: float | None, known: KnownSd | None, planned: KnownSd | None
) -> Mapping[int, float]:
    """Returns the chance of a verdict on the level of a number by each look, before we have any seed; certain
    if no seed changes the score, empty if no standard deviation is known. Arguments: as of `plan_for`.
    """
    if known is not None and known.n == 0:
        return dict.fromkeys(LOOKS, 1.0)
    sd, _ = _assumed_sd((), known, planned)
    return {} if sd is None else _chances(others, sd)


def _chances(guess: float | None, sd: float) -> Mapping[int, float]:
    """Returns the chances of the looks if the mean is this far from the number; it equals it by default."""
    return chances(round(guess or 0.0, 2), round(sd, 2))


def _odds(by: Mapping[int, float], advised: int, guess: float | None) -> str:
    """Returns the chance of a verdict by the advised look, with that of another look, in words."""
    truth = "if it equals the number" if guess is None else f"if it is {abs(guess):.2f} off"
    also = f", {by[LOOKS[0]]:.0%} by {LOOKS[0]} seeds" if LOOKS[0] != advised else ""
    return f"a chance of {by[advised]:.0%} {truth}{also}".replace("%", " %")


def _assumed_sd(
    values: Sequence[float], known: KnownSd | None, planned: KnownSd | None
) -> tuple[float | None, str]:
    """Returns the standard deviation that a plan assumes, with its source: our seeds; a larger study of
    the system if few seeds show less; with fewer than two seeds and no such study, another system.
    """
    our_sd = statistics.sample_sd(values)
    if (
        known is not None
        and known.n > 1
        and (our_sd is None or (len(values) < SMALL_SAMPLE and known.sd > our_sd))
    ):
        return known.sd, f"by a study of {known.n} seeds"
    if our_sd is not None:
        return our_sd, f"of our {len(values)} seeds"
    if planned is not None:
        return planned.sd, "of another system on this backbone"
    return None, ""


def error_at(look: int, sd: float) -> float:
    """Returns half the width of the interval of a mean at a look, for this sample standard deviation."""
    return statistics.student(look - 1, INTERVAL) * sd / math.sqrt(look)


def _costed(seeds: int, run: int, price: Price | None) -> Plan:
    more = max(1, seeds - run)
    if price is None:
        return Plan(run + more, more)
    hours = more * sum(price.each.values()) + (0.0 if run else sum(price.shared.values()))
    command = f"{price.command} --seeds {run + more} && {RUNS_PLAN}"
    known = None if math.isnan(hours) else hours
    return Plan(run + more, more, known, command, corpora=price.corpora, gpu=price.gpu)
