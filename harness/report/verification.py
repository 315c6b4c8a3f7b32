"""Everything that is known of one printed number: what `sentbench verify` prints, and a cell's details."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from harness.facts import statistics
from harness.facts.evidence.others import RELATIONS, Others, Pool, PrintedNumber, Relation
from harness.facts.settling import LIKELY, MOST_SEEDS, seeds_to_settle
from harness.facts.statistics import BestByDev, KnownSpread
from harness.facts.verdicts import (
    MARGIN,
    OURS,
    Draw,
    Finding,
    OthersAnswer,
    Typicality,
    by_others,
    drawn,
    finding,
    typical,
)
from harness.report.contributed import Contributed, contributed_text, seeds_text


class Price(NamedTuple):
    """What a seed of a system takes, with the runs and teachers that it needs.

    gpu_hours: None if not known; command: what plans its runs, without the number of seeds, empty if no
    recipe declares the system. shared: hours of what all seeds need once, None if not known. corpora: derived
    corpora whose making no hours count.
    """

    gpu_hours: float | None = None
    command: str = ""
    shared: float | None = 0.0
    corpora: str = ""


NO_PRICE = Price()


@dataclass(frozen=True)
class Plan:
    """What it would take to settle a number.

    seeds: in all, None if more than MOST_SEEDS or not known; why: the reason in words if so, else what they
    rest on if it is not the spread of the system's own seeds. gpu_hours: of
    the seeds that are still to run and all that they need, None if their cost is not known. command: what
    plans and runs them. corpora: those that have to be made, which no hours count.
    """

    seeds: int | None
    more: int | None
    gpu_hours: float | None
    command: str
    why: str = ""
    corpora: str = ""

    @property
    def cost(self) -> str:
        """The seeds still to run with their hours, in words; empty if none are known."""
        if self.more is None:
            return ""
        hours = "" if self.gpu_hours is None else f", {format_hours(self.gpu_hours)}"
        made = f" and the making of {self.corpora}" if self.corpora else ""
        return f"{counted(self.more, 'seed')}{hours}{made}"


@dataclass(frozen=True)
class Verification:
    """One printed number with all answers. `values` are our seeds' scores in points, in the order of seeds.

    contributed: what others contributed; no other answer takes it in.
    best_by_dev: what picking the best of all our seeds by development score yields; None beside a print
    that is a mean of seeds, which picks none.
    """

    printed: PrintedNumber
    values: tuple[float, ...]
    others: Others
    typical: Typicality | None
    draw: Draw | None
    by_others: OthersAnswer
    best_by_dev: BestByDev | None
    finding: Finding
    plan: Plan | None
    contributed: tuple[Contributed, ...] = ()


def verify(
    printed: PrintedNumber,
    others: Others,
    *,
    values: Sequence[float] = (),
    dev: Sequence[float] = (),
    known: KnownSpread | None = None,
    planned: KnownSpread | None = None,
    price: Price = NO_PRICE,
    margin: float = MARGIN,
) -> Verification:
    """Returns what is known of a printed number.

    values: our seeds in points; dev: their development scores, empty if not recorded. known: the spread
    that a larger study of the system gives, n = 0 for a deterministic one. planned: the spread to plan seeds
    by where nothing else is known; it decides no answer. A number printed as a mean of seeds is no single
    draw and gets no `draw`; one that our runs settle gets no plan.
    """
    ours = None
    if values:
        ours = typical(
            values,
            printed.value,
            printed_seeds=printed.seeds,
            known=known,
            rounding=printed.rounding,
            margin=margin,
        )
    independent = others.independent
    answer = by_others(
        independent.sources,
        printed.value,
        same_authors=any(others.pools[kind].studies for kind in ("same authors", "checkpoint")),
        searched=others.searched,
        rounding=printed.rounding,
        margin=margin,
    )
    single = printed.seeds is None or printed.seeds == 1
    runs = {**independent.runs, **({OURS: tuple(values)} if values else {})}
    selected = None
    if single and values and len(dev) == len(values):
        selected = statistics.best_by_dev(values, dev, len(values), printed.value)
    settled = ours is not None and ours.answer != "not settled"
    return Verification(
        printed=printed,
        values=tuple(values),
        others=others,
        typical=ours,
        draw=drawn(runs, printed.value, rounding=printed.rounding) if single and runs else None,
        by_others=answer,
        best_by_dev=selected,
        finding=finding(ours, answer),
        plan=None if settled else _plan(printed, values, answer, known, planned, price, margin),
    )


def _plan(
    printed: PrintedNumber,
    values: Sequence[float],
    others: OthersAnswer,
    known: KnownSpread | None,
    planned: KnownSpread | None,
    price: Price,
    margin: float,
) -> Plan:
    """Returns the seeds that would settle the number, if the best guess of its difference is the true one.

    The guess is ours, else others', else none: then the seeds are those that confirm a number that holds.
    """
    if known is not None and known.n == 0:
        return _costed(1, len(values), price)
    study = known or planned
    found = statistics.spread(values, None if study is None else study.sd)
    if found is None or found.sd == 0:
        first = _costed(2, len(values), price)
        return replace(
            first, seeds=None, why="no plan before two seeds: the spread of its seeds is not known"
        )
    difference = statistics.mean(values) - printed.value if values else others.difference or 0.0
    averaged = printed.seeds if printed.seeds and printed.seeds > 1 else 0
    seeds = seeds_to_settle(difference, found.sd, printed_seeds=averaged, margin=margin)
    if seeds is None:
        return Plan(
            None,
            None,
            None,
            "",
            f"more than {MOST_SEEDS} seeds: the difference is too near the margin, or the print is a mean of "
            "too few",
        )
    borrowed = "if its seeds spread like those of another system on this backbone"
    plan = _costed(seeds, len(values), price)
    return replace(plan, why=borrowed) if found.known and known is None else plan


def _costed(seeds: int, run: int, price: Price) -> Plan:
    """Returns the plan of `seeds` in all, of which `run` were run; more of them where those do not settle."""
    more = max(1, seeds - run)
    shared = 0.0 if run else price.shared
    hours = None if price.gpu_hours is None or shared is None else more * price.gpu_hours + shared
    command = f"{price.command} --seeds {run + more} && dvc repro" if price.command else ""
    return Plan(run + more, more, hours, command, corpora=price.corpora)


def to_json(found: Verification) -> dict[str, Any]:
    """Returns the verification as plain values, numbers in points, for `--json`."""
    printed, plan = found.printed, found.plan
    return {
        "printed": {
            "table": printed.table,
            "row": printed.row,
            "column": printed.column,
            "value": printed.value,
            "seeds": printed.seeds,
            "by": printed.by,
        },
        "finding": found.finding,
        "ours": {"values": list(found.values), "typical": _plain(found.typical)},
        "contributed": [_plain(group) for group in found.contributed],
        "draw": _plain(found.draw),
        "best_by_dev": None if found.best_by_dev is None else found.best_by_dev._asdict(),
        "others": {
            "answer": _plain(found.by_others),
            **{kind: _pool_json(pool) for kind, pool in found.others.pools.items()},
        },
        "plan": _plain(plan),
    }


def _plain(value: Any) -> Any:
    """Returns a frozen dataclass, or a tuple with names, as a dictionary; anything else as it is."""
    if hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


def _pool_json(pool: Pool) -> dict[str, Any]:
    return {
        "runs": len(pool.values),
        "sources": dict(pool.sources),
        "median": median(list(pool.sources.values())),
        "competitors": list(pool.competitors),
        "links": sorted({study.link for study in pool.studies}),
    }


def median(values: Sequence[float]) -> float | None:
    """Returns the median, None of nothing."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if not ordered:
        return None
    return ordered[middle] if len(ordered) % 2 else math.fsum(ordered[middle - 1 : middle + 1]) / 2


def to_text(found: Verification) -> str:
    """Returns the verification as lines for a terminal."""
    printed = found.printed
    seeds = {None: "seeds not stated", 1: "one run"}.get(printed.seeds, f"mean of {printed.seeds} seeds")
    lines = [
        f"{printed.table}  {printed.row}  {printed.column}",
        f"printed    {printed.value:.2f} ({seeds}, by {printed.by})",
        f"finding    {found.finding}",
        f"our seeds  {seeds_text(found.values, found.typical)}",
        *(f"contributed {contributed_text(group)}" for group in found.contributed),
    ]
    for kind in RELATIONS:
        lines += _pool_text(kind, found.others.pools[kind])
    if found.draw is not None and found.draw.place is not None:
        low, high = (100 * end for end in found.draw.place.interval)
        words = draw_words(found.draw)
        lines.append(f"draw       {found.draw.answer}: {words} ({low:.0f} to {high:.0f} %)")
    if found.best_by_dev is not None:
        number = counted(len(found.values), "seed")
        lines.append(
            f"selection  of our {number} the best on dev has {found.best_by_dev.expected:.2f} on test; how "
            "many the print was chosen from is not known"
        )
    return "\n".join(lines + _plan_text(found.plan))


def format_hours(hours: float) -> str:
    """Returns GPU hours as `sentbench plan` prints them."""
    number = f"{hours:,.0f}" if hours >= 100 else f"{hours:.2g}" if hours < 10 else f"{hours:.1f}"
    return f"{number} GPU hours"


def counted(number: int, what: str) -> str:
    """Returns a number of things, in the plural where it is not one."""
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def draw_words(draw: Draw) -> str:
    """Returns where a printed value stands among single runs; empty where there are none."""
    if draw.place is None:
        return ""
    of = f" of {counted(draw.sources, 'source')}, each of others counted once" if draw.sources > 1 else ""
    return f"above {100 * draw.place.value:.0f} % of {counted(draw.runs, 'single run')}{of}"


def _pool_text(kind: Relation, pool: Pool) -> list[str]:
    """Returns what one kind of evidence says and where it stands; nothing where there is none."""
    if not pool.studies:
        return []
    middle = median(list(pool.sources.values()))
    shown = "" if middle is None else f", median of sources {middle:.2f}"
    rivals = (
        f"; authors of a competing method: {', '.join(pool.competitors)}" if kind == "independent" else ""
    )
    lines = [
        f"{kind}: {counted(len(pool.values), 'single run')}, {counted(len(pool.sources), 'source')}{shown}"
        + (rivals if pool.competitors else "")
    ]
    lines += [f"    {link}" for link in sorted({study.link for study in pool.studies})]
    return lines


def _plan_text(plan: Plan | None) -> list[str]:
    if plan is None:
        return []
    if plan.seeds is None:
        lines = [f"to settle  {plan.why}"]
    else:
        rest = f", {plan.why}" if plan.why else ""
        lines = [f"to settle  {plan.seeds} seeds in all, {plan.more} more (chance {LIKELY:.0%}{rest})"]
    if plan.gpu_hours is not None:
        lines.append(f"cost       {plan.cost}")
    return [*lines, f"run        {plan.command}"] if plan.command else lines
