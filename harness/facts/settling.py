"""The next look at a reported number: what its seeds take, and the probability of a verdict there, by a
predictive simulation with the rules of `verdicts`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from harness.facts import statistics
from harness.facts.evidence.others import ReportedNumber
from harness.facts.statistics import SMALL_SAMPLE, KnownSd
from harness.facts.verdicts import LOOKS, OPEN, Origin, p_values, verdicts_at_a_look

DRAWS = 4000
"""Simulated studies; a probability is then off by less than 2 points (two standard errors)."""

WORTH = 0.5
"""Probability of a verdict from which a look is worth its runs."""


class Price(NamedTuple):
    """What the seeds of a system take.

    command: what plans its runs, without the number of seeds. each: hours by name of what every seed needs,
    its parents with it; shared: of what all seeds need once; nan where not known. corpora: derived corpora
    whose making no hours count.
    """

    command: str
    each: Mapping[str, float]
    shared: Mapping[str, float]
    corpora: str = ""

    @property
    def is_known(self) -> bool:
        """Whether the hours of all of it are known."""
        return not math.isnan(sum(self.each.values()) + sum(self.shared.values()))


@dataclass(frozen=True)
class Plan:
    """The advised look at a number: what it takes, and the probability of a verdict there.

    seeds: in all, more: still to run, both None where no more seeds are of use. chance: probability of a
    verdict, None if not known, 1 where no seed changes the score. why: the reason in words where one of them
    is None, else what the probability rests on. gpu_hours: of the seeds still to run and all that they need,
    None if their cost is not known. command: what plans and runs them. corpora: those that have to be made,
    which no hours count.
    """

    seeds: int | None = None
    more: int | None = None
    gpu_hours: float | None = None
    command: str = ""
    why: str = ""
    corpora: str = ""
    chance: float | None = None

    @property
    def cost(self) -> str:
        """The seeds still to run with their hours, in words; empty if none are known."""
        if self.more is None:
            return ""
        hours = "" if self.gpu_hours is None else f", {format_hours(self.gpu_hours)}"
        made = f" and the making of {self.corpora}" if self.corpora else ""
        return f"{counted(self.more, 'seed')}{hours}{made}"


def format_hours(hours: float) -> str:
    """Returns GPU hours as `sentbench plan` prints them."""
    number = f"{hours:,.0f}" if hours >= 100 else f"{hours:.2g}" if hours < 10 else f"{hours:.1f}"
    return f"{number} GPU hours"


def counted(number: int, what: str) -> str:
    """Returns a number of things, in the plural where it is not one."""
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def plan_for(
    reported: ReportedNumber,
    values: Sequence[float],
    *,
    others: float | None,
    known: KnownSd | None,
    planned: KnownSd | None,
    price: Price | None,
) -> Plan:
    """Returns the way to a verdict on a reported number with our `values`, in points.

    Without runs of ours the difference is what others found, else 0. known, planned: as of `verify`.
    price: None for a system that no recipe declares.
    """
    if known is not None and known.n == 0:
        reason = "no seed changes its score"
        return Plan(why=reason) if values else replace(_costed(1, 0, price), why=reason, chance=1.0)
    if len(values) >= LOOKS[-1]:
        return Plan(why=f"no verdict after {LOOKS[-1]} seeds, and no further look is planned")
    look, chance = look_worth_its_runs(
        statistics.mean(values) - reported.value if values else others or 0.0,
        statistics.sample_sd(values),
        len(values),
        origin=reported.origin,
        known=known or planned,
        rounding=reported.rounding,
    )
    why = []
    if chance is None:
        why.append("the chance of a verdict is not known before two seeds")
    elif known is None and planned is not None and len(values) < SMALL_SAMPLE:
        why.append("if its seeds vary like those of another system on this backbone")
    if chance is not None and not values:
        guess = "the reported number" if others is None else "the mean of independent runs"
        why.append(f"if our mean is {guess}")
    return replace(_costed(look, len(values), price), why=" and ".join(why), chance=chance)


def _costed(seeds: int, run: int, price: Price | None) -> Plan:
    more = max(1, seeds - run)
    if price is None:
        return Plan(run + more, more)
    hours = more * sum(price.each.values()) + (0.0 if run else sum(price.shared.values()))
    command = f"{price.command} --seeds {run + more} && dvc repro"
    return Plan(run + more, more, None if math.isnan(hours) else hours, command, corpora=price.corpora)


def look_worth_its_runs(
    difference: float, sd: float | None, seeds: int, **judged_by: Any
) -> tuple[int, float | None]:
    """Returns the first look after `seeds` with a verdict more likely than not, the last where none has.

    With the probability of a verdict there; without a standard deviation the next look, and None.
    Arguments: as of `chance_of_verdict`. Errors: ValueError after the last look.
    """
    for look in (look for look in LOOKS if look > seeds):
        chance = chance_of_verdict(difference, sd, seeds, look, **judged_by)
        if chance is None or chance >= WORTH or look == LOOKS[-1]:
            return look, chance
    raise ValueError(f"{seeds} seeds: expected fewer than {LOOKS[-1]}")


@cache
def chance_of_verdict(
    difference: float,
    sd: float | None,
    seeds: int,
    look: int,
    *,
    origin: Origin,
    known: KnownSd | None = None,
    rounding: float = 0.0,
) -> float | None:
    """Returns the probability that `look` seeds in all give a verdict, None without a standard deviation.

    difference: mean of our `seeds` runs minus the reported number; without runs the best guess, taken as
    true.
    sd: of our runs. known: the standard deviation of a larger study, which counts below `SMALL_SAMPLE` seeds.
    What is not known is drawn: the variance from the scaled inverse chi-square law, the mean from the normal
    law, then the runs that are still to make. Errors: ValueError unless look > seeds.
    """
    if look <= seeds:
        raise ValueError(f"{seeds} seeds, look at {look}: expected a later look")
    own = (seeds - 1) * sd**2 if sd is not None else 0.0
    squares, freedom = own, max(0, seeds - 1) if sd is not None else 0
    if known is not None and known.n > 1 and seeds < SMALL_SAMPLE:
        squares, freedom = squares + (known.n - 1) * known.sd**2, freedom + known.n - 1
    if freedom == 0 or squares == 0:
        return None
    rng = np.random.default_rng([seeds, look])
    sigma = np.sqrt(squares / rng.chisquare(freedom, DRAWS))
    centre = difference + (sigma * rng.normal(size=DRAWS) / np.sqrt(seeds) if seeds else 0.0)
    new = look - seeds
    mean = centre + sigma * rng.normal(size=DRAWS) / np.sqrt(new)
    inner = sigma**2 * rng.chisquare(new - 1, DRAWS) if new > 1 else 0.0
    total = own + inner + seeds * new / look * (difference - mean) ** 2
    after = (seeds * difference + new * mean) / look
    found = p_values(
        after,
        np.sqrt(total / (look - 1)),
        look,
        origin=origin,
        known=known if known is not None and known.n > 1 else None,
        rounding=rounding,
    )
    return float((verdicts_at_a_look(found, after) != OPEN).mean())
