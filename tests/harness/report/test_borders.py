"""Values on a border of a rule of the report, just inside of it and just outside."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.data.sts import ScoredPair
from harness.evidence.statistics import Interval
from harness.plan.hours import Cost
from harness.report import figures, gpu_time
from harness.report.assembly.pairs import score_lines
from harness.report.formats import latex
from harness.report.measurements import BenchmarkResult, Goal, MedianRange, PeerCost, goals, plain_number
from harness.report.pages import claims
from harness.report.pages.answers import Answer, Gain
from harness.report.pages.claims import CLAIM_OUTCOMES, _reported_marks
from harness.report.pages.first_screen import marks_of, shared_sentences, telling_sentences
from harness.report.pages.plan_figures import named
from harness.report.pages.strips import bare_rows, strip_of
from harness.report.tables.model import Cell, Column, Table, TableRow
from harness.tasks.sts import StsTask
from tests.harness.report.distinct_model import REPORT
from tests.harness.report.made_judged import judged, measured, printed, with_verdict
from tests.harness.report.shown import show_index

COLUMN = (Column("avg", "Avg"),)


def table(*cells: Cell, key: str = "p/t", **fields: Any) -> Table:
    rows = tuple(TableRow(f"r{n}", f"row {n}", (cell,)) for n, cell in enumerate(cells))
    return Table(key, "Title: of it", COLUMN, rows, **fields)


def answer(
    name: str, runs: tuple[float, ...], *, value: float = 75.0, seeds: int | None = 1, **more: Any
) -> Answer:
    """A number that its authors measured again."""
    again = measured({"them": sum(runs) / max(1, len(runs))}, {"them": runs}).independent
    nothing = measured({})
    others = replace(nothing, pools={**nothing.pools, "same authors": again})
    return Answer(judged(printed(75.0), others), name, "", "", "", "")


@pytest.mark.parametrize(
    ("places", "scale"),
    [((1.0, 30.0), "linear"), ((1.0, 30.1), "log"), ((-1.0, 100.0), "linear"), ((0.0, 100.0), "linear")],
)
def test_an_axis_is_logarithmic_above_a_factor_of_thirty_between_positive_values(
    places: tuple[float, float], scale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[dict[str, Any]] = []
    monkeypatch.setattr(figures, "draw", lambda name, rows, **words: drawn.append(words))
    rows = tuple(TableRow(str(x), str(x), (Cell(70.0),), x=x) for x in places)
    figures.chart_of(Table("p/f", "F", COLUMN, rows), {})
    assert drawn[0]["scale"] == scale


@pytest.mark.parametrize(("runs", "lanes"), [(12, {0}), (13, {-1, 0, 1})])
def test_more_than_twelve_runs_take_three_lines(runs: int, lanes: set[int]) -> None:
    others = measured({"a": 74.5}, {"a": tuple(74.0 + n / 16 for n in range(runs))})
    marks = marks_of(Answer(judged(printed(75.0), others), "One", "", "", "", ""))
    assert {mark["lane"] for mark in marks if mark["kind"] == "independent run"} == lanes


@pytest.mark.parametrize(
    ("runs", "value", "seeds", "told"),
    [
        ((74.0, 74.0, 74.0, 74.0), 74.0, 1, False),
        ((73.0, 74.0, 75.0, 74.0, 74.0), 75.0, 1, True),
        ((73.0, 74.0, 75.0, 74.0, 74.0), 75.0, None, True),
        ((73.0, 74.0, 75.0, 74.0, 74.0), 75.0, 5, False),
        ((73.0, 74.0, 75.0, 74.0, 74.0), 75.25, 1, True),
        ((73.0, 74.0, 75.0, 74.0, 74.0), 74.75, 1, True),
        ((73.0, 74.0, 75.0, 74.0, 74.0), 75.3, 1, False),
        ((73.0, 74.0, 75.0, 74.0, 74.0), 74.7, 1, False),
    ],
)
def test_a_single_number_is_the_best_of_five_seeds_that_round_to_it(
    runs: tuple[float, ...], value: float, seeds: int | None, told: bool
) -> None:
    """Rounded by a quarter at most; the mean of these five is 74."""
    made = answer("One", runs)
    number = replace(made.judged.number, value=value, rounding=0.25, seeds=seeds)
    sentences = shared_sentences([replace(made, judged=replace(made.judged, number=number))])
    best = f"One: {value:.2f} is the best of its authors’ 5 seeds, {value - 74:.2f} above their mean."
    assert sentences == ([best] if told else [])


def test_the_runs_of_a_compared_system_have_a_spread_from_five() -> None:
    """Of 70, 71, ..., 74 the middle 90 % are from 70.2 to 73.8."""
    runs = (70.0, 71.0, 72.0, 73.0, 74.0)
    assert Gain("it", 1.0, runs).spread == pytest.approx((70.2, 73.8))
    assert Gain("it", 1.0, runs[:4]).spread is None


def test_three_settled_averages_are_told_those_with_most_evidence_first() -> None:
    """Ours have 5, 6, 7 and 8 seeds; another column and an open number are not told."""
    seeds = [tuple(75.0 + n / 4 for n in range(count)) for count in (5, 8, 6, 7)]
    known = [with_verdict(75.0 + k, "ours", "lower", "outside", values=runs) for k, runs in enumerate(seeds)]
    cells = [Cell(number=each.number, judged=each) for each in known]
    other = with_verdict(90.0, "ours", "lower", "outside", values=seeds[1] * 2)
    elsewhere = replace(other, number=replace(other.number, column="STSB"))
    still = with_verdict(91.0, "ours", values=seeds[1] * 2)
    cells += [Cell(number=each.number, judged=each) for each in (elsewhere, still)]
    told = telling_sentences([table(*cells)])
    assert [line[:18] for line in told] == ["row 1, 76.00 in Ti", "row 3, 78.00 in Ti", "row 2, 77.00 in Ti"]
    assert telling_sentences([table(cells[0]), table(cells[0], key="q/t")]) == telling_sentences(
        [table(cells[0])]
    )


def test_a_name_is_shown_if_no_point_is_in_its_room() -> None:
    """The picture is 100 wide and high: a name takes 17 to the right of its point and 4 above and below."""
    ends: list[dict[str, Any]] = [{"name": "0", "x": 0.0, "y": 0.0}, {"name": "1", "x": 100.0, "y": 100.0}]

    def shown(x: float, y: float) -> bool:
        rows = named([*ends, {"name": "a", "x": 50.0, "y": 50.0}, {"name": "b", "x": x, "y": y}])
        return "label" in rows[2]

    assert [shown(50.0 + right, 50.0) for right in (16.9, 17.1, -0.9, -1.1)] == [False, True, False, True]
    assert [shown(55.0, 50.0 + up) for up in (3.9, 4.1, -3.9, -4.1)] == [False, True, False, True]
    rows = named([*ends, {"name": "a", "x": 50.0, "y": 50.0}, {"name": "b", "x": 49.0 - 8.4, "y": 50.0}])
    assert "label" in rows[2]
    assert "label" not in rows[3], "the name of the first is in its room"


@pytest.mark.parametrize(("pairs", "has"), [(29, False), (30, True)])
def test_a_correlation_has_an_interval_from_thirty_pairs(pairs: int, has: bool, tmp_path: Path) -> None:
    import numpy as np

    made = [ScoredPair(f"a{n}", f"b{n}", float(n % 6)) for n in range(pairs)]
    task = StsTask("T", "stsb", lambda _: {"x": made}, folder=tmp_path)
    turned = {pair.second: pair.score / 9 for pair in made}

    def encode(texts: Any) -> np.ndarray:
        angles = np.array([turned.get(text, 0.0) + len(text) / 50 for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)

    lines = score_lines([task], encode, intervals=True)
    assert {line.interval is not None for line in lines if line.setting == "all"} == {has}


@pytest.mark.parametrize(
    ("columns", "lines", "size"),
    [
        (9, 45, r"\small"),
        (10, 45, r"\scriptsize"),
        (9, 46, r"\scriptsize"),
        (10, 60, r"\scriptsize"),
        (1, 61, r"\tiny"),
    ],
)
def test_a_table_has_smaller_type_above_nine_columns_or_45_lines(columns: int, lines: int, size: str) -> None:
    made: Any = SimpleNamespace(columns=range(columns))
    rows = [
        {"ours": "a", "published": "b", "group": "c"},
        *[{"ours": "a", "published": "", "group": ""}] * (lines - 3),
    ]
    assert latex._font_size(made, rows).startswith(size)


@pytest.mark.parametrize(("pairs", "marks"), [(3, 3), (4, 1)])
def test_more_than_three_pairs_of_a_claim_are_a_median_and_a_bar(pairs: int, marks: int) -> None:
    rows = _reported_marks("a claim", {f"pair {n}": float(n * n) for n in range(pairs)})
    assert len(rows) == marks
    if marks == 1:
        says = "4 pairs: +0.00 to +9.00"
        assert rows == [
            {"name": "a claim", "kind": "reported", "value": 2.5, "low": 0.0, "high": 9.0, "says": says}
        ]


def test_a_difference_of_one_point_is_not_below_it_and_long_claims_have_two_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[dict[str, Any]] = []
    monkeypatch.setattr(claims, "draw", lambda name, rows, **words: drawn.append(words))
    row: Any = SimpleNamespace(title="row")

    def draw(says: str, *reported: float) -> dict[str, Any]:
        pairs = [SimpleNamespace(better=row, worse=row, columns=(n, n), reported=points, ours=None)
                 for n, points in enumerate(reported)]  # fmt: skip
        claim = SimpleNamespace(says=says, lower=False, within=None)
        claims.claims_of("K Y", [SimpleNamespace(claim=claim, pairs=pairs)])  # type: ignore[list-item]
        return drawn[-1]

    short, long = draw("x" * claims.LONG, 1.0, -1.0, 0.99), draw("x" * (claims.LONG + 1), 2.0)
    assert short["says"].startswith("1 of 3 reported differences are below one point; our seeds test 0")
    assert (short["tall"], long["tall"]) == (40, 52)
    assert (short["key"], short["long"], short["zero"]) == ("claims-k-y", claims.LONG, True)
    assert set(CLAIM_OUTCOMES) >= {"supported", "contradicted", "inconclusive"}


@pytest.mark.parametrize(("rows", "bare"), [(3, (0, 0)), (4, (4, 4))])
def test_a_table_of_three_rows_that_nobody_measured_again_is_shown(rows: int, bare: tuple[int, int]) -> None:
    cells = [Cell(number=printed(70.0 + n), judged=with_verdict(70.0 + n)) for n in range(rows)]
    assert bare_rows(table(*cells)) == bare


@pytest.mark.parametrize(
    ("difference", "place"),
    [(2.0, 30.0), (2.5, 30.0), (-2.0, -30.0), (-9.0, -30.0), (1.0, 15.0), (-0.01, -0.15)],
)
def test_a_strip_reaches_two_points_on_each_side(difference: float, place: float) -> None:
    known = with_verdict(70.0, "others")
    known = replace(known, by_others=replace(known.by_others, interval=Interval(difference, difference)))
    strip = strip_of(Cell(70.0 + difference, number=known.number, judged=known))
    assert strip is not None
    assert (strip.ours, *(strip.interval or ())) == pytest.approx((place,) * 3, abs=0.06)


def test_a_figure_on_its_goal_is_met_and_the_strictest_of_two_machines_is_asked() -> None:
    def spread(value: float) -> MedianRange:
        return MedianRange.of([value])

    def result(ours: float, ratio: float, target: float | None, limit: float | None) -> BenchmarkResult:
        peers = (PeerCost(name="peer", cost=spread(9.0), ratio=spread(ratio), target=target),)
        return BenchmarkResult(name="n", unit="s", ours=spread(ours), peers=peers, limit=limit)

    assert result(1.0, 2.0, 2.0, 1.0).met is True
    assert result(1.0, 1.99, 2.0, 1.0).met is False
    assert result(1.01, 2.0, 2.0, 1.0).met is False
    assert result(1.0, 2.0, None, None).met is None
    for least, met in ((True, (False, True, True)), (False, (True, True, False))):
        goal = Goal("g", "", least, 2.0, {"a": 1.99, "b": 2.0, "c": 2.01})
        assert tuple(goal.met(machine) for machine in "abc") == met

    def machine(title: str, *results: BenchmarkResult) -> Any:
        return SimpleNamespace(title=title, benchmarks=[SimpleNamespace(results=results)])

    low, high = result(0.5, 4.0, 1.5, 1.0), result(0.75, 5.0, 2.5, 2.0)
    for machines in ((machine("a", low), machine("b", high)), (machine("a", high), machine("b", low))):
        found = goals(SimpleNamespace(machines=machines))  # type: ignore[arg-type]
        assert [(goal.least, goal.bound) for goal in found] == [(False, 1.0), (True, 2.5)]
    (slower,) = goals(SimpleNamespace(machines=[machine("a", result(1.0, 0.8, 0.5, None))]))  # type: ignore[arg-type]
    assert (slower.least, slower.bound, slower.figures) == (False, 2.0, {"a": 1.25})
    (equal,) = goals(SimpleNamespace(machines=[machine("a", result(1.0, 0.8, 1.0, None))]))  # type: ignore[arg-type]
    assert (equal.least, equal.bound, equal.figures) == (True, 1.0, {"a": 0.8})


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0"), (0.0123456, "0.0123"), (99.94, "99.9"), (100.0, "100"), (-123.6, "-124"), (12345.6, "12346")],
)
def test_a_plain_number_has_three_digits_and_no_exponent(number: float, shown: str) -> None:
    assert plain_number(number) == shown


@pytest.mark.parametrize(("hours", "shown"), [(0.049, "< 0.1"), (0.05, "0.1"), (12.34, "12.3")])
def test_hours_below_a_twentieth_are_less_than_a_tenth(hours: float, shown: str) -> None:
    assert gpu_time.shown_hours(hours) == shown


def test_systems_fit_into_exactly_their_hours_and_shared_folders_count_once() -> None:
    """Verdicts for an hour: a 0.5, b 0.3, c 0.2; b and c share a teacher of two hours."""
    made = [
        gpu_time.Candidate("c", 1, (0.8,), {"teacher": Cost(2.0), "c": Cost(2.0)}),
        gpu_time.Candidate("a", 1, (1.0,), {"a": Cost(2.0)}),
        gpu_time.Candidate("b", 1, (0.5, 0.4), {"teacher": Cost(2.0), "b": Cost(1.0)}),
    ]
    for hours, names in ((7.0, "abc"), (6.9, "ab"), (5.0, "ab"), (4.9, "a"), (1.9, "")):
        assert "".join(each.name for each in gpu_time.fitting(made, hours)) == names


@pytest.mark.parametrize(("problems", "more"), [(0, ""), (1, ""), (5, ""), (6, "1 more"), (7, "2 more")])
def test_five_problems_are_shown_and_the_rest_is_counted(problems: int, more: str) -> None:
    page = show_index(replace(REPORT, problems=tuple(f"problem {n}." for n in range(problems))))
    assert [f"problem {n}." in page for n in range(problems)] == [True] * problems
    assert (f"{problems} thing{'s' * (problems != 1)} to fix" in page) is (problems > 0)
    assert (more in page) if more else (" more</summary>" not in page)
    listed = page.partition('class="problems"')[2].partition("</ul>")[0]
    assert listed.count("<li>") == min(5, problems)
