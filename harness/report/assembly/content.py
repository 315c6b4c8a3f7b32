"""Assemble the content of a report's pages."""

import hashlib
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.evidence.schema import ResultFile
from harness.io.declarations import read_declaration
from harness.paths import CURVES, LEADERBOARDS, REPORTS, declared
from harness.plan.entries import Params
from harness.plan.identity import code_base, report_roots
from harness.plan.names import is_full_scale, recipes_of
from harness.plan.recipes import Recipe
from harness.report.pages.content import Report, Site, Stamp
from harness.report.pages.paper import papers_of
from harness.report.runs import run_details
from harness.report.tables.build import Evidence
from harness.report.tables.leaderboard import IN_PAPERS_FORM, PUBLIC, SHOWN, SMALL, notes_of
from harness.report.tables.model import Table
from harness.report.weekend import weekend_of


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
        papers=papers_of(tables, evidence.published, runs),
        results=tuple(evidence.results),
        runs=runs,
        notes=notes_of(tables.get(SMALL)) if small_scale else (),
        problems=tuple(problems),
        leaderboards=LEADERBOARDS,
        weekend=weekend_of(tables, list(evidence.published.papers), recipes),
        stamp=stamp_of(evidence.results, REPORTS / "index.html"),
        site=read_declaration(declared(LEADERBOARDS) / "site.yaml", Site),
    )


def stamp_of(results: Sequence[ResultFile], page: Path) -> Stamp:
    """Returns the stamp of the results, or the previous report's in `page` if its results are equal.

    A clone that reproduces the results thus writes identical bytes. A new stamp has commit and day of the
    checkout's last commit, both empty outside a checkout.
    """
    content = "".join(result.model_dump_json() for result in sorted(results, key=lambda entry: entry.run.key))
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    former = re.search(rf'<meta name="results" content="{digest} (\w+) ([\d-]+)">', text)
    if former:
        return Stamp(digest, former[1], former[2])
    command = ["git", "log", "-1", "--format=%h %cs"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=page.parent)
    except (OSError, subprocess.CalledProcessError):
        return Stamp(digest)
    commit, _, date = done.stdout.strip().partition(" ")
    return Stamp(digest, commit, date)
