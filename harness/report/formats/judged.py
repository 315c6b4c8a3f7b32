"""A judged number as lines for a terminal and as JSON, for `sentbench verify`."""

from collections.abc import Sequence
from typing import Any

from harness.evidence import statistics
from harness.evidence.cite import citation_of
from harness.evidence.judged import Judged
from harness.evidence.others import RELATIONS, Relation, StudyPool
from harness.evidence.settling import Plan, counted
from harness.evidence.words import WORDS
from harness.paths import is_checkout
from harness.report.sentences import (
    AMONG_MANY,
    assumed_words,
    collapsed_words,
    draw_words,
    level_words,
    next_look_words,
    one_run_words,
    place_words,
    seeds_words,
)

REPORTED = ("table", "row", "column", "value", "seeds", "picked")
"""Output of `--json` on a published number."""


def judged_json(judged: Judged) -> dict[str, Any]:
    """Returns a judged number as plain values, numbers in points, for `--json`."""
    number, best = judged.number, judged.best_by_dev
    return {
        "reported": {**{name: getattr(number, name) for name in REPORTED}, "by": judged.others.by},
        "verdict": judged.text,
        **judged.verdict._asdict(),
        "among_many": judged.among_many,
        "as_one_run": judged.as_one_run,
        "ours": {"values": list(judged.values), "judgement": _plain(judged.ours)},
        "percentile": _plain(judged.percentile),
        "best_by_dev": None if best is None else {"expected": best, "below_reported": best < number.value},
        "others": {
            "answer": _plain(judged.by_others),
            **{kind: _pool_json(pool) for kind, pool in judged.others.pools.items()},
        },
        "plan": _plain(judged.plan),
        "cite": _plain(citation_of(judged)),
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


def judged_text(judged: Judged) -> str:
    """Returns a judged number as lines for a terminal."""
    number = judged.number
    what = f" ({number.quantity})" if number.quantity else ""
    cite, *sources = citation_of(judged).lines()
    lines = [
        f"{number.table}  {number.row}  {number.column}{what}",
        f"reported   {_reported(judged)}",
        f"verdict    {judged.text}" + (f" ({AMONG_MANY})" if judged.among_many else ""),
        cite,
        *_answer_text(judged),
        f"our seeds  {_mean_text(judged.values) if judged.values else 'none'}",
    ]
    for kind in RELATIONS:
        lines += _pool_text(kind, judged.others.pools[kind])
    lines += _uncounted_text(judged)
    if judged.best_by_dev is not None:
        seeds = counted(len(judged.values), "seed")
        lines.append(
            f"selection  of our {seeds} the best on dev has {judged.best_by_dev:.2f} on test; how "
            "many the reported number was chosen from is not known"
        )
    return "\n".join([*lines, *_plan_text(judged.plan), *sources])


def in_one_line(several: Sequence[Judged]) -> list[str]:
    """Returns a line for each number: the row, the reported number and the verdict, aligned."""
    cells = [(judged.number.row, _reported(judged), judged.text) for judged in several]
    row, number = (max(map(len, column)) for column in (*zip(*cells, strict=True),)[:2])
    return [f"{one:<{row}}  {two:<{number}}  {verdict}" for one, two, verdict in cells]


def _reported(judged: Judged) -> str:
    return f"{judged.number.value:.2f} ({seeds_words(judged)}, by {judged.others.by})"


def _answer_text(judged: Judged) -> list[str]:
    """Returns the two answers, by our seeds if there are any, and their assumptions."""
    answer, ours = judged.answer, judged.ours
    if answer.difference is None:
        return []
    percentile = "" if judged.percentile is None else f"; {place_words(judged.percentile)}"
    drawn = draw_words(answer.verdict.draw, judged.number)
    lines = [f"level      {level_words(answer)}", f"draw       {drawn}{percentile}"]
    if judged.as_one_run is not None:
        lines.append(f"one run    as a single run it is {one_run_words(judged.as_one_run)}")
    if ours is not None:
        if ours.count < len(judged.values):
            lines.append(f"seeds      the first {ours.count} count, up to the last look")
        if ours.fault:
            lines.append(f"error      {ours.fault}")
        if ours.collapsed:
            lines.append(f"collapsed  {collapsed_words(ours)}")
        if judged.by_others.difference is not None:
            text = WORDS[judged.by_others.verdict].text
            lines.append(f"others     {text}: {level_words(judged.by_others)}")
    assumed = assumed_words(judged)
    return [*lines, f"assumes    {assumed}"] if assumed else lines


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


def _uncounted_text(judged: Judged) -> list[str]:
    """Returns the studies that do not count, each with its reason."""
    column, studies = judged.number.column, judged.others.uncounted
    lines = {f"    {study.link} ({study.not_counted_in(column)})" for study in studies}
    return [f"not counted: {counted(len(studies), 'record')}", *sorted(lines)] if studies else []


def _plan_text(plan: Plan | None) -> list[str]:
    if plan is None:
        return []
    lines = [f"next look  {next_look_words(plan)}"]
    if plan.gpu_hours is not None:
        lines.append(f"cost       {plan.cost}")
    where = "" if is_checkout() else " (in a clone of the project)"
    return [*lines, f"run        {plan.command}{where}"] if plan.command else lines
