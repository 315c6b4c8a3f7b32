"""The seven STS sets that every paper averages, and STS-B dev, which selects."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from harness.tasks.interface import Declaration, Task
from harness.tasks.stsb_source import stsb_source

YEARS = ("STS12", "STS13", "STS14", "STS15", "STS16")


def year_source(year: str, text: str, providers: Sequence[str] | None) -> str:
    """Returns the source of a year in a text form."""
    return year.lower() + ("-raw" if text == "raw" else "")


def _year(year: str, text: str, source: str, **options: Any) -> Task:
    from harness.tasks.sts_sets import year_task

    return year_task(year, text, source, **options)


def _stsb(name: str, split: str, text: str, source: str, **options: Any) -> Task:
    from harness.tasks.stsb import stsb_task

    return stsb_task(name, split, text, source, **options)


def _sickr(text: str, source: str, **options: Any) -> Task:
    from harness.tasks.sts_sets import sickr_task

    return sickr_task(text, source, **options)


def _sickr_mteb(text: str, source: str, **options: Any) -> Task:
    from harness.tasks.sts_sets import sickr_mteb_task

    return sickr_mteb_task(text, source, **options)


TASKS = (
    *(Declaration(year, partial(year_source, year), partial(_year, year), suite="sts") for year in YEARS),
    Declaration("STSB", stsb_source, partial(_stsb, "STSB", "test"), suite="sts"),
    Declaration("SICKR", "sickr", _sickr, suite="sts"),
    Declaration("SICKR-mteb", "sickr-raw", _sickr_mteb),
    Declaration("STSB-dev", stsb_source, partial(_stsb, "STSB-dev", "dev")),
)
