"""Pictures show the data: values are read back from the SVG by its axis, sentences agree with the drawing."""

import csv
import io
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import product

import pytest

from harness.evidence.curves import DevEvaluation
from harness.report.chart import PALETTE, Chart
from harness.report.figures import chart_of, curve_rows, learning_curves
from harness.report.formats.number import Format
from harness.report.pages.answers import Answer, Gain
from harness.report.pages.claims import Claim, ClaimedRows, claims_of, judge_claims
from harness.report.pages.first_screen import GAIN, INTERVAL, KINDS, SPREAD, conclusion, forest_of
from harness.report.pages.paper import others_values
from harness.report.pages.plan_figures import geometry_figure, ranks_of
from harness.report.runs import RunDetail
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report.made_judged import judged, measured, printed
from tests.harness.report.made_results import result

SVG = "{http://www.w3.org/2000/svg}"
BOTH = Cell(71.0, 0.5, 2, printed(72.0), values=(70.5, 71.5), runs=("a-s0", "a-s1"))
COLUMNS = (Column("size", "Size", plain=True), Column("avg", "Avg"))
FIGURE = Table(
    "p/fig1", "Figure 1", COLUMNS,
    (
        TableRow("a", "K = 1", (Cell(1.0), BOTH), x=1.0),
        TableRow("b", "K = 100", (Cell(), Cell(number=printed(80.0))), x=100.0),
    ),
    kind="figure", x_title="K",
)  # fmt: skip
REPORTED = printed(76.25, row="simcse@bert")
SOURCES = {"a/a": (75.0, 75.2), "b/b": (74.0,), "c/c": (76.0,)}


@pytest.fixture(scope="module")
def forest() -> Chart:
    """One number with four independent runs of three sources, one without any, one that ours replicate."""
    return forest_of([answer("One", SOURCES), answer("Two", {}), answer("Three", {}, (76.3,))], "k")


def answer(name: str, runs: dict[str, tuple[float, ...]], ours: tuple[float, ...] = ()) -> Answer:
    means = {source: sum(values) / len(values) for source, values in runs.items()}
    return Answer(judged(REPORTED, measured(means, runs), values=ours), name, "#t", "", "", "")


def drawn(chart: Chart | None) -> Chart:
    assert chart is not None
    return chart


def marks_of(svg: str, layer: str) -> list[tuple[float, str]]:
    """Returns the place across and the tip of each mark of a layer."""
    root = ElementTree.fromstring(svg)
    (group,) = [part for part in root.iter(f"{SVG}g") if part.get("class") == layer]
    paths = list(group.iter(f"{SVG}path"))
    positions = [re.findall(r"translate\(([-\d.]+)", path.get("transform", "")) for path in paths]
    tips = [path.findtext(f"{SVG}title") or "" for path in paths]
    return [(float(position[0]), tip) for position, tip in zip(positions, tips, strict=True)]


def test_the_place_of_every_mark_of_the_first_picture_is_its_difference_from_the_reported_value(
    forest: Chart,
) -> None:
    """The axis is calibrated by two marks; every other one is where its value puts it. Phones get no tip."""
    for svg in forest.drawings:
        drawn = marks_of(svg, "points")
        points = [row for row in forest.rows if row["kind"] != INTERVAL]
        tips = [row["says"] for row in points] if svg is forest.svg else [""] * len(points)
        assert [tip for _, tip in drawn] == tips
        assert len(drawn) == 3 + 4 + 1 + 1
        by_value = sorted(zip((row["value"] for row in points), (x for x, _ in drawn), strict=True))
        (low, left), (high, right) = by_value[0], by_value[-1]
        for value, x in by_value:
            assert x == pytest.approx(left + (value - low) / (high - low) * (right - left), abs=0.11)


def legend_of(svg: str) -> list[str]:
    """Returns the texts of a drawing that are kinds of marks."""
    texts = [part.text or "" for part in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    return sorted({text for text in texts if text in KINDS}, key=list(KINDS).index)


def test_the_legend_of_the_first_picture_has_each_kind_of_its_marks_and_no_other(forest: Chart) -> None:
    gain = Gain("SimCSE", 2.0, (73.0, 73.5, 74.0, 74.5, 75.0))
    claimed = forest_of([replace(answer("One", {}), gain=gain)], "k")
    for svg in forest.drawings:
        assert legend_of(svg) == ["reported", "independent run", "median of sources", INTERVAL, "ours"]
    for svg in claimed.drawings:
        assert legend_of(svg) == ["reported", GAIN, SPREAD]


def test_the_first_picture_has_the_second_line_of_each_number_on_every_screen() -> None:
    """Phones and tablets have it in parts, below each other."""
    gain = Gain("SimCSE", 2.0, ())
    two = [replace(answer("One", {}), gain=gain), answer("Two", SOURCES)]
    for svg in forest_of(two, "k").drawings:
        texts = " ".join(ElementTree.fromstring(svg).itertext())
        assert re.search("no independent run found;? +claims [+]2.00 over SimCSE", texts)
        assert re.search(
            "90 % interval of the mean of 3 sources: −2.91 to .0.48;? +partly within half", texts
        )


def test_the_first_picture_names_every_number_with_its_verdict_and_links_to_its_row(forest: Chart) -> None:
    for svg in forest.drawings:
        texts = [part.text for part in ElementTree.fromstring(svg).iter(f"{SVG}text")]
        assert {"One", "Two", "Three", "independent run", "ours", "reported"} <= set(texts)
        assert {"○? not settled", "‡ authors only"} <= set(texts)
        assert re.findall(r'<a [^>]*href="([^"]+)"', svg) == ["#answer-one", "#answer-two", "#answer-three"]
        assert 'role="group"' in svg


def test_the_conclusion_counts_the_verdicts() -> None:
    low = {name: (70.0 + index / 10,) for index, name in enumerate("abc")}
    actual = [answer("One", low), answer("Two", {}), answer("Three", low)]
    assert conclusion(actual) == (
        "None of 3 well-known numbers is known to replicate: 2 are above the mean of other runs and outside "
        "the range of their kind; 1 was measured by its authors only."
    )


def test_the_conclusion_says_that_no_number_replicates_only_if_none_does() -> None:
    """A control that replicates is none of the numbers."""
    two, replicates = answer("Two", {}), answer("Three", {}, (76.2, 76.3) * 10)
    authors = "were measured by their authors only."
    assert conclusion([two, replicates]).startswith("Of 2 well-known numbers, 1 replicates; ")
    none = f"None of 2 well-known numbers is known to replicate: 2 {authors} The control replicates."
    assert conclusion([two, two, replace(replicates, control=True)]) == none


def test_equal_rows_give_equal_bytes_and_two_pictures_share_no_id(forest: Chart) -> None:
    again, other = (forest_of([answer("One", SOURCES)], key) for key in ("same", "other"))
    assert forest_of([answer("One", SOURCES)], "same") == again
    ids = [re.findall(r'\bid="([^"]+)"', "".join(chart.drawings)) for chart in (again, other)]
    assert len(ids[0]) == len(set(ids[0])) > 3
    assert not set(ids[0]) & set(ids[1])
    runs = [line["value"] for line in csv.DictReader(io.StringIO(forest.csv)) if "run" in line["kind"]]
    assert runs == ["74.0", "75.0", "75.2", "76.0"]


def test_a_picture_names_no_colour_and_no_font_of_its_own(forest: Chart) -> None:
    for svg in forest.drawings:
        bare = re.sub(r"var\(--[\w-]+, #[0-9a-f]{6}\)", "", svg)
        assert re.findall(r'(?:fill|stroke)="#[0-9a-f]+', bare) == []
        assert svg.count("font-family=") == 1


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb in [0, 1]. Source: WCAG 2.2, definition of relative luminance."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_text_and_series_colour_reaches_4_5_to_1_in_both_schemes() -> None:
    """Source of the contrast ratio: WCAG 2.2."""
    names = PALETTE.keys() - {"paper", "raised", "rule", "edge"}
    for name, ground in product(names, ("paper", "raised")):
        for pair in zip(PALETTE[name], PALETTE[ground], strict=True):
            low, high = sorted(map(luminance, pair))
            assert (high + 0.05) / (low + 0.05) >= 4.5, name


def trained(
    system: str, *points: tuple[int, float, float | None], seed: int = 0, backbone: str = "b"
) -> RunDetail:
    """A run with the score and uniformity of its evaluations by step."""
    curve = tuple(
        DevEvaluation(step=step, score=dev, uniformity=uniformity) for step, dev, uniformity in points
    )
    return RunDetail(result(system, seed, {}, backbone=backbone), curve)


def test_curves_are_mean_and_sample_sd_over_seeds_and_lines_are_in_the_order_of_steps() -> None:
    """Step 0: 60 and 80, mean 70, sd sqrt(200); step 10: 50 and 70, mean 60, the same sd."""
    runs = [
        trained("a", (10, 0.7, None), (0, 0.8, None), seed=1),
        trained("a", (0, 0.6, None), (10, 0.5, None)),
    ]
    rows = curve_rows("a", runs, "score")
    means = [(row["x"], row["y"], row["high"]) for row in rows if row["kind"] == "ours"]
    assert means == [(0, 70.0, pytest.approx(70 + 200**0.5)), (10, 60.0, pytest.approx(60 + 200**0.5))]
    lines = [(row["seed"], row["x"], row["y"]) for row in rows if row["kind"] == "seed"]
    assert lines == [(0, 0, 60.0), (0, 10, 50.0), (1, 0, 80.0), (1, 10, 70.0)]


def test_learning_curves_are_by_backbone_and_leave_out_untrained_systems() -> None:
    """Dev scores rise from 50 to 60 on `b`; a run without evaluations is in no panel."""
    rise = (0, 0.5, None), (9, 0.6, None)
    runs = [trained("a", *rise), trained("c", *rise, backbone="other")]
    untrained = RunDetail(result("u", 0, {}, method="pooled"))
    charts = learning_curves([*runs, untrained])
    assert [chart.key for chart in charts] == ["learning-b", "learning-other"]
    assert charts[0].says == "1 of 1 systems improve on their start, m v most, by 10.0 points."
    assert [tip for _, tip in marks_of(charts[0].svg, "points")] == [
        "m v, step 0: 50.00 ± 0.00", "m v, step 9: 60.00 ± 0.00",
    ]  # fmt: skip


def test_a_figure_tells_both_values_and_leaves_plain_columns_out() -> None:
    chart = drawn(chart_of(FIGURE, {}))
    tips = [tip for _, tip in marks_of(chart.svg, "points")]
    assert tips == ["Avg, K = 1, reported: 72.00", "Avg, K = 1, ours: 71.00", "Avg, K = 100, reported: 80.00"]
    assert chart.says == "Ours exist for 1 of 2 reported values; the largest difference is 1.00."
    unrun = replace(FIGURE, rows=FIGURE.rows[1:])
    assert (chart_of(unrun, {}) or chart).says == "1 reported value, not run yet."
    logs = replace(FIGURE, logs=("uniformity",))
    curves = drawn(
        chart_of(logs, {"a-s0": trained("a", (10, 0.6, -2.0)), "z": trained("a", (10, 0.6, -3.0))})
    )
    assert marks_of(curves.svg, "points")[0][1] == "K = 1: uniformity, step 10: -2.00 ± 0.00"


def test_an_axis_over_two_decades_is_logarithmic() -> None:
    """10 is halfway between 1 and 100 on a logarithmic axis; 10.5 is between 1 and 20 on a linear one."""
    for middle, last in ((10.0, 100.0), (10.5, 20.0)):
        rows = [replace(FIGURE.rows[1], x=x) for x in (1.0, middle, last)]
        chart = drawn(chart_of(replace(FIGURE, rows=tuple(rows)), {}))
        left, centre, right = (x for x, _ in marks_of(chart.svg, "points"))
        assert centre == pytest.approx((left + right) / 2, abs=0.02)


def test_a_point_of_the_geometry_is_one_system_on_one_backbone_over_all_pairs() -> None:
    """Two seeds on `a` are at 0.2 and 0.4, one on `b` at 0.9; another setting is not drawn."""
    made = [
        result("x", seed, {("geometry-test", "all"): value}, backbone=backbone, metric="alignment")
        for backbone, seed, value in (("a", 0, 0.2), ("a", 1, 0.4), ("b", 0, 0.9))
    ]
    first = made[0].scores[0]
    more = [
        first.model_copy(update={"metric": "uniformity", "value": -1.0}),
        first.model_copy(update={"setting": "at-least-4", "value": 7.0}),
    ]
    chart = drawn(
        geometry_figure([record.model_copy(update={"scores": [*record.scores, *more]}) for record in made])
    )
    assert [tip for _, tip in marks_of(chart.svg, "points")] == [
        "m/v@a: alignment 0.300, uniformity -1.000", "m/v@b: alignment 0.900, uniformity -1.000",
    ]  # fmt: skip


def test_the_ranks_of_a_table_are_bars_from_the_first_to_the_last_rank() -> None:
    cells = (Cell(3.0, ranks=(1, 2)), Cell(2.0, ranks=(1, 3)), Cell(1.0, ranks=(2, 3)), Cell(0.5))
    rows = tuple(TableRow(str(i), f"row {i}", (cell,), "g") for i, cell in enumerate(cells))
    chart = drawn(ranks_of(Table("t", "T", (Column("avg", "Avg"),), rows)))
    assert chart.says == "2 of 3 systems may be first, and 2 may be last."
    assert [(row["name"], row["low"], row["high"], row["value"]) for row in chart.rows] == [
        ("row 0", 0.6, 2.4, 1), ("row 1", 0.6, 3.4, 2), ("row 2", 1.6, 3.4, 3),
    ]  # fmt: skip


def test_claims_are_drawn_in_points_without_claims_of_equality() -> None:
    """The table is on a scale of 1: a difference of 0.02 is 2 points."""
    rows = tuple(
        TableRow(key, key, (Cell(number=printed(value)),)) for key, value in (("a", 52.0), ("b", 50.0))
    )
    table = Table("t", "T", (Column("avg", "Avg"),), rows, scale=1.0)
    pair = ClaimedRows(better="a", worse=["b"])
    claim = Claim(says="a is above b", source="s", table="t", columns=["avg"], rows=[pair])
    judged = judge_claims([claim, claim.model_copy(update={"within": 1.0})], {"t": table})
    chart = drawn(claims_of("P", judged))
    assert [tip for _, tip in marks_of(chart.svg, "points")] == ["a and b, avg: +2.00"]
    assert chart.says == "0 of 1 reported differences are below one point; our seeds test 0."


def test_independent_sources_of_a_strip_are_in_the_scale_of_the_table() -> None:
    known = answer("One", {"x/y": (75.4,), "x/z": (75.1,)}).judged
    assert others_values(Cell(number=known.number, judged=known), Format(1.0)) == pytest.approx(
        [0.754, 0.751]
    )
    assert others_values(Cell(number=known.number), Format()) == []


def test_the_control_is_separate_from_the_counted_numbers() -> None:
    control = replace(answer("Control", {}, (76.2, 76.2, 76.3, 76.3, 76.2)), control=True)
    alone = replace(answer("Two", {}), control=False)
    assert conclusion([alone, control]) == (
        "The one well-known number was measured by its authors only. The control replicates."
    )
