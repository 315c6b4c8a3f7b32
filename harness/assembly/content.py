"""What the pages of a report are built of."""

from __future__ import annotations

from collections.abc import Mapping

from harness.assembly.pair_sets import pair_sets
from harness.assembly.stamp import stamp_of
from harness.declarations import read_declaration, read_declarations
from harness.facts.spec import load_specs
from harness.identity import code_base, report_roots
from harness.paths import CURVES, LEADERBOARDS, MEASUREMENTS, REPORTS, declared
from harness.plan.entries import Params
from harness.plan.names import MARK, changes_of, is_full_scale, recipes_of
from harness.plan.recipes import Recipe, declared_systems, load_recipes
from harness.report.cite import WORKS, Work
from harness.report.pages.content import Ablation, Report, Site, Step
from harness.report.pages.paper import papers_of
from harness.report.runs import run_details
from harness.report.tables.build import Evidence
from harness.report.tables.leaderboard import (
    IN_PAPERS_FORM,
    PUBLIC,
    SHOWN,
    SMALL,
    notes_of,
)
from harness.report.tables.model import Table
from harness.results.kept_models import kept_models
from harness.tasks.registry import SUITES


def report_content(
    params: Params, evidence: Evidence, tables: Mapping[str, Table], problems: list[str]
) -> Report:
    """Returns what the pages are built of."""
    runs = run_details(evidence.results, curves=CURVES)
    recipes = load_recipes()
    lacking = unfilled(tables, recipes)
    declaring = recipes_of((run.run.id for run in evidence.results), recipes).values()
    small_scale = not all(is_full_scale(recipes[name]) for name in declaring)
    return Report(
        title="sentbench",
        code=code_base().fingerprint(report_roots()),
        plan=", ".join(params.plan),
        tables=tuple(tables[key] for key in (*SHOWN, PUBLIC) if key in tables),
        small_tables=tuple(tables[key] for key in IN_PAPERS_FORM if key in tables),
        own_tables=tuple(
            table
            for key, table in tables.items()
            if key not in (*SHOWN, *IN_PAPERS_FORM, PUBLIC)
            and key.partition("/")[0] not in evidence.published.papers
        ),
        own_models=tuple(kept_models()),
        suites=SUITES,
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
        ablations=ablations_of(params),
        notes=notes_of(tables.get(SMALL)) if small_scale else (),
        problems=tuple(problems),
        leaderboards=LEADERBOARDS,
        measurements=MEASUREMENTS,
        stamp=stamp_of(evidence.results, REPORTS / "index.html"),
        site=read_declaration(declared(LEADERBOARDS) / "site.yaml", Site),
    )


def ablations_of(params: Params) -> tuple[Ablation, ...]:
    """Returns an ablation for every trained system of the plan that is no step itself, on each backbone."""
    declared: dict[tuple[str, str], list[str]] = {}
    entries = {}
    for key, run in params.runs.items():
        if MARK not in run.id and run.train["steps"] != 0:
            declared.setdefault((run.id, run.backbone_name), []).append(key)
            entries[run.id] = run
    return tuple(
        Ablation(
            system,
            backbone,
            tuple(
                Step(f"{system}{MARK}{change.step}", change.step, change.says)
                for change in changes_of(entries[system])
            ),
            tuple(keys),
        )
        for (system, backbone), keys in declared.items()
    )


def unfilled(tables: Mapping[str, Table], recipes: Mapping[str, Recipe]) -> dict[str, str]:
    """Returns for each table or figure of which no declared run fills a cell what it would take."""
    systems = declared_systems(recipes)
    specs = load_specs()
    found = {}
    for key in tables:
        runs = list(specs[key].choices()) if key in specs else []
        if not any(run.system in systems and run.backbone in systems[run.system].backbones for run in runs):
            names = ", ".join(str(run) for run in runs)
            found[key] = f"missing: {names}" if runs else "it holds no scores of runs of ours"
    return found
