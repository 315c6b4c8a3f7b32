"""Simulated error rates and power of the verdicts: the tables of docs/error-rates.md.

`python -m benchmarks.verdicts` simulates on two processes with fixed seeds. It writes docs/verdicts.json, and
from it both tables of the page, like `make generated`. Numbers are in points: our seeds or
independent runs, and a reported number of known origin. They are judged by the same functions of
`harness.evidence` as the tables.
"""

from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.verdicts.borrowed import rows_of_borrowing
from benchmarks.verdicts.others import rows_of_others
from benchmarks.verdicts.pages import rows_of_pages
from benchmarks.verdicts.studies import rows_of_laws, rows_of_looks, useful
from benchmarks.verdicts.systems import rows_of_claims, rows_of_intervals, rows_of_systems
from harness.evidence.number_tests import LOOKS
from harness.io.files import write_json, write_text
from harness.io.records import read_object, rounded
from harness.report.formats.readmes import with_section

DOCS, RATES = Path("docs/error-rates.md"), Path("docs/verdicts.json")
STUDIES = 4_000
SIMULATIONS = (
    rows_of_looks,
    rows_of_laws,
    rows_of_others,
    rows_of_borrowing,
    rows_of_intervals,
    rows_of_pages,
    rows_of_systems,
    rows_of_claims,
)
PROCESSES = 2

PROMISES = """\
## Simulated error rates

`python -m benchmarks.verdicts` simulates what may go wrong and writes this table: {studies:,} studies per \
setting, fewer
if a study takes long, with fixed seeds. Each rate is the worst over the settings of its line. A rate above \
its promise by
more than three standard errors of the simulation fails the command. Rows that promise *none* are outside \
the promise
of a verdict; `verify` and the legend of every page name these assumptions next to the verdicts.

| what may go wrong | studied with | promised | simulated | standard error |
| --- | --- | --: | --: | --: |
"""
USEFULNESS = """\
## Usefulness

The share of {studies:,} studies with the right answer on the level up to each look. The reported number is \
fixed; "off 0"
means that it equals the method's mean. The same command writes this table. A constant level of 1.70 % \
would find one or
two per cent more and break the promise: t tests at these four looks then err in 5.3 %.

| truth | {looks} |
| --- | {dashes} |
"""


def main(studies: int = STUDIES) -> int:
    """Writes the rates and their tables; returns 1 if a promise is broken."""
    with ProcessPoolExecutor(PROCESSES) as pool:
        parts = [pool.submit(part, studies) for part in SIMULATIONS]
        truths = pool.submit(useful, studies)
        rows = [row for part in parts for row in part.result()]
    broken = [row for row in rows if not row.holds]
    for row in broken:
        print(f"broken: {row.promise} ({row.settings}): {row.rate:.1%}, promised {row.limit:.0%}")
    measured = {
        "studies": studies,
        "rates": [
            {"promise": row.promise, "settings": row.settings, "limit": row.limit}
            | {"rate": row.rate, "error": row.error}
            for row in rows
        ],
        "useful": [{"sd": sd, "off": shift, "shares": shares} for sd, shift, shares in truths.result()],
    }
    write_json(RATES, rounded(measured))
    write_text(DOCS, with_tables(DOCS.read_text(encoding="utf-8")))
    return 1 if broken else 0


def with_tables(page: str) -> str:
    """Returns the page with the tables of the rates on record. Errors: InputError if there are none."""
    measured = read_object(RATES, "studies", "rates", "useful", again="run `python -m benchmarks.verdicts`")
    looks = " | ".join(f"{look} seeds" for look in LOOKS)
    promises = PROMISES.format(studies=measured["studies"]) + "".join(map(_rate_line, measured["rates"]))
    useful = USEFULNESS.format(
        studies=measured["studies"], looks=looks, dashes=" | ".join("--:" for _ in LOOKS)
    ) + "".join(map(_useful_line, measured["useful"]))
    return with_section(with_section(page, promises, where=str(DOCS)), useful, where=str(DOCS))


def _rate_line(row: Mapping[str, Any]) -> str:
    limit = "none" if row["limit"] is None else f"{100 * row['limit']:g} %"
    rates = f"{limit} | {100 * row['rate']:.1f} % | {100 * row['error']:.1f} %"
    return f"| {row['promise']} | {row['settings']} | {rates} |\n"


def _useful_line(row: Mapping[str, Any]) -> str:
    shares = " | ".join(f"{100 * share:.0f} %" for share in row["shares"])
    return f"| sd {row['sd']:g}, off {row['off']:g} | {shares} |\n"
