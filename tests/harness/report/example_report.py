"""A report as a small plan makes it, invented in memory: systems with three seeds, gaps, partial columns."""

import math
import random
import statistics
from dataclasses import replace

from harness.evidence.curves import DevEvaluation
from harness.evidence.schema import Selection
from harness.evidence.settling import Plan
from harness.evidence.words import Draw, Level
from harness.report.chart import draw
from harness.report.figures import MARK_KINDS, cell_rows
from harness.report.formats.number import Format
from harness.report.pages.content import Paper, Report
from harness.report.runs import RunDetail
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report.made_judged import printed, with_verdict
from tests.harness.report.made_results import result

TASKS = ("STS12", "STS13", "STS14", "STS15", "STS16", "STSB", "SICKR", "Avg")
SYSTEMS = {  # method, variant, backbone -> dev before, dev after
    ("simcse", "released", "minilm-l2"): (64.7, 62.7),
    ("simcse", "nt-xent", "minilm-l2"): (64.7, 62.2),
    ("distill", "mse", "minilm-l2"): (64.7, 73.1),
    ("pooled", "cls", "minilm-l2"): (48.4, 48.4),
    ("glove", "mean", "words"): (52.8, 52.8),
    ("whitening", "glove", "words"): (52.8, 61.7),
}
SEEDS = (0, 1, 2)


def make_runs() -> dict[str, RunDetail]:
    """Three seeds of every system; the untrained ones have no curve."""
    rng = random.Random(7)
    runs = [
        _make_run(rng, method, variant, backbone, seed, before, after)
        for (method, variant, backbone), (before, after) in SYSTEMS.items()
        for seed in SEEDS
    ]
    return {run.about.key: run for run in runs}


def _make_run(
    rng: random.Random, method: str, variant: str, backbone: str, seed: int, before: float, after: float
) -> RunDetail:
    key = f"{method}-{variant}-s{seed}"
    trained = method in ("simcse", "distill")
    steps = range(0, 151, 25) if trained else []
    curve = tuple(
        DevEvaluation(
            step=step,
            score=(before + (after - before) * (1 - math.exp(-step / 40)) + rng.gauss(0, 0.3)) / 100,
            alignment=0.31 - step / 900 + rng.gauss(0, 0.004),
            uniformity=-1.2 - step / 160 + rng.gauss(0, 0.05),
        )
        for step in steps
    )
    best = max(curve, key=lambda point: point.score, default=DevEvaluation(step=0, score=after / 100))
    labels = {"method": method, "variant": variant, "backbone": backbone}
    provenance = {
        "git_commit": "3f9d1c7ab20e45f6a98b7c6d5e4f3a2b1c0d9e8f",
        "data_sha256": {"stsb-raw": "a1" * 32, "wiki-excerpt": "b2" * 32},
        "encoder_sha256": f"{rng.getrandbits(256):064x}",
    }
    made = result(f"{method}-{variant}", seed, {}, key=key, **labels, **provenance)
    selection = Selection(
        best_step=best.step,
        best_dev=best.score,
        last_step=max(steps, default=0),
        last_dev=curve[-1].score if curve else best.score,
        initial_dev=before / 100,
    )
    return RunDetail(made.model_copy(update={"selection": selection}), curve)


def make_cell(
    centre: float, noise: float, rng: random.Random, runs: tuple[str, ...], published: float | None = None
) -> Cell:
    """A cell as `build_table` makes it, judged by a rule of thumb, which is enough for an example."""
    values = tuple(centre + rng.gauss(0, noise) for _ in SEEDS)
    mean, sd = statistics.fmean(values), statistics.stdev(values)
    cell = Cell(mean, sd, len(values), runs=runs, values=values)
    if published is None:
        return cell
    level: Level = "within half a point" if abs(mean - published) < 0.3 else "lower"
    plan: Plan | None = None
    draw: Draw = "outside"
    if level == "lower" and sd > 0.6:
        level, plan, draw = "not known", Plan(seeds=14, more=11), "not known"
    judged = with_verdict(published, "ours", level, draw, values=values, plan=plan)
    return replace(cell, number=judged.number, judged=judged, best_by_dev=max(values))


def make_leaderboard() -> Table:
    """Six systems on six columns, two of them partial; one column that two systems ran."""
    rng = random.Random(3)
    heads = {"stsb-test": "STS-B", "stsb-dev": "STS-B dev", "sts12-part": "STS12", "sts13-part": "STS13"}
    heads |= {"sickr": "SICK-R", "avg": "Avg"}
    columns = tuple(Column(key, title, "partial" * key.endswith("part")) for key, title in heads.items())
    rows = []
    for index, ((method, variant, backbone), (_, after)) in enumerate(SYSTEMS.items()):
        keys = tuple(f"{method}-{variant}-s{seed}" for seed in SEEDS)
        # SICK-R was run for two systems only: the rows without it must sort last either way
        shifts = (0, 1.4, -3.2, 2.1, 0 if index in (1, 3) else None, -1)
        cells = [Cell() if shift is None else make_cell(after + shift, 0.3, rng, keys) for shift in shifts]
        if index == 2:
            cells = [replace(cell, ranks=(1, 2) if cell.runs else None) for cell in cells]
        labels = {"group": backbone, "note": "centred" if method == "whitening" else ""}
        rows.append(TableRow(f"{method}-{variant}", f"{method} {variant}", tuple(cells), **labels))
    title, protocol = "Small plan: Spearman × 100", "Mean pooling, raw text, setting all."
    return Table("small-sts", title, columns, tuple(rows), protocol=protocol, notes=("Not the full sets.",))


def make_paper() -> Paper:
    """A paper's table: cited rows, rows nobody ran, and one row with several verdicts."""
    rng = random.Random(5)
    columns = tuple(Column(task.lower(), task, average=task == "Avg") for task in TASKS)
    known = tuple(
        Cell(number=printed(55.0 + i), judged=with_verdict(55.0 + i), wanted=False) for i in range(8)
    )
    alone = tuple(Cell(number=printed(70.0 + i), judged=with_verdict(70.0 + i, "authors")) for i in range(8))
    keys = tuple(f"simcse-released-s{seed}" for seed in SEEDS)
    offsets = (0.1, -0.1, 0.7, -0.8, 2.4, -1.9, 0.2, 1.5)
    cells = [
        make_cell(72 + i, 0.2 if i < 6 else 0.9, rng, keys, 72 + i + offset)
        for i, offset in enumerate(offsets)
    ]
    cells[3] = replace(cells[3], note="the reported average does not fit the row")
    rows = (
        TableRow("glove", "GloVe avg", known, source="cited"),
        TableRow("simcse", "SimCSE", tuple(cells), "bert-base-uncased", note="the authors' own re-run"),
        TableRow("dclr", "DCLR", alone, "bert-base-uncased"),
    )
    table = Table("dclr-table1", "Table 1: STS test sets", columns, rows, "CLS pooling, setting all.")
    marks = [
        *cell_rows("simcse", cells[0], Format()),
        {"name": "simcse", "kind": "independent source", "value": 71.6},
    ]
    texts = {"title": "STS12, seeds", "says": "One.", "x_title": "Spearman × 100"}
    chart = draw("rows", marks, key="dclr-strip", kinds=MARK_KINDS, **texts)
    return Paper("dclr", "Debiased Contrastive Learning", "ACL 2022", (table,), (chart,), ("Two versions.",))


def make_wide_table() -> Table:
    """A table of 16 rows and 30 columns, every cell run and judged."""
    rng = random.Random(11)
    keys = tuple(f"distill-mse-s{seed}" for seed in SEEDS)
    heads = tuple(Column(f"task-{i}", f"Task {i:02d}", "partial" if i % 7 == 3 else "") for i in range(30))

    def cell() -> Cell:
        base = rng.uniform(40, 85)
        return make_cell(base, 0.5, rng, keys, base + rng.gauss(0, 1))

    body = [
        TableRow(f"system-{row}", f"A system of some name, {row:02d}", tuple(cell() for _ in heads))
        for row in range(16)
    ]
    return Table("wide", "All tasks", heads, tuple(body))


def make_report(*, wide: bool = True) -> Report:
    """The whole example."""
    return Report(
        title="Sentence embeddings without labels, reproduced",
        code="7bb0566c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f6a",
        tables=(make_leaderboard(), make_wide_table()) if wide else (make_leaderboard(),),
        papers=(make_paper(),),
        runs=make_runs(),
        notes=("These rows come from encoders of two layers and a few hundred steps.",),
    )
