"""The seven STS sets that every paper averages, STS-B dev, which selects, and parts of the yearly sets.

A part has the pairs of a year that STS-B contains, so it needs no further download. A set of hard length has
the pairs with misleading lengths; its thresholds are part of the name, after colons.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from harness.tasks.interface import Declaration, Task
from harness.tasks.text_forms import stsb_source

YEARS = ("STS12", "STS13", "STS14", "STS15", "STS16")


def _year_source(year: str, text: str, providers: Sequence[str] | None) -> str:
    return year.lower() + ("-raw" if text == "raw" else "")


def _part_source(text: str, providers: Sequence[str] | None) -> str:
    """Returns a source of STS-B that states the origin of each pair, which stsb-raw does not."""
    return "stsb" if text == "raw" else stsb_source(text, providers)


def _set(name: str, text: str, source: str, **options: Any) -> Any:
    from harness.tasks.sts_sets import sts_task

    return sts_task(name, text, source, **options)


def _hard(name: str, text: str, source: str, *, arguments: Sequence[str], **options: Any) -> Task:
    from harness.tasks.sts_sets import hard_length_task

    return hard_length_task(_set(name, text, source, **options), arguments)


def _of_years(ending: str, suite: str) -> tuple[Declaration, ...]:
    """Returns the sets of each year, with their sets of hard length."""
    declarations = []
    for year in YEARS:
        name, source = f"{year}{ending}", _part_source if ending else partial(_year_source, year)
        declarations.append(Declaration(name, source, partial(_set, name), suite=suite))
        declarations.append(Declaration(f"{name}-hard-length", source, partial(_hard, name), arguments=True))
    return tuple(declarations)


TASKS = (
    *_of_years("", "sts"),
    Declaration("STSB", stsb_source, partial(_set, "STSB"), suite="sts"),
    Declaration("SICKR", "sickr", partial(_set, "SICKR"), suite="sts"),
    Declaration("SICKR-mteb", "sickr-raw", partial(_set, "SICKR-mteb")),
    Declaration("STSB-dev", stsb_source, partial(_set, "STSB-dev")),
    *_of_years("-part", "sts-part"),
)
