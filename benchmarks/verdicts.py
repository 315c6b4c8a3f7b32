"""Error rates and usefulness of the verdicts: simulations of every promise of docs/verdicts.md.

`python -m benchmarks.verdicts` writes both tables of docs/verdicts.md, on two processes and with fixed seeds.
Numbers are in points: our seeds or others' runs, and a reported number of a known origin. They are judged by
the functions of `harness.evidence` that judge the tables.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.verdict_others import rows_of_others, rows_of_pages
from benchmarks.verdict_studies import ErrorRate, rows_of_laws, rows_of_looks, useful
from benchmarks.verdict_systems import rows_of_claims, rows_of_intervals, rows_of_systems
from harness.evidence.number_tests import LOOKS
from harness.io.files import write_text
from harness.report.formats.readmes import with_section

DOCS = Path("docs/verdicts.md")
STUDIES = 4_000
PARTS = (
    rows_of_looks,
    rows_of_laws,
    rows_of_others,
    rows_of_intervals,
    rows_of_pages,
    rows_of_systems,
    rows_of_claims,
)
PROCESSES = 2

PROMISES = f"""\
## Simulated error rates

`python -m benchmarks.verdicts` simulates what may go wrong and writes this table: {STUDIES:,} studies a \
setting, fewer
where one takes long, with fixed seeds. Each rate is the worst over the settings of its line. A rate above \
its promise by
more than three standard errors of the simulation fails the command. Rows that promise *none* are outside \
of what a
verdict promises; `verify` and the legend of every page name these assumptions next to the verdicts.

| what may go wrong | studied with | promised | simulated | standard error |
| --- | --- | --: | --: | --: |
"""
USEFULNESS = f"""\
## Usefulness

The share of {STUDIES:,} studies with the right answer on the level up to each look. The reported number is \
fixed; "off 0"
means that it equals the method's mean. The same command writes this table. A constant level of 1.70 % \
would find one or
two per cent more and break the promise: t tests at these four looks then err in 5.3 %.

| truth | {" | ".join(f"{look} seeds" for look in LOOKS)} |
| --- | {" | ".join("--:" for _ in LOOKS)} |
"""


def main(studies: int = STUDIES) -> int:
    """Writes the tables; returns 1 if a promise is broken."""
    with ProcessPoolExecutor(PROCESSES) as pool:
        parts = [pool.submit(part, studies) for part in PARTS]
        truths = pool.submit(useful, studies)
        rows = [row for part in parts for row in part.result()]
    broken = [row for row in rows if not row.holds]
    for row in broken:
        print(f"broken: {row.promise} ({row.settings}): {row.rate:.1%}, promised {row.limit:.0%}")
    useful_lines = "".join(
        f"| sd {sd:g}, off {shift:g} | {' | '.join(f'{100 * share:.0f} %' for share in shares)} |\n"
        for sd, shift, shares in truths.result()
    )
    page = DOCS.read_text(encoding="utf-8")
    page = with_section(page, PROMISES + "".join(map(line_of, rows)), where=str(DOCS))
    write_text(DOCS, with_section(page, USEFULNESS + useful_lines, where=str(DOCS)))
    return 1 if broken else 0


def line_of(row: ErrorRate) -> str:
    """Returns a row as a line of the table of promises."""
    limit = "none" if row.limit is None else f"{100 * row.limit:g} %"
    return (
        f"| {row.promise} | {row.settings} | {limit} | {100 * row.rate:.1f} % | {100 * row.error:.1f} % |\n"
    )


if __name__ == "__main__":
    sys.exit(main())
