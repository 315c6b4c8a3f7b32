"""Models for tests.regression.pages of the data of pictures."""

from contextlib import ExitStack
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from harness.evidence.curves import DevEvaluation
from harness.report import figures
from harness.report.chart import Chart
from harness.report.pages import claims, compare, first_screen, paper, plan_figures
from harness.report.pages.answers import Answer, Gain
from harness.report.pages.first_screen import gain_words
from harness.report.runs import RunDetail
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report import comparison_views as compared
from tests.harness.report.distinct_model import RUNS, TABLE
from tests.harness.report.made_results import result
from tests.regression.page_models import claim_of, pair_of
from tests.regression.text_models import TEN, numbers


def pictures() -> str:
    """The data and the words of each picture, as they are given to its drawing."""
    drawn: list[str] = []

    def draw(name: str, rows: Any, **words: Any) -> Chart:
        drawn.append(
            "\n".join([f"== {name}", *(f"{key}: {word}" for key, word in words.items()), *map(str, rows)])
        )
        return Chart("k", "t", "c", "s", tuple(rows), ("<svg/>",))

    with ExitStack() as stack:
        for module in (figures, claims, compare, first_screen, paper, plan_figures):
            stack.enter_context(patch.object(module, "draw", draw))
        _draw_all()
    return "\n".join(drawn)


def _draw_all() -> None:
    compare.differences_of(compared.BOTH)
    claims.claims_of(
        "a key", [claim_of("one", pair_of(0)), claim_of("four", *(pair_of(n, ours=None) for n in range(4)))]
    )
    gains = [Gain("it", 1.25, TEN), Gain("it", 1.25, (), rerun=74.5)]
    answers = [Answer(each, f"n {name}", "", "", "", "", control=name == "equal") for name, each in numbers()]
    answers += [replace(answers[0], gain=gain) for gain in gains]
    first_screen.forest_of(answers, "a key")
    assert [gain_words(each) for each in answers[-2:]] == [
        "claims +1.25 over it",
        "claims +1.25 over its own it run (74.50)",
    ]
    placed = [replace(row, x=x) for row, x in zip(TABLE.rows, (1.0, 40.0), strict=True)]
    for table in (
        replace(TABLE, rows=tuple(placed)),
        replace(TABLE, rows=tuple(replace(row, x=None) for row in placed)),
    ):
        figures.chart_of(table, {})
    figures.chart_of(replace(TABLE, rows=tuple(placed), columns=TABLE.columns), {})
    points = [(0, 0.5, 0.3, -2.0), (9, 0.6, 0.2, -2.5)]
    curve = tuple(DevEvaluation(step=s, score=v, alignment=a, uniformity=u) for s, v, a, u in points)
    trained = {key: RunDetail(run.result, curve) for key, run in RUNS.items()}
    figures.chart_of(replace(TABLE, logs=("alignment", "uniformity")), trained)
    figures.learning_curves([*trained.values(), *RUNS.values()])
    cells = [Cell(70.0 + n, ranks=span, n=3) for n, span in enumerate(((2, 3), (1, 3), (1, 2)))]
    ranked = [TableRow(f"r{n}", f"R{n}", (cell, Cell(1.0)), "g" * (n > 0)) for n, cell in enumerate(cells)]
    plan_figures.ranks_of(Table("a/b", "A title", (Column("a", "A"), Column("b", "B")), tuple(ranked)))
    shapes = [
        result(f"s{n}", 0, {("g", "all"): 0.2 + n / 10}, metric="alignment", method=f"m{n}") for n in range(3)
    ]
    for n, shape in enumerate(shapes):
        score = shape.scores[0].model_copy(update={"metric": "uniformity", "value": -2.0 - n})
        shapes[n] = shape.model_copy(update={"scores": [shape.scores[0], score]})
    plan_figures.geometry_figure(shapes)
