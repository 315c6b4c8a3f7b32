"""Everything that is known of one reported number: what `sentbench verify` prints, and a cell's details."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.facts import statistics
from harness.facts.draws import OURS, Draw, drawn
from harness.facts.evidence.others import RELATIONS, Others, Pool, Relation, ReportedNumber
from harness.facts.price import NO_PRICE, Price
from harness.facts.settling import look_worth_its_runs
from harness.facts.statistics import KnownSd
from harness.facts.verdicts import (
    LOOKS,
    Judgement,
    OthersAnswer,
    Verdict,
    by_others,
    judge,
)
from harness.report.contributed import Contributed, contributed_text, seeds_text

MANY = "it would not replicate alone; among all numbers of its page that is not enough"
"""What false-discovery control did to a verdict."""
REPORTED = ("table", "row", "column", "value", "seeds", "picked", "by")
"""What `--json` says of a reported number."""


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


@dataclass(frozen=True)
class Verification:
    """One reported number with all answers. `values` are our seeds' scores in points, in the order of seeds.

    contributed: what others contributed; no other answer takes it in.
    best_by_dev: score in points of the best of all our seeds by development score; None for a reported mean
    of seeds, which chooses none. among_many: the false-discovery control of its page took back "does
    not replicate".
    """

    reported: ReportedNumber
    values: tuple[float, ...]
    others: Others
    ours: Judgement | None
    draw: Draw | None
    by_others: OthersAnswer
    best_by_dev: float | None
    verdict: Verdict
    plan: Plan | None
    contributed: tuple[Contributed, ...] = ()
    among_many: bool = False


def verify(
    reported: ReportedNumber,
    others: Others,
    *,
    values: Sequence[float] = (),
    dev: Sequence[float] = (),
    known: KnownSd | None = None,
    planned: KnownSd | None = None,
    price: Price = NO_PRICE,
) -> Verification:
    """Returns what is known of a reported number.

    values: our seeds in points; dev: their development scores, empty if not recorded. known: the standard
    deviation that a larger study of the system gives, n = 0 for a deterministic one. planned: the standard
    deviation to plan seeds by where nothing else is known; it decides no verdict. A number reported as a mean
    of seeds is no single draw and gets no `draw`; one with a verdict by our runs gets no plan.
    """
    ours = None
    if values:
        ours = judge(
            values,
            reported.value,
            origin=reported.origin,
            known=known,
            rounding=reported.rounding,
        )
    independent = others.independent
    answer = by_others(
        independent.sources,
        reported.value,
        same_authors=any(others.pools[kind].studies for kind in ("same authors", "checkpoint")),
        searched=others.searched,
        rounding=reported.rounding,
    )
    single = reported.seeds is None or reported.seeds == 1
    runs = {**independent.runs, **({OURS: tuple(values)} if values else {})}
    selected = None
    if single and values and len(dev) == len(values):
        selected = max(zip(dev, values, strict=True), key=lambda seed: seed[0])[1]
    settled = ours is not None and ours.verdict != "inconclusive"
    return Verification(
        reported=reported,
        values=tuple(values),
        others=others,
        ours=ours,
        draw=drawn(runs, reported.value, rounding=reported.rounding) if single and runs else None,
        by_others=answer,
        best_by_dev=selected,
        verdict=answer.answer if ours is None else ours.verdict,
        plan=None if settled else _plan(reported, values, answer, known, planned, price),
    )


def _plan(
    reported: ReportedNumber,
    values: Sequence[float],
    others: OthersAnswer,
    known: KnownSd | None,
    planned: KnownSd | None,
    price: Price,
) -> Plan:
    """Returns the way to a verdict; without runs of ours the difference is what others found, else 0."""
    if known is not None and known.n == 0:
        reason = "no seed changes its score"
        return Plan(why=reason) if values else replace(_costed(1, 0, price), why=reason, chance=1.0)
    if len(values) >= LOOKS[-1]:
        return Plan(why=f"no verdict after {LOOKS[-1]} seeds, and no further look is planned")
    look, chance = look_worth_its_runs(
        statistics.mean(values) - reported.value if values else others.difference or 0.0,
        statistics.sample_sd(values),
        len(values),
        origin=reported.origin,
        known=known or planned,
        rounding=reported.rounding,
    )
    why = ""
    if chance is None:
        why = "the chance of a verdict is not known before two seeds"
    elif known is None and planned is not None and len(values) < statistics.SMALL_SAMPLE:
        why = "if its seeds vary like those of another system on this backbone"
    if chance is not None and not values:
        guess = "the reported number" if others.difference is None else "the mean of independent runs"
        why = " and ".join(filter(None, [why, f"if our mean is {guess}"]))
    return replace(_costed(look, len(values), price), why=why, chance=chance)


def _costed(seeds: int, run: int, price: Price) -> Plan:
    """Returns the plan of `seeds` in all, of which `run` were run."""
    more = max(1, seeds - run)
    shared = 0.0 if run else price.shared
    hours = None if price.gpu_hours is None or shared is None else more * price.gpu_hours + shared
    command = f"{price.command} --seeds {run + more} && dvc repro" if price.command else ""
    return Plan(run + more, more, hours, command, corpora=price.corpora)


def to_json(found: Verification) -> dict[str, Any]:
    """Returns the verification as plain values, numbers in points, for `--json`."""
    reported, best = found.reported, found.best_by_dev
    return {
        "reported": {name: getattr(reported, name) for name in REPORTED},
        "verdict": found.verdict,
        "among_many": found.among_many,
        "ours": {"values": list(found.values), "judgement": _plain(found.ours)},
        "contributed": [_plain(group) for group in found.contributed],
        "draw": _plain(found.draw),
        "best_by_dev": None if best is None else {"expected": best, "place": float(best < reported.value)},
        "others": {
            "answer": _plain(found.by_others),
            **{kind: _pool_json(pool) for kind, pool in found.others.pools.items()},
        },
        "plan": _plain(found.plan),
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
        "median": pool.median,
        "competitors": list(pool.competitors),
        "links": sorted({study.link for study in pool.studies}),
    }


def to_text(found: Verification) -> str:
    """Returns the verification as lines for a terminal."""
    reported = found.reported
    seeds = {None: "seeds not stated", 1: "one run"}.get(reported.seeds, f"mean of {reported.seeds} seeds")
    lines = [
        f"{reported.table}  {reported.row}  {reported.column}",
        f"reported   {reported.value:.2f} ({seeds}, by {reported.by})",
        f"verdict    {found.verdict}" + (f" ({MANY})" if found.among_many else ""),
        f"our seeds  {seeds_text(found.values, found.ours)}",
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
            f"selection  of our {number} the best on dev has {found.best_by_dev:.2f} on test; how "
            "many the reported number was chosen from is not known"
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
    """Returns where a reported value is among single runs; empty where there are none."""
    if draw.place is None:
        return ""
    of = f" of {counted(draw.sources, 'source')}, each of others counted once" if draw.sources > 1 else ""
    return f"above {100 * draw.place.value:.0f} % of {counted(draw.runs, 'single run')}{of}"


def _pool_text(kind: Relation, pool: Pool) -> list[str]:
    """Returns what one kind of evidence says and where it stands; nothing where there is none."""
    if not pool.studies:
        return []
    shown = "" if pool.median is None else f", median of sources {pool.median:.2f}"
    rivals = (
        f"; authors of a competing method: {', '.join(pool.competitors)}" if kind == "independent" else ""
    )
    lines = [
        f"{kind}: {counted(len(pool.values), 'single run')}, {counted(len(pool.sources), 'source')}{shown}"
        + (rivals if pool.competitors else "")
    ]
    lines += [f"    {link}" for link in sorted({study.link for study in pool.studies})]
    return lines


def next_look_words(plan: Plan) -> str:
    """Returns when there will be a verdict, with its probability."""
    if plan.seeds is None:
        return plan.why
    chance = "" if plan.chance is None else f"chance of a verdict {plan.chance:.0%}"
    rest = ", ".join(filter(None, [chance, plan.why]))
    return f"{counted(plan.seeds, 'seed')} in all, {plan.more} more" + (f" ({rest})" if rest else "")


def _plan_text(plan: Plan | None) -> list[str]:
    if plan is None:
        return []
    lines = [f"next look  {next_look_words(plan)}"]
    if plan.gpu_hours is not None:
        lines.append(f"cost       {plan.cost}")
    return [*lines, f"run        {plan.command}"] if plan.command else lines
