"""Stage `report`: recorded scores become tables, figures and pages, all of one generation."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness import layouts
from harness.checkout import declared
from harness.declarations import read_declarations
from harness.errors import InputError
from harness.facts.evidence.ledger import load_ledger
from harness.facts.published import Published, known_name, load_published
from harness.facts.run_choice import RunSystem
from harness.facts.spec import TableSpec, check_spec, load_specs
from harness.identity import code_base, report_roots
from harness.outputs import check_folder, new_outputs
from harness.paths import (
    ARTEFACTS,
    CONTRIBUTED,
    CURVES,
    LEADERBOARDS,
    MEASUREMENTS,
    PUBLISHED,
    REPORTS,
    RUN_RECORD,
    SCORES,
    TABLES,
)
from harness.plan.entries import Params
from harness.plan.known_runs import KnownRuns
from harness.plan.ladder import MARK, rungs_of
from harness.plan.names import any_small_scale, recipes_of, table_runs
from harness.plan.prices import seed_prices
from harness.plan.recipes import Recipe, declared_systems, load_recipes
from harness.records import check_plain, read_object
from harness.report.cite import Advice, advice_for
from harness.report.formats.citation import WORKS, Work
from harness.report.formats.summary import text_files
from harness.report.pages.content import Ladder, Report, Step
from harness.report.pages.paper import papers_of
from harness.report.pages.render import render_pages
from harness.report.runs import run_details
from harness.report.score_problems import score_problems
from harness.report.tables.build import Evidence, build_table
from harness.report.tables.leaderboard import (
    IN_PAPERS_FORM,
    PUBLIC,
    SHOWN,
    SMALL,
    has_values,
    missing_cells,
    notes_of,
    tables_of_plan,
)
from harness.report.tables.lookup import find_cells
from harness.report.tables.many import control, page_of
from harness.report.tables.model import Table
from harness.report.verification import Verification
from harness.results.contributions import Contribution, read_contributions
from harness.results.plausibility import values_of
from harness.results.schema import ResultFile, RunRecord, ScoreRecord
from harness.results.store import read_results
from harness.stages.pair_sets import pair_sets

OUTPUTS = {
    REPORTS / "index.html": None,
    REPORTS / "index.md": None,
    REPORTS / "tables": layouts.TABLES,
    REPORTS / "pages": layouts.PAGES,
    REPORTS / "papers": layouts.PAPERS,
}
"""What a report consists of, each part with the layout that tells a former one from a person's folder."""


def report(params: Params, *, strict: bool) -> int:
    """Writes tables and pages below reports/, all or none.

    Returns 1 if `strict` and a cell of the plan's tables is missing or a score is missing, stale or not
    planned. Errors: InputError without a score of the plan, for a bad declaration or file, and for a folder
    that holds what no report writes.
    """
    check_plain(REPORTS, again="delete it and run `dvc repro`")
    results = read_results(SCORES.glob("*.json"))
    planned = [result for result in results if result.run.key in params.runs]
    if not planned:
        raise InputError(f"{SCORES}: no scores of the plan, expected at least one run's; run `dvc repro`")
    for path, layout in OUTPUTS.items():
        if layout is not None:
            check_folder(path, layout)
    problems = score_problems(results, list(params.runs), present_identities(params))
    evidence = evidence_of(params, planned)
    tables = build_tables(evidence)
    content = report_content(params, evidence, tables, problems)
    write_report({**text_files(tables, problems, notes=content.notes), **render_pages(content)})
    missing = {table.key: missing_cells(table) for table in tables_of_plan(params.plan, tables)}
    lines = [f"missing: {count} cells of table {key}" for key, count in missing.items() if count]
    for line in [*problems, *lines]:
        print(line)
    print(f"{REPORTS / 'index.html'}: {len(tables)} tables, {len(planned)} runs, {len(problems)} problems")
    return 1 if strict and (problems or lines) else 0


def write_report(files: Mapping[str, str]) -> None:
    """Writes texts by their paths below reports/: all of them replace the former report, or none."""
    with new_outputs(OUTPUTS) as parts:
        for name, text in files.items():
            top, _, rest = name.partition("/")
            part = parts[REPORTS / top]
            (part / rest if rest else part).write_text(text, encoding="utf-8")


def evidence_of(params: Params, results: list[ResultFile]) -> Evidence:
    """Returns what tables are built from: scores, published numbers, what others measured, the plan's systems
    in its order, and what a seed takes.
    """
    systems = dict.fromkeys(
        RunSystem.of(run.id, run.method, run.variant, run.backbone_name) for run in params.runs.values()
    )
    evidence = evidence_without_plan(results)
    planned = recipes_of((run.id for run in params.runs.values()), load_recipes())
    return replace(evidence, systems=list(systems), recipes={**evidence.recipes, **planned})


def evidence_without_plan(results: list[ResultFile]) -> Evidence:
    """Returns what tables are built from; the order of systems is that of the scores."""
    published, recipes = load_published(declared(PUBLISHED)), load_recipes()
    contributed, faults = usable(*read_contributions(declared(CONTRIBUTED)), results, KnownRuns(recipes))
    for fault in faults:
        print(f"sentbench: set aside: {fault}", file=sys.stderr)
    return Evidence(
        results=results,
        published=published,
        ledger=load_ledger(declared(LEADERBOARDS / "evidence"), published),
        prices=seed_prices(recipes),
        contributed=contributed,
        set_aside=faults,
        recipes=recipes_of((result.run.id for result in results), recipes),
        settings={
            key: system.model_dump(include={"config", "train", "no_verdict"})
            for key, system in declared_systems(recipes).items()
        },
    )


def usable(
    contributions: Sequence[Contribution],
    faults: Sequence[str],
    results: Sequence[ResultFile],
    known: KnownRuns,
) -> tuple[dict[str, Contribution], list[str]]:
    """Returns the contributed results of today's recipes by run, and a line for each set aside.

    A run that is ours is not shown a second time; of one that two contributed the first is shown.
    """
    ours = {result.run.key for result in results}
    found: dict[str, Contribution] = {}
    lines = list(faults)
    for one in contributions:
        key = one.result.run.key
        try:
            values_of(one.result)
            record = known.record(key)
        except InputError as error:
            lines.append(f"{one.path}: {error}")
            continue
        if record != one.result.run.model_dump(exclude={"identity"}):
            lines.append(f"{one.path}: not the run {key} as the recipes declare it now")
        elif key not in ours:
            found.setdefault(key, one)
    return found, lines


def build_one_table(key: str) -> Table:
    """Returns one declared table with all scores on record and the verdicts that it has on its page.

    Errors: InputError for an unknown table."""
    specs = checked_specs(load_published(declared(PUBLISHED)))
    wanted = page_of(known_name(key, specs, "table"))
    page = {name: spec for name, spec in specs.items() if page_of(name) == wanted}
    systems = {choice.system for spec in page.values() for choice in spec.choices()}
    tasks = {column.task for spec in page.values() for column in (*spec.columns, *spec.parts)}

    def kept(run: RunRecord, score: ScoreRecord) -> bool:
        return score.task in tasks and (specs[key].rows_from == "runs" or run.id in systems)

    evidence = evidence_without_plan(read_results(SCORES.glob("*.json"), kept=kept))
    return control({name: build_table(spec, evidence) for name, spec in page.items()})[key]


def verifications(table: str, row: str, column: str) -> list[Verification]:
    """Returns what is known of a printed number in every row of this name.

    Errors: InputError for an unknown table, row or column, or a cell without a printed score.
    """
    cells = find_cells(build_one_table(table), row, column)
    known = [cell.evidence for _, cell in cells if cell.evidence is not None]
    if not known:
        raise InputError(
            f"{table} prints no score in column {column} of {row!r}, expected a number to verify; name "
            "another cell"
        )
    return known


def reported_systems() -> set[str]:
    """Returns the systems with their backbones of all published rows, `system@backbone` in lower case."""
    published = load_published(declared(PUBLISHED))
    ledger = load_ledger(declared(LEADERBOARDS / "evidence"), published)
    keys = {row.key for table in published.tables.values() for row in table.rows}
    return {name.lower() for key in keys for name in (key, ledger.plain(key))}


def citations(system: str, backbone: str, column: str) -> list[Advice]:
    """Returns which number to cite for a system, one for each distinct number that is reported of it."""
    evidence = evidence_without_plan(read_results(SCORES.glob("*.json")))
    works = read_declarations(declared(LEADERBOARDS) / WORKS, Work)
    plain = evidence.ledger.plain(f"{system.lower()}@{backbone.lower()}").partition("@")[0]
    return advice_for(
        build_tables(evidence).values(),
        evidence.published,
        works,
        system=plain,
        backbone=backbone,
        column=column,
    )


def checked_specs(published: Published) -> dict[str, TableSpec]:
    """Returns every declared table by key. Errors: InputError if one names what does not exist."""
    from harness.tasks.registry import TASKS

    specs = load_specs(declared(TABLES))
    backbones = {key: system.backbones for key, system in declared_systems(load_recipes()).items()}
    for spec in specs.values():
        check_spec(spec, published, tasks=list(TASKS), systems=backbones)
    return specs


def build_tables(evidence: Evidence) -> dict[str, Table]:
    """Returns every declared table by key, the small leaderboard first; those of runs only if filled.

    The small leaderboard is there too where its runs are planned and have no score.
    """
    specs = checked_specs(evidence.published)
    ordered = sorted(specs.values(), key=lambda spec: (spec.key != SMALL, spec.key))
    tables = control({spec.key: build_table(spec, evidence) for spec in ordered})
    return {
        key: table
        for key, table in tables.items()
        if specs[key].rows_from != "runs" or has_values(table) or (key == SMALL and table.rows)
    }


def report_content(
    params: Params, evidence: Evidence, tables: Mapping[str, Table], problems: list[str]
) -> Report:
    """Returns what the pages are built of."""
    runs = run_details(
        evidence.results,
        curves=CURVES,
    )
    recipes = load_recipes()
    lacking = unfilled(tables, recipes)
    small_scale = any_small_scale((run.run.id for run in evidence.results), recipes)
    return Report(
        title="sentbench",
        code=code_base().fingerprint(report_roots()),
        plan=", ".join(params.plan),
        tables=tuple(tables[key] for key in (*SHOWN, PUBLIC) if key in tables),
        small_tables=tuple(tables[key] for key in IN_PAPERS_FORM if key in tables),
        pairs=pair_sets(params),
        papers=papers_of(
            tables,
            evidence.published,
            runs,
            lacking,
            read_declarations(declared(LEADERBOARDS) / WORKS, Work),
        ),
        results=tuple(evidence.results),
        contributed=tuple(evidence.contributed.values()),
        set_aside=tuple(evidence.set_aside),
        runs=runs,
        ladders=ladders_of(params),
        notes=notes_of(tables.get(SMALL)) if small_scale else (),
        problems=tuple(problems),
        leaderboards=LEADERBOARDS,
        measurements=MEASUREMENTS,
    )


def ladders_of(params: Params) -> tuple[Ladder, ...]:
    """Returns a ladder for every system of the plan that trains and is no rung itself, on each backbone."""
    declared: dict[tuple[str, str], list[str]] = {}
    entries = {}
    for key, run in params.runs.items():
        if MARK not in run.id and run.train["steps"] != 0:
            declared.setdefault((run.id, run.backbone_name), []).append(key)
            entries[run.id] = run
    return tuple(
        Ladder(
            system,
            backbone,
            tuple(
                Step(f"{system}{MARK}{rung.step}", rung.step, rung.says) for rung in rungs_of(entries[system])
            ),
            tuple(keys),
        )
        for (system, backbone), keys in declared.items()
    )


def unfilled(tables: Mapping[str, Table], recipes: Mapping[str, Recipe]) -> dict[str, str]:
    """Returns for each table or figure of which no declared run fills a cell what it would take."""
    systems = declared_systems(recipes)
    wanted = table_runs(TABLES)
    found = {}
    for key in tables:
        runs = wanted.get(key, [])
        if not any(run.system in systems and run.backbone in systems[run.system].backbones for run in runs):
            names = ", ".join(str(run) for run in runs)
            found[key] = f"missing: {names}" if runs else "it holds no scores of runs of ours"
    return found


def present_identities(params: Params) -> dict[str, str]:
    """Returns the identity of every planned run whose artefact is there.

    Errors: InputError for an artefact whose description does not state one.
    """
    found = {}
    for key in params.runs:
        path = ARTEFACTS / key / RUN_RECORD
        if os.path.lexists(path):
            found[key] = str(read_object(path, "identity", again="train the run again")["identity"])
    return found
