"""A model of a report in which every field has a value of its own."""

from dataclasses import replace

from harness.evidence.printed import PublishedPaper
from harness.evidence.schema import Provenance, Selection
from harness.evidence.statistics import Interval
from harness.evidence.studies import Study, StudySettings
from harness.plan.hours import Cost
from harness.report.chart import Chart
from harness.report.gpu_time import Candidate, GpuPlan
from harness.report.pages.content import Paper, Report, Site
from harness.report.runs import RunDetail
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report.made_judged import measured, printed, with_verdict
from tests.harness.report.made_results import result

VALUES = (73.11, 70.22, 72.34)
"""Of the seeds 7, 3 and 9, in no order."""
KEYS = ("r-seven", "r-three", "r-nine")


def made_run(key: str, seed: int, place: int) -> RunDetail:
    """A run whose record has a value of its own in every field."""
    made = result(
        "an-id", seed, {("STSB", "all"): 0.5 + place / 100, ("STS12", "all"): 0.6 + place / 100},
        key=key, method="a-method", variant="a-variant", backbone="a-backbone", commit="",
        recipe=f"recipe{place}", identity=f"identity{place}",
    )  # fmt: skip
    selection = Selection(
        best_step=100 + place, best_dev=0.81 + place / 1000, last_step=200 + place,
        last_dev=0.71 + place / 1000, initial_dev=0.61 + place / 1000,
    )  # fmt: skip
    provenance = Provenance(
        code_sha256=f"{place}c0de00000000", git_commit=f"{place}c0ffee00000", git_dirty=True,
        encoder_sha256=f"{place}e1c0de000000000000", data_sha256={"some-data": "da7a000000000000000"},
        versions={"a-library": "1.2.3"}, device="a-device", arithmetic="portable", precision="bf16",
        text="raw",
    )  # fmt: skip
    return RunDetail(made.model_copy(update={"selection": selection, "provenance": provenance}))


RUNS = {
    key: made_run(key, seed, place)
    for place, (key, seed) in enumerate(zip(KEYS, (7, 3, 9), strict=True), start=1)
}
NUMBER = printed(74.56, source="a work")
OTHERS = measured({"one": 75.06, "two": 75.56})
AGAIN = measured({"them": 74.16}, {"them": (73.96, 74.36)}).independent
OURS = replace(
    with_verdict(74.56, "ours", "lower", "outside", values=VALUES),
    others=replace(OTHERS, pools={**OTHERS.pools, "same authors": AGAIN}),
    by_others=replace(with_verdict(74.56).by_others, interval=Interval(-0.5, 0.8)),
)
CELL = Cell(
    value=71.89, sd=1.49, n=3, number=NUMBER, judged=OURS, wanted=False, no_verdict="a reason",
    as_reported=False, runs=KEYS, ranks=(2, 5), leads=True, best=True, note="a note of the cell",
    best_by_dev=72.35, values=VALUES,
)  # fmt: skip
TABLE = Table(
    key="toy/table1",
    title="Toy table 1: a title",
    columns=(
        Column("first-key", "First title", "a mark", average=False),
        Column("second-key", "Second title", average=True),
        Column("third-key", "Third title", plain=True),
    ),
    rows=(
        TableRow("row-key", "Row title", (CELL, Cell(50.01), Cell(3.0)), "A group", "a source",
                 "a note of the row", x=4.0, is_own=True),
        TableRow("other-key", "Other title", (Cell(number=printed(61.23), judged=with_verdict(61.23)),
                                              Cell(51.02), Cell(4.0)), "B group", "b source"),
    ),
    protocol="a protocol",
    scale=1.0,
    decimals=3,
    notes=("a note of the table",),
    kind="figure",
    x_title="an axis",
    logs=("alignment",),
    unit="a unit × 1",
)  # fmt: skip
ALONE = Table(
    "solo/table2", "Solo table 2: other", (Column("only", "Only"),),
    tuple(
        TableRow(f"r{n:.0f}", f"R{n:.0f}", (Cell(number=printed(n), judged=with_verdict(n, "authors")),))
        for n in (60.0, 61.0, 62.0)
    ),
)  # fmt: skip
PAPERS = (
    Paper(
        key="toy", title="A toy", citation="A venue 2020", tables=(TABLE,), notes=("a note of the paper",),
        short="TOY", link="https://example.org/paper", code="https://example.org/code", bibtex="@misc{toy}",
    ),
    Paper(
        key="solo", title="A solo", citation="B venue 2021",
        tables=(ALONE, replace(ALONE, key="solo/table3")),
    ),
)  # fmt: skip
REPORT = Report(
    title="a title of the report",
    code="a code",
    plan="a plan",
    papers=PAPERS,
    results=tuple(run.result for run in RUNS.values()),
    runs=RUNS,
    notes=("a note of the report",),
    problems=("a problem",),
    weekend=GpuPlan(
        "weekend",
        17,
        (
            Candidate("a-recipe/one", 1, (1.0,), {"a folder": Cost(0.01, 9.0, 2e9)}),
            Candidate("a-recipe/two", 17, (0.22, 0.82), {"b folder": Cost(12.5, 9.0, 30.5e9)}),
        ),
        Cost(12.51, 18.0, 33.25e9),
        "a GPU",
        "are a guess of https://example.org/gpu",
    ),
    results_digest="a digest",
    site=Site(repository="https://example.org/repository", documentation="https://example.org/documents"),
)
PUBLISHED = PublishedPaper.model_construct(
    paper="toy", title="A toy", venue="A venue", authors=["Ann Other", "Bo Third"], year=2020,
    link="https://example.org/paper",
)  # fmt: skip

STUDY = Study(
    system="a-system", kind="other-recipe", source="an-owner/a-repository", file="a file", by="a person",
    settings=StudySettings(sick_r_pairs=9927), differs="a difference",
    scores={"Avg": 70.5, "STS12": [60.5, 61.5]},
)  # fmt: skip
CHART = Chart(
    *("a-key", "a title", "a caption", "it says"),
    ({"name": "one", "value": 1.5}, {"name": "two", "low": 2.5}), ("<wide/>", "<middle/>", "<phone/>"),
)  # fmt: skip
