"""The pages of the report: what they hold, from the plan, the scores and the declarations; where they lie."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from harness.files import write_text
from harness.outputs import new_outputs
from harness.paths import COSTS, CURVES, LEADERBOARDS, MEASUREMENTS, PUBLISHED, REPORTS, TABLES
from harness.plan.entries import Params
from harness.plan.ladder import MARK, rungs_of
from harness.plan.names import table_runs
from harness.plan.recipes import Recipe, declared_systems, load_recipes
from harness.report.charts import figures
from harness.report.charts.curves import CurvePoint
from harness.report.charts.papers import chart_of
from harness.report.pages.audit import load_audits
from harness.report.pages.claims import judge_claims, load_claims
from harness.report.pages.ladder import Ladder, Step, measure_ladder
from harness.report.pages.lens import build_lens
from harness.report.pages.page import Figure, Paper, Report, RunDetail
from harness.report.pages.render import (
    render_audit,
    render_benchmarks,
    render_claims,
    render_index,
    render_ladders,
    render_lens,
    render_paper,
)
from harness.report.pages.speed import load_measurements
from harness.report.tables.elsewhere import reported_elsewhere, row_label, strip_column
from harness.report.tables.model import Table
from harness.report.tables.published import Published, load_published, load_spread
from harness.results.provenance import git_state
from harness.results.schema import ResultFile

SMALL = "small"
SHOWN = (SMALL, "small-transfer", "small-pairs", "small-geometry")
"""Tables of runs on the main page; all but the first only where a run fills a cell."""
PAPERS = "papers"
PAGES = {
    "Claims": "claims.html",
    "Paper and code": "audit.html",
    "Gap ladder": "ladder.html",
    "Lens": "lens.html",
}
SPEED = "benchmarks.html"
NOTES = (
    "Small-scale: a two-layer encoder cut from a trained one, a few thousand sentences, a minute a run. It "
    "shows that everything works and that changes are seen; it says nothing about a method in its paper's "
    "setting.",
    "On a backbone cut from a trained sentence encoder the contrast between two dropout views is solved "
    "within tens of steps: SimCSE and the methods built on it have little to teach and end below the "
    "untrained row. Distillation from the whole encoder does teach; centring and whitening lift the GloVe "
    "rows only.",
)


def write_pages(page: Report, params: Params, results: list[ResultFile], tables: Mapping[str, Table]) -> None:
    """Writes the main page, one page a paper, the claims ledger, the audit, the ladders and the lens."""
    claims = load_claims(LEADERBOARDS / "claims")
    titles = {paper.key: paper.title for paper in page.papers}
    ledger = {
        titles[key]: judge_claims(entry.claims, tables) for key, entry in claims.items() if key in titles
    }
    write_text(REPORTS / "index.html", render_index(page))
    write_text(REPORTS / "claims.html", render_claims(page, ledger))
    write_text(REPORTS / "audit.html", render_audit(page, load_audits(LEADERBOARDS / "audit")))
    ladders = [measure_ladder(ladder, results) for ladder in ladders_of(params, tables)]
    write_text(REPORTS / "ladder.html", render_ladders(page, ladders))
    write_text(REPORTS / "lens.html", render_lens(page, build_lens(results)))
    measured = load_measurements(MEASUREMENTS)
    if measured is not None:
        write_text(REPORTS / SPEED, render_benchmarks(page, measured))
    with new_outputs({REPORTS / paper.page: None for paper in page.papers}) as parts:
        for paper in page.papers:
            text = render_paper(page, paper, index="../index.html")
            parts[REPORTS / paper.page].write_text(text, encoding="utf-8")


def build_page(
    params: Params, results: list[ResultFile], tables: Mapping[str, Table], problems: list[str]
) -> Report:
    """Returns the report's content: leaderboard, figures, the papers' tables, every run with its record."""
    runs = {
        result.run.key: RunDetail.from_result(
            result,
            command=f"dvc repro evaluate@{result.run.key}",
            seconds=seconds_of(result.run.key),
            curve=read_curve(CURVES / f"{result.run.key}.jsonl", result.run.seed),
        )
        for result in results
    }
    papers = papers_of(tables, runs)
    return Report(
        title="sentbench",
        commit=git_state()[0],
        plan=", ".join(params.plan),
        tables=tuple(tables[key] for key in SHOWN if key in tables),
        papers=tuple(papers),
        figures=tuple(figures_of(runs)),
        runs=runs,
        curves=figures.run_curves(runs.values()),
        pages=site_pages(papers),
        protocol=(
            "STS: Spearman correlation of cosines with gold scores, over all pairs of a test set.",
            "Selection: the checkpoint best on STS-B dev; the untrained encoder does not compete.",
            "Text: tokenised and lower-cased as in SentEval.",
        ),
        notes=NOTES,
        problems=tuple(problems),
    )


def site_pages(papers: list[Paper]) -> dict[str, str]:
    """Returns the address of every page besides the main one, by its name."""
    speed = {"Speed": SPEED} if MEASUREMENTS.is_file() else {}
    return {**{paper.short: paper.page for paper in papers}, **PAGES, **speed}


def papers_of(tables: Mapping[str, Table], runs: Mapping[str, RunDetail]) -> list[Paper]:
    """Returns the papers in the order of their names, each with its tables and charts."""
    published = load_published(PUBLISHED)
    found, recipes = [], load_recipes()
    for key, paper in sorted(published.papers.items()):
        own = {name: table for name, table in tables.items() if name.startswith(f"{key}/")}
        charts = {name: chart_of(table, runs) for name, table in own.items()}
        strips = [strip_of(table, published) for table in own.values()]
        lacking = unfilled(own, recipes)
        if own:
            found.append(
                Paper(
                    key=key,
                    title=paper.title,
                    citation=paper.venue,
                    tables=tuple(own.values()),
                    figures=tuple(strip for strip in strips if strip),
                    notes=tuple(paper.notes),
                    page=f"{PAPERS}/{key}.html",
                    short=paper.short or key.upper(),
                    charts={name: chart for name, chart in charts.items() if chart},
                    commands=plan_commands(own, lacking),
                    unfilled=lacking,
                )
            )
    return found


def ladders_of(params: Params, tables: Mapping[str, Table]) -> list[Ladder]:
    """Returns a ladder for every system of the plan that trains and is no rung itself, on each backbone."""
    declared: dict[tuple[str, str], list[str]] = {}
    entries = {}
    for key, run in params.runs.items():
        if MARK not in run.id and run.train["steps"] != 0:
            declared.setdefault((run.id, run.backbone_name), []).append(key)
            entries[run.id] = run
    return [
        Ladder(
            system,
            backbone,
            tuple(
                Step(f"{system}{MARK}{rung.step}", rung.step, rung.says) for rung in rungs_of(entries[system])
            ),
            gap_of(keys, tables),
        )
        for (system, backbone), keys in declared.items()
    ]


def gap_of(keys: list[str], tables: Mapping[str, Table]) -> float | None:
    """Returns published minus ours, x 100, of the first average that these runs alone fill."""
    for table in tables.values():
        for row in table.rows:
            for column, cell in zip(table.columns, row.cells, strict=True):
                if column.key == "Avg" and cell.delta is not None and set(cell.runs) == set(keys):
                    return -cell.delta * 100 / table.scale
    return None


def plan_commands(tables: Mapping[str, Table], lacking: Mapping[str, str]) -> dict[str, str]:
    """Returns the command that runs a table or figure, by its key; none for those that no run fills."""
    return {key: f"sentbench plan {key} && dvc repro" for key in tables if key not in lacking}


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


def strip_of(table: Table, published: Published) -> Figure | None:
    """Returns a table's mean column as seeds beside the printed value and what others report of the row.

    Only rows that runs of ours are meant to fill and of which more is known than one printed value; None
    where there is no such row, for a figure, and for a table without a mean.
    """
    if table.kind == "figure" or table.key not in published.tables:
        return None
    column = strip_column(table, list(published.table(table.key).averages))
    if column is None:
        return None
    spreads = load_spread(PUBLISHED)
    place = [shown.key for shown in table.columns].index(column)
    values, printed, others = {}, {}, {}
    for row in table.rows:
        cell, label = row.cells[place], row_label(row)
        told = reported_elsewhere(published, spreads, table=table.key, row=row.key, column=column)
        if cell.published is not None and cell.verdict != "cited" and (cell.values or told):
            values[label], printed[label], others[label] = cell.values, cell.published, told
    if not values:
        return None
    key = f"seeds-{table.key.replace('/', '-')}"
    name = table.columns[place].title
    svg = figures.seed_strip(values, printed, others=others, label=name, key=key)
    title = f"{name} of {table.title}"
    return Figure(
        key, title, svg, "Diamonds: published here. Crosses: other papers and studies. Rings: our seeds."
    )


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
