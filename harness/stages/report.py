"""Stage `report`: recorded scores become tables, figures and one page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from harness.errors import InputError
from harness.files import atomic_folder, write_text
from harness.recipes import Params
from harness.report import figures
from harness.report.audit import dev_scores, score_problems
from harness.report.claims import judge_claims, load_claims
from harness.report.curves import CurvePoint
from harness.report.differences import load_audits
from harness.report.latex import to_latex
from harness.report.markdown import to_markdown
from harness.report.model import Table
from harness.report.page import Figure, Paper, Report, RunDetail
from harness.report.published import load_published, load_spread
from harness.report.render import render_audit, render_claims, render_index
from harness.report.spec import Selector, TableSpec, check_spec, load_specs
from harness.report.tables import Evidence, build_table
from harness.report.terminal import to_terminal
from harness.results.provenance import git_state
from harness.results.schema import ResultFile
from harness.results.store import read_results, to_frame
from harness.stages.evaluate import CURVES, SCORES
from harness.stages.train import ARTEFACTS, COSTS, DESCRIPTION

REPORTS, LEADERBOARDS = Path("reports"), Path("leaderboards")
SMALL = "small"
NOTES = (
    "Small-scale: a two-layer encoder cut from a trained one, a few thousand sentences, a minute a run. It "
    "shows that everything works and that changes are seen; it says nothing about a method in its paper's "
    "setting.",
    "On a backbone cut from a trained sentence encoder the contrast between two dropout views is solved "
    "within tens of steps: SimCSE and the methods built on it have little to teach and end below the "
    "untrained row. Distillation from the whole encoder does teach; centring and whitening lift the GloVe "
    "rows only.",
)


def report(params: Params, *, strict: bool) -> int:
    """Writes reports/tables and the pages; returns 1 if `strict` and a number is missing."""
    results = read_results(SCORES.glob("*.json"))
    planned = [result for result in results if result.run.key in params.runs]
    if not planned:
        raise InputError(f"{SCORES}: no scores of the plan, expected at least one run's; run `dvc repro`")
    problems = score_problems(results, list(params.runs), present_identities(params))
    tables = build_tables(params, planned)
    with atomic_folder(REPORTS / "tables") as folder:
        for table in tables.values():
            name = table.key.replace("/", "-")
            (folder / f"{name}.md").write_text(to_markdown(table), encoding="utf-8")
            (folder / f"{name}.tex").write_text(to_latex(table), encoding="utf-8")
            (folder / f"{name}.txt").write_text(to_terminal(table), encoding="utf-8")
    page = build_page(params, planned, tables, problems)
    write_pages(page, tables)
    write_text(REPORTS / "index.md", index_markdown(tables, problems))
    for problem in problems:
        print(problem)
    empty = missing_cells(tables[SMALL]) if SMALL in params.plan else 0
    print(f"{REPORTS / 'index.html'}: {len(tables)} tables, {len(planned)} runs, {len(problems)} problems")
    return 1 if strict and (problems or empty) else 0


def build_tables(params: Params, results: list[ResultFile]) -> dict[str, Table]:
    """Returns every declared table by key, the small leaderboard first; those of runs only if filled."""
    from harness.tasks import TASKS
    from methods import METHODS

    published = load_published(LEADERBOARDS / "published")
    specs = load_specs(LEADERBOARDS / "tables")
    for spec in specs.values():
        check_spec(spec, published, methods=list(METHODS), tasks=list(TASKS))
    systems = dict.fromkeys((run.method, run.variant, run.backbone_name) for run in params.runs.values())
    evidence = Evidence(
        scores=to_frame(results),
        published=published,
        spreads=load_spread(LEADERBOARDS / "published"),
        dev=dev_scores(results),
        systems=[Selector(method=method, variant=v, backbone=b) for method, v, b in systems],
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
    places = {key: ARTEFACTS / key / DESCRIPTION for key in params.runs}
    return {
        key: json.loads(place.read_text(encoding="utf-8"))["identity"]
        for key, place in places.items()
        if place.is_file()
    }


def write_pages(page: Report, tables: Mapping[str, Table]) -> None:
    """Writes the main page, the claims ledger and the page of differences between papers and code."""
    claims = load_claims(LEADERBOARDS / "claims")
    titles = {paper.key: paper.title for paper in page.papers}
    ledger = {
        titles[key]: judge_claims(entry.claims, tables) for key, entry in claims.items() if key in titles
    }
    write_text(REPORTS / "index.html", render_index(page))
    write_text(REPORTS / "claims.html", render_claims(page, ledger))
    write_text(REPORTS / "audit.html", render_audit(page, load_audits(LEADERBOARDS / "audit")))


def build_page(
    params: Params, results: list[ResultFile], tables: Mapping[str, Table], problems: list[str]
) -> Report:
    """Returns the page's content: leaderboard, figures, the papers' tables, every run with its record."""
    runs = {
        result.run.key: RunDetail.from_result(
            result,
            command=f"dvc repro evaluate@{result.run.key}",
            seconds=seconds_of(result.run.key),
            curve=read_curve(CURVES / f"{result.run.key}.jsonl", result.run.seed),
        )
        for result in results
    }
    return Report(
        title="sentbench",
        commit=git_state()[0],
        plan=", ".join(params.plan),
        tables=tuple(table for key, table in tables.items() if "/" not in key),
        papers=tuple(papers_of(tables)),
        figures=tuple(figures_of(runs)),
        runs=runs,
        curves=figures.run_curves(runs.values()),
        pages={"Claims": "claims.html", "Paper and code": "audit.html"},
        protocol=(
            "STS: Spearman correlation of cosines with gold scores, over all pairs of a test set.",
            "Selection: the checkpoint best on STS-B dev; the untrained encoder does not compete.",
            "Text: tokenised and lower-cased as in SentEval.",
        ),
        notes=NOTES,
        problems=tuple(problems),
    )


def papers_of(tables: Mapping[str, Table]) -> list[Paper]:
    """Returns the papers in the order of their names, each with its tables."""
    published = load_published(LEADERBOARDS / "published")
    found = []
    for key, paper in sorted(published.papers.items()):
        own = tuple(table for name, table in tables.items() if name.startswith(f"{key}/"))
        if own:
            found.append(Paper(key=key, title=paper.title, citation=paper.venue, tables=own))
    return found


def figures_of(runs: Mapping[str, RunDetail]) -> list[Figure]:
    """Returns the dev curves of the trained systems, their geometry, and a strip plot of seeds."""
    curves: dict[str, list[CurvePoint]] = {}
    finals: dict[str, list[float]] = {}
    for run in runs.values():
        if len(run.curve) > 1:
            curves.setdefault(run.system, []).extend(run.curve)
            if run.selection is not None:
                finals.setdefault(run.system, []).append(100 * run.selection.best_dev)
    if not curves:
        return []
    return [
        Figure(
            "dev-curves",
            "Learning on the development set",
            figures.dev_curves(curves),
            "STS-B dev Spearman against steps; thin lines are seeds, the band is their spread.",
        ),
        Figure(
            "geometry",
            "Alignment and uniformity",
            figures.geometry(curves),
            "Of unit vectors of STS-B dev, lower is better in both (Wang and Isola 2020).",
        ),
        Figure(
            "seeds",
            "Every seed",
            figures.seed_strip(finals, {}, key="seeds"),
            "STS-B dev Spearman of the selected checkpoint, one mark a seed.",
        ),
    ]


def read_curve(path: Path, seed: int) -> tuple[CurvePoint, ...]:
    """Returns the evaluations of one run; none where the file is absent."""
    if not path.is_file():
        return ()
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return tuple(
        CurvePoint(seed, entry["step"], entry["score"], entry.get("alignment"), entry.get("uniformity"))
        for entry in entries
    )


def seconds_of(key: str) -> float | None:
    """Returns the wall time of a run's training and evaluation on the machine that ran it last, if logged."""
    total = 0.0
    for stage in ("train", "evaluate"):
        place = COSTS / f"{key}.{stage}.json"
        if not place.is_file():
            return None
        total += json.loads(place.read_text(encoding="utf-8"))[f"{stage}_seconds"]
    return total


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
