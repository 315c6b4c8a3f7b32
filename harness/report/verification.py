"""All evidence on one reported number, for `sentbench verify` and the details of a cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.evidence import statistics
from harness.evidence.draws import OURS, RunPercentile, placed
from harness.evidence.others import RELATIONS, Others, Relation, ReportedNumber, StudyPool
from harness.evidence.settling import Plan, Price, counted, plan_for
from harness.evidence.statistics import KnownSd
from harness.evidence.verdicts import NOT_SETTLED, Judgement, OthersAnswer, Verdict, by_others, judge
from harness.report.cite import Citation, citation_of
from harness.report.words import (
    ASSUMED,
    ASSUMED_OTHERS,
    collapsed_words,
    draw_words,
    level_words,
    next_look_words,
    place_words,
)

MANY = "it would not replicate alone; among all numbers of its page that is not enough"
"""Effect of false-discovery control on a verdict."""
REPORTED = ("table", "row", "column", "value", "seeds", "picked", "by")
"""Output of `--json` on a reported number."""


@dataclass(frozen=True)
class Verification:
    """One reported number with all answers. `values` are our seeds' scores in points, in the order of seeds.

    best_by_dev: score in points of the best of all our seeds by development score; None for a reported mean
    of seeds, which has no choice. among_many: whether the false-discovery control of its page withdrew "does
    not replicate".
    """

    reported: ReportedNumber
    values: tuple[float, ...]
    others: Others
    ours: Judgement | None
    percentile: RunPercentile | None
    by_others: OthersAnswer
    best_by_dev: float | None
    verdict: Verdict
    plan: Plan | None
    among_many: bool = False

    @property
    def citation(self) -> Citation:
        """The number to cite."""
        sources = self.others.independent.sources
        return citation_of(self.reported, self.verdict, values=self.values, ours=self.ours, sources=sources)


def verify(
    reported: ReportedNumber,
    others: Others,
    *,
    values: Sequence[float] = (),
    dev: Sequence[float] = (),
    in_order: int | None = None,
    known: KnownSd | None = None,
    planned: KnownSd | None = None,
    price: Price | None = None,
) -> Verification:
    """Returns the verification of a reported number.

    values: our seeds in points, in their declared order; dev: their development scores, empty if not
    recorded; in_order: number of them before the first missing seed, by default all. known: the standard
    deviation from a larger study of the system, n = 0 for a deterministic one. planned: the standard
    deviation for planning seeds if none is known; it does not affect verdicts. A number reported as a mean of
    seeds gets no percentile; a number with a verdict by our runs gets no plan.
    """
    ours = None
    if values:
        ours = judge(
            values,
            reported.value,
            origin=reported.origin,
            known=known,
            rounding=reported.rounding,
            in_order=in_order,
        )
    independent = others.independent
    answer = by_others(
        independent.as_sources,
        reported.value,
        origin=reported.origin,
        same_authors=any(others.pools[kind].studies for kind in ("same authors", "checkpoint")),
        searched=others.searched,
        rounding=reported.rounding,
    )
    single = reported.seeds is None or reported.seeds == 1
    runs = {**independent.runs, **({OURS: tuple(values)} if values else {})}
    selected = None
    if single and values and len(dev) == len(values):
        selected = max(zip(dev, values, strict=True), key=lambda seed: seed[0])[1]
    plan = None
    if ours is None or ours.verdict == "inconclusive":
        plan = plan_for(
            reported,
            values,
            others=answer.difference,
            known=known,
            planned=planned,
            price=price,
            in_order=in_order,
        )
    return Verification(
        reported=reported,
        values=tuple(values),
        others=others,
        ours=ours,
        percentile=placed(runs, reported.value, rounding=reported.rounding) if single and runs else None,
        by_others=answer,
        best_by_dev=selected,
        verdict=answer.answer if ours is None else ours.verdict,
        plan=plan,
    )


def to_json(verification: Verification) -> dict[str, Any]:
    """Returns the verification as plain values, numbers in points, for `--json`."""
    reported, best = verification.reported, verification.best_by_dev
    return {
        "reported": {name: getattr(reported, name) for name in REPORTED},
        "verdict": verification.verdict,
        "among_many": verification.among_many,
        "ours": {"values": list(verification.values), "judgement": _plain(verification.ours)},
        "percentile": _plain(verification.percentile),
        "best_by_dev": None if best is None else {"expected": best, "below_reported": best < reported.value},
        "others": {
            "answer": _plain(verification.by_others),
            **{kind: _pool_json(pool) for kind, pool in verification.others.pools.items()},
        },
        "plan": _plain(verification.plan),
        "cite": _plain(verification.citation),
    }


def _plain(value: Any) -> Any:
    """Returns a frozen dataclass or a named tuple as a dictionary; other values unchanged."""
    if hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


def _pool_json(pool: StudyPool) -> dict[str, Any]:
    return {
        "runs": len(pool.values),
        "sources": dict(pool.sources),
        "median": pool.median,
        "competitors": list(pool.competitors),
        "links": sorted({study.link for study in pool.studies}),
    }


def to_text(verification: Verification) -> str:
    """Returns the verification as lines for a terminal."""
    reported = verification.reported
    what = f" ({reported.quantity})" if reported.quantity else ""
    lines = [
        f"{reported.table}  {reported.row}  {reported.column}{what}",
        f"reported   {reported.value:.2f} ({_origin_text(reported)}, by {reported.by})",
        f"verdict    {verification.verdict}" + (f" ({MANY})" if verification.among_many else ""),
        *_answer_text(verification),
        f"our seeds  {seeds_text(verification.values, verification.ours)}",
    ]
    for kind in RELATIONS:
        lines += _pool_text(kind, verification.others.pools[kind])
    if verification.best_by_dev is not None:
        number = counted(len(verification.values), "seed")
        lines.append(
            f"selection  of our {number} the best on dev has {verification.best_by_dev:.2f} on test; how "
            "many the reported number was chosen from is not known"
        )
    return "\n".join([*lines, *_plan_text(verification.plan), *verification.citation.lines()])


def in_one_line(verifications: Sequence[Verification]) -> list[str]:
    """Returns a line for each verification: the row, the reported number and the verdict, aligned."""
    cells = [
        (
            each.reported.row,
            f"{each.reported.value:.2f} ({_origin_text(each.reported)}, by {each.reported.by})",
            each.verdict,
        )
        for each in verifications
    ]
    row, number = (max(map(len, column)) for column in (*zip(*cells, strict=True),)[:2])
    return [f"{one:<{row}}  {two:<{number}}  {verdict}" for one, two, verdict in cells]


def _origin_text(reported: ReportedNumber) -> str:
    if reported.picked is not None and reported.picked > 1:
        return f"best of {reported.picked} on dev"
    return {None: "seeds not stated", 1: "one run"}.get(reported.seeds, f"mean of {reported.seeds} seeds")


def _answer_text(verification: Verification) -> list[str]:
    """Returns the two answers, by our seeds if there are any, and their assumptions."""
    answer = verification.ours or verification.by_others
    if answer.difference is None:
        return []
    percentile = "" if verification.percentile is None else f"; {place_words(verification.percentile)}"
    assumed = ASSUMED if verification.ours else ASSUMED_OTHERS
    drawn = draw_words(answer.draw, verification.reported.stated)
    lines = [f"level      {level_words(answer)}", f"draw       {drawn}{percentile}"]
    if verification.ours is not None:
        if verification.ours.fault:
            lines.append(f"error      {verification.ours.fault}")
        if verification.ours.collapsed:
            lines.append(f"collapsed  {collapsed_words(verification.ours)}")
        if verification.by_others.difference is not None:
            lines.append(f"others     {verification.by_others.answer}: {level_words(verification.by_others)}")
    return lines if verification.verdict in NOT_SETTLED else [*lines, f"assumes    {assumed}"]


def seeds_text(values: Sequence[float], answer: Judgement | None) -> str:
    """Returns mean, standard deviation and number of values in points, and their answer."""
    if answer is None:
        return "none"
    used = f" by the first {answer.seeds}" if answer.seeds < len(values) else ""
    return f"{_mean_text(values)}, {answer.verdict}{used}"


def _mean_text(values: Sequence[float]) -> str:
    sd = statistics.sample_sd(values)
    return f"{statistics.mean(values):.2f}{'' if sd is None else f' +- {sd:.2f}'} ({len(values)})"


def _pool_text(kind: Relation, pool: StudyPool) -> list[str]:
    if not pool.studies:
        return []
    shown = "" if pool.median is None else f", median of sources {pool.median:.2f}"
    rivals = ""
    if kind == "independent" and pool.competitors:
        rivals = f"; authors of a competing method: {', '.join(pool.competitors)}"
    sources = counted(len(pool.sources), "source")
    runs = counted(len(pool.values), "single run")
    counts = f"{runs}, {sources}" if pool.values else f"{sources} without single runs"
    links = [f"    {link}" for link in sorted({study.link for study in pool.studies})]
    return [f"{kind}: {counts}{shown}{rivals}", *links]


def _plan_text(plan: Plan | None) -> list[str]:
    if plan is None:
        return []
    lines = [f"next look  {next_look_words(plan)}"]
    if plan.gpu_hours is not None:
        lines.append(f"cost       {plan.cost}")
    return [*lines, f"run        {plan.command}"] if plan.command else lines
