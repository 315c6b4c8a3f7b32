"""Published numbers made in memory, judged by given runs or with a given verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.evidence.judged import Judged, judge_number
from harness.evidence.numbers import PublishedNumber
from harness.evidence.others import Others, nothing_known
from harness.evidence.statistics import KnownSd
from harness.evidence.verdicts import Judgement
from harness.evidence.words import By, Draw, Level, Verdict

FAR = {"lower": -1.0, "higher": 1.0}
"""Difference of a mean from the reported number, by a level that is off."""


def printed(value: float = 75.0, seeds: int | None = 1, **more: Any) -> PublishedNumber:
    """Returns a published number with two decimals."""
    about: dict[str, Any] = {"table": "toy/table1", "row": "a@b", "column": "Avg"}
    return PublishedNumber(**{**about, "value": value, "rounding": 0.005, "seeds": seeds, **more})


def alone(seeds: int | None) -> tuple[PublishedNumber, Others]:
    """Returns a number without independent measurements."""
    return printed(75.0, seeds), replace(nothing_known(), by="toy")


def measured(sources: Mapping[str, float], runs: Mapping[str, Sequence[float]] | None = None) -> Others:
    """Returns independent sources by their means; runs: single runs by source, by default the means."""
    nothing = nothing_known()
    single = {name: (mean,) for name, mean in sources.items()} if runs is None else runs
    pool = replace(
        nothing.independent, sources=dict(sources), runs={name: tuple(run) for name, run in single.items()}
    )
    return replace(nothing, pools={**nothing.pools, "independent": pool}, by="toy", searched=True)


def judged(
    number: PublishedNumber,
    others: Others,
    *,
    known: KnownSd | None = None,
    planned: KnownSd | None = None,
    **more: Any,
) -> Judged:
    """Returns a judged number; known, planned: standard deviations as of `Others`."""
    return judge_number(number, replace(others, sd=known, planned=planned), **more)


def with_verdict(
    value: float,
    by: By = "nobody",
    level: Level = "not known",
    draw: Draw = "not known",
    *,
    values: Sequence[float] = (),
    picked: int | None = None,
    **more: Any,
) -> Judged:
    """Returns a number with a given verdict, by our `values` or by independent runs."""
    measured = by in ("ours", "others")
    difference = sum(values) / len(values) - value if values else FAR.get(level, 0.0)
    answer = Judgement(Verdict(by, level, draw), difference if measured else None, None, len(values))
    ours = answer if by == "ours" else None
    return Judged(
        number=printed(value, picked=picked),
        values=tuple(values),
        others=replace(nothing_known(), by="toy"),
        ours=ours,
        by_others=Judgement(Verdict("nobody")) if ours else answer,
        **more,
    )
