"""`sentbench report`: render tables, figures and the HTML pages.

Example: `sentbench report --strict`

With --first it renders the leaderboard of a few runs in a folder of its own, while others still run; nothing
of that is recorded, and the report stays as it is.
"""

import argparse
import shutil
from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

from harness.assembly.tables import build_one_table, checked_specs, evidence_of
from harness.disk.files import write_text
from harness.disk.locks import alone
from harness.identity import code_base, report_roots
from harness.paths import CURVES, LEADERBOARDS, SCORES, cache
from harness.plan.entries import Params, read_plan
from harness.plan.recipes import load_recipes
from harness.report.formats.summary import text_files
from harness.report.formats.text import to_terminal
from harness.report.pages.answers import answer_values
from harness.report.pages.content import Report
from harness.report.pages.index import PAGE, search_entries
from harness.report.pages.render import fill_page
from harness.report.runs import run_details
from harness.report.tables.build import build_table
from harness.report.tables.leaderboard import SHOWN, SMALL, has_values, notes_of, tables_of_plan
from harness.results.store import read_results
from harness.stages.report import report

ARGUMENTS = {
    "--print": {
        "metavar": "TABLE",
        "help": "print a table and write nothing",
    },
    "--strict": {"action": "store_true", "help": "fail if a cell is missing or a score is stale"},
    "--first": {
        "nargs": "+",
        "metavar": "RUN",
        "help": "only the leaderboard of these runs, written to .cache/first; reports/ stays as it is",
    },
}


def execute(arguments: argparse.Namespace) -> int:
    """Writes the report, or prints a table; returns 1 if `--strict` finds something missing."""
    if arguments.print:
        print(to_terminal(build_one_table(arguments.print)), end="")
        return 0
    if arguments.first:
        return first_results(read_plan(), arguments.first)
    with alone("the report"):
        return report(read_plan(), strict=arguments.strict)


def first_results(params: Params, keys: Sequence[str]) -> int:
    """Writes the plan's tables as these runs fill them, with a page; prints the first table; returns 0.

    Errors: InputError if a run has no result, or a declaration is wrong.
    """
    results = read_results(SCORES / f"{key}.json" for key in keys)
    evidence = evidence_of(results, params)
    specs = checked_specs(evidence.published, load_recipes())
    wanted = tables_of_plan(params.plan, cast(dict[str, Any], specs))
    built = {spec.key: build_table(specs[spec.key], evidence) for spec in wanted}
    order = [*(key for key in SHOWN if key in built), *sorted(built.keys() - set(SHOWN))]
    tables = {key: built[key] for key in order if has_values(built[key])}
    said = share(params, keys)
    content = Report(
        title=f"sentbench: first results, {said}",
        code=code_base().fingerprint(report_roots()),
        plan=", ".join(params.plan),
        tables=tuple(tables.values()),
        results=tuple(results),
        runs=run_details(results, curves=CURVES),
        notes=(
            f"Partial: {said}. `reports/index.html` will be the complete report.",
            *notes_of(tables.get(SMALL)),
        ),
        leaderboards=LEADERBOARDS,
    )
    folder = cache() / "first"
    shown = {
        **answer_values(content, []),
        "figures": [],
        "entries": search_entries(content),
        "checkout": "../" * len(folder.parts),
    }
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in {**text_files(tables, []), PAGE.file: fill_page(PAGE, content, shown)}.items():
        write_text(folder / name, text)
    for table in list(tables.values())[:1]:
        print(to_terminal(table))
    print(f"first results: {said}; page: {(folder / PAGE.file).absolute()}")
    return 0


def share(params: Params, keys: Sequence[str]) -> str:
    """Returns how much of the plan these runs are: `1 of 3 seeds, 29 of 67 runs`."""
    seeds = [
        max(Counter((params.runs[key].id, params.runs[key].backbone_name) for key in some).values())
        for some in (keys, params.runs)
    ]
    return f"{seeds[0]} of {seeds[1]} seeds, {len(keys)} of {len(params.runs)} runs"
