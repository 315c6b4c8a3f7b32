"""Stage `report`: recorded scores become tables, figures and pages, all replaced together."""

import os
from collections.abc import Mapping, Sequence

from harness.errors import InputError
from harness.evidence.further import left_out_line, read_recorded
from harness.evidence.schema import ResultFile
from harness.io.outputs import check_folder, new_outputs
from harness.io.records import check_plain, read_object
from harness.paths import ARTEFACTS, FILE_RECORD, REPORTS, RUN_RECORD, SCORES
from harness.plan.entries import Params
from harness.plan.recipes import Recipe
from harness.report.assembly.content import report_content
from harness.report.assembly.tables import build_tables, evidence_of
from harness.report.formats.summary import metrics_files, text_files
from harness.report.hours import settled_lines
from harness.report.pages.render import render_pages
from harness.report.tables.leaderboard import missing_cells, tables_of_plan

OUTPUTS = {
    REPORTS / "index.html": None,
    REPORTS / "index.md": None,
    REPORTS / "tables": FILE_RECORD,
    REPORTS / "pages": FILE_RECORD,
    REPORTS / "papers": FILE_RECORD,
}
"""Parts of a report, each with its record; None for a file."""


def report(params: Params, recipes: Mapping[str, Recipe], *, strict: bool) -> int:
    """Writes tables and pages below reports/, atomically.

    Returns 1 if `strict` and a cell of the plan's tables is missing or a score is missing, stale or not
    planned.
    Errors: InputError without a score of the plan, for an invalid declaration or file, and for an output
    folder with other files.
    """
    check_plain(REPORTS, again="delete it and run `dvc repro`")
    recorded = read_recorded(kept=lambda run, score: run.key in params.runs)
    results = recorded.results
    planned = [result for result in results if result.run.key in params.runs]
    if not planned:
        raise InputError(f"{SCORES}: no scores of the plan; run `dvc repro`")
    for path, record in OUTPUTS.items():
        if record is not None:
            check_folder(path, record)
    problems = score_problems(results, params, present_identities(params))
    problems += further_problems(params, {result.run.key for result in results}, recorded.left_out)
    evidence = evidence_of(planned, params, recipes=recipes)
    tables = build_tables(evidence, recipes)
    content = report_content(params, recipes, evidence, tables, problems)
    texts = text_files(tables, problems, notes=content.notes)
    first = [result for result in planned if params.runs[result.run.key].is_first]
    write_report({**texts, **metrics_files(first), **render_pages(content)})
    missing = {table.key: missing_cells(table) for table in tables_of_plan(params.plan, tables)}
    lines = [f"missing: {count} cells of table {key}" for key, count in missing.items() if count]
    for line in [*problems, *lines, *settled_lines(tables.values())]:
        print(line)
    print(f"{REPORTS / 'index.html'}: {len(tables)} tables, {len(planned)} runs, {len(problems)} problems")
    return 1 if strict and (problems or lines) else 0


def score_problems(results: Sequence[ResultFile], params: Params, identities: Mapping[str, str]) -> list[str]:
    """Returns one line per problem, with the run and a remedy.

    missing: a planned run without scores, among the first seeds. stale: scores with an outdated identity.
    orphan: scores of a run that is not planned. identities: the present identity by run key; other runs are
    not checked for staleness.
    """
    scored = {result.run.key for result in results}
    problems = [
        f"missing: run {key!r} is planned but has no scores; run `dvc repro`"
        for key, run in params.runs.items()
        if run.is_first and key not in scored
    ]
    for result in results:
        key = result.run.key
        if key not in params.runs:
            problems.append(f"orphan: scores of {key!r}, which is not planned; delete the file")
        elif identities.get(key, result.run.identity) != result.run.identity:
            problems.append(
                f"stale: scores of {key!r} have identity {result.run.identity[:12]}, the run is now "
                f"{identities[key][:12]}; run `dvc repro`"
            )
    return sorted(problems)


def further_problems(params: Params, scored: set[str], left_out: Sequence[str]) -> list[str]:
    """Returns one line for each system whose further seeds are left out, or lack scores."""
    lines = [left_out_line(name) for name in left_out if name in params.further]
    return lines + [
        f"missing: the further seeds of {name} have no scores; `sentbench launch` trains them"
        for name, seeds in params.further.items()
        if name not in left_out and not scored.issuperset(f"{name}__s{seed}" for seed in seeds)
    ]


def write_report(files: Mapping[str, str]) -> None:
    """Replaces the report by texts at paths below reports/, atomically."""
    with new_outputs(OUTPUTS) as parts:
        for name, text in files.items():
            top, _, rest = name.partition("/")
            part = parts[REPORTS / top]
            path = part / rest if rest else part
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")


def present_identities(params: Params) -> dict[str, str]:
    """Returns the identity of every planned run that has an artefact. Errors: InputError for an artefact
    without an identity.
    """
    identities = {}
    for key in params.runs:
        path = ARTEFACTS / key / RUN_RECORD
        if os.path.lexists(path):
            identities[key] = str(read_object(path, "identity", again="train the run again")["identity"])
    return identities
