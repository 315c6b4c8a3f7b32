"""The seven STS sets that every paper averages, STS-B dev, which selects, and parts of the yearly sets.

A part is what STS-B contains of a year, which needs no further download. A set of hard length has the pairs
whose lengths mislead; its thresholds are part of the name, after colons.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from harness.tasks.interface import Declaration, Task
from harness.tasks.text_forms import source_with_origins, stsb_source

YEARS = ("STS12", "STS13", "STS14", "STS15", "STS16")


def _year_source(year: str, text: str, providers: Sequence[str] | None) -> str:
    """Returns the source of a year in a text form."""
    return year.lower() + ("-raw" if text == "raw" else "")


def _made(function: str, *named: str) -> Callable[..., Any]:
    """Returns the factory that calls a function of `harness.tasks.sts_sets` with the names first."""

    def build(text: str, source: str, **options: Any) -> Any:
        from harness.tasks import sts_sets

        return getattr(sts_sets, function)(*named, text, source, **options)

    return build


def _hard(function: str, year: str) -> Callable[..., Any]:
    """Returns the factory of the pairs of such a set whose lengths mislead."""

    def build(text: str, source: str, *, arguments: Sequence[str], **options: Any) -> Task:
        from harness.tasks.hard_length import hard_length_task

        return hard_length_task(_made(function, year)(text, source, **options), arguments)

    return build


def _of_years(function: str, ending: str, suite: str) -> tuple[Declaration, ...]:
    """Returns a set of each year, and for each the one of hard length."""
    found = []
    for year in YEARS:
        source = source_with_origins if ending else partial(_year_source, year)
        hard = f"{year}{ending}-hard-length"
        found.append(Declaration(f"{year}{ending}", source, _made(function, year), suite=suite))
        found.append(Declaration(hard, source, _hard(function, year), arguments=True))
    return tuple(found)


TASKS = (
    *_of_years("year_task", "", "sts"),
    Declaration("STSB", stsb_source, _made("stsb_task", "STSB", "test"), suite="sts"),
    Declaration("SICKR", "sickr", _made("sickr_task"), suite="sts"),
    Declaration("SICKR-mteb", "sickr-raw", _made("sickr_mteb_task")),
    Declaration("STSB-dev", stsb_source, _made("stsb_task", "STSB-dev", "dev")),
    *_of_years("part_task", "-part", "sts-part"),
)
