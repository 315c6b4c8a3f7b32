"""Stage `report`: recorded scores become tables, figures and pages."""

from __future__ import annotations

import json
from collections.abc import Mapping

from harness import layouts
from harness.errors import InputError
from harness.files import write_text
from harness.outputs import check_folder, new_folder
from harness.paths import ARTEFACTS, PUBLISHED, REPORTS, RUN_RECORD, SCORES, TABLES
from harness.plan.entries import Params
from harness.plan.recipes import declared_systems, load_recipes
from harness.report.formats.latex import to_latex
from harness.report.formats.markdown import to_markdown
from harness.report.formats.terminal import to_terminal
from harness.report.tables.build import Evidence, build_table
from harness.report.tables.completeness import dev_scores, score_problems
from harness.report.tables.model import Table
from harness.report.tables.published import load_published, load_spread
from harness.report.tables.run_choice import RunSystem
from harness.report.tables.spec import TableSpec, check_spec, load_specs
from harness.results.schema import ResultFile
from harness.results.store import read_results, to_frame
from harness.stages.pages import NOTES, SMALL, build_page, write_pages


def report(params: Params, *, strict: bool) -> int:
    """Writes reports/tables and the pages; returns 1 if `strict` and a number is missing."""
    results = read_results(SCORES.glob("*.json"))
    planned = [result for result in results if result.run.key in params.runs]
    if not planned:
        raise InputError(f"{SCORES}: no scores of the plan, expected at least one run's; run `dvc repro`")
    check_folder(REPORTS / "tables", layouts.TABLES)
    problems = score_problems(results, list(params.runs), present_identities(params))
    tables = build_tables(params, planned)
    with new_folder(REPORTS / "tables", layouts.TABLES) as folder:
        for table in tables.values():
            name = table.key.replace("/", "-")
            (folder / f"{name}.md").write_text(to_markdown(table), encoding="utf-8")
            (folder / f"{name}.tex").write_text(to_latex(table), encoding="utf-8")
            (folder / f"{name}.txt").write_text(to_terminal(table), encoding="utf-8")
    page = build_page(params, planned, tables, problems)
    write_pages(page, params, planned, tables)
    write_text(REPORTS / "index.md", index_markdown(tables, problems))
    for problem in problems:
        print(problem)
    empty = missing_cells(tables[SMALL]) if SMALL in params.plan else 0
    print(f"{REPORTS / 'index.html'}: {len(tables)} tables, {len(planned)} runs, {len(problems)} problems")
    return 1 if strict and (problems or empty) else 0


def build_tables(params: Params, results: list[ResultFile]) -> dict[str, Table]:
    """Returns every declared table by key, the small leaderboard first; those of runs only if filled."""
    from harness.tasks.registry import TASKS

    published = load_published(PUBLISHED)
    specs = load_specs(TABLES)
    declared = {key: system.backbones for key, system in declared_systems(load_recipes()).items()}
    for spec in specs.values():
        check_spec(spec, published, tasks=list(TASKS), systems=declared)
    systems = dict.fromkeys(
        RunSystem.of(run.id, run.method, run.variant, run.backbone_name) for run in params.runs.values()
    )
    evidence = Evidence(
        scores=to_frame(results),
        published=published,
        spreads=load_spread(PUBLISHED),
        dev=dev_scores(results),
        systems=list(systems),
    )
    ordered: list[TableSpec] = sorted(specs.values(), key=lambda spec: (spec.key != SMALL, spec.key))
    tables = {spec.key: build_table(spec, evidence) for spec in ordered}
    return {key: table for key, table in tables.items() if key not in of_runs(specs) or has_values(table)}


def of_runs(specs: Mapping[str, TableSpec]) -> set[str]:
    """Returns the tables that take their rows from the runs; the leaderboard is always shown."""
    return {key for key, spec in specs.items() if spec.rows_from == "runs"} - {SMALL}


def has_values(table: Table) -> bool:
    """Returns whether a run filled any cell."""
    return any(cell.value is not None for row in table.rows for cell in row.cells)


def present_identities(params: Params) -> dict[str, str]:
    """Returns the identity of every planned run whose artefact is there."""
    places = {key: ARTEFACTS / key / RUN_RECORD for key in params.runs}
    return {
        key: json.loads(place.read_text(encoding="utf-8"))["identity"]
        for key, place in places.items()
        if place.is_file()
    }


def missing_cells(table: Table) -> int:
    """Returns how many cells of a table that runs are meant to fill have no number."""
    return sum(cell.value is None and cell.verdict == "missing" for row in table.rows for cell in row.cells)


def index_markdown(tables: Mapping[str, Table], problems: list[str]) -> str:
    """Returns the report as one Markdown page: the leaderboard in full, the papers' tables as links."""
    lines = ["# sentbench", "", *NOTES, ""]
    if SMALL in tables:
        lines += [to_markdown(tables[SMALL]), ""]
    lines += ["## Tables and figures of the papers", ""]
    for key, table in tables.items():
        if key != SMALL:
            lines.append(f"* [{table.title}](tables/{key.replace('/', '-')}.md)")
    lines += ["", *(f"* {problem}" for problem in problems)]
    return "\n".join(lines).rstrip() + "\n"
