"""Assemble the content of a report's pages."""

import hashlib
from collections.abc import Mapping, Sequence

from harness.evidence.schema import ResultFile
from harness.io.declarations import read_declaration
from harness.paths import CURVES, LEADERBOARDS, declared
from harness.plan.entries import Params
from harness.plan.identity import code_base, report_roots
from harness.plan.names import is_full_scale, recipes_of
from harness.plan.recipes import Recipe
from harness.report.gpu_time import gpu_plan
from harness.report.pages.content import Report, Site
from harness.report.pages.paper import papers_of
from harness.report.runs import run_details
from harness.report.tables.build import Evidence
from harness.report.tables.leaderboard import IN_PAPERS_FORM, PUBLIC, SMALL, SMALL_TABLES, small_notes
from harness.report.tables.model import Table


def report_content(
    params: Params,
    recipes: Mapping[str, Recipe],
    evidence: Evidence,
    tables: Mapping[str, Table],
    problems: Sequence[str],
) -> Report:
    """Returns the content of the pages."""
    runs = run_details(evidence.results, curves=CURVES)
    declaring = recipes_of((run.run.id for run in evidence.results), recipes).values()
    of_runs = (*SMALL_TABLES, PUBLIC, IN_PAPERS_FORM)
    small_scale = not all(is_full_scale(recipes[name]) for name in declaring)
    return Report(
        title="sentbench",
        code=code_base().fingerprint(report_roots()),
        plan=", ".join(params.plan),
        tables=tuple(tables[key] for key in of_runs if key in tables),
        own_tables=tuple(
            table
            for key, table in tables.items()
            if key not in of_runs and key.partition("/")[0] not in evidence.published.papers
        ),
        papers=papers_of(tables, evidence.published, runs),
        results=tuple(evidence.results),
        runs=runs,
        notes=small_notes(tables.get(SMALL)) if small_scale else (),
        problems=tuple(problems),
        leaderboards=LEADERBOARDS,
        weekend=gpu_plan("weekend", tables, list(evidence.published.papers), recipes),
        results_digest=digest_of_results(evidence.results),
        site=read_declaration(declared(LEADERBOARDS) / "site.yaml", Site),
    )


def digest_of_results(results: Sequence[ResultFile]) -> str:
    """Returns 16 digits of the sha256 of results in any order."""
    content = "".join(result.model_dump_json() for result in sorted(results, key=lambda entry: entry.run.key))
    return hashlib.sha256(content.encode()).hexdigest()[:16]
