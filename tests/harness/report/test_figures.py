"""Charts: what they show, that they are the same every time, and that several can share a page."""

from __future__ import annotations

import builtins
import re
import statistics
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import pytest

from harness.errors import InputError
from harness.report.charts import figures
from harness.report.charts.curves import CurvePoint, Summary, seed_lines, summarise
from harness.report.charts.palette import PALETTE, SERIES, contrast
from harness.report.runs import RunDetail
from tests.harness.report.made_results import result

pytest.importorskip("matplotlib", reason="charts need the extra `report`")

POINTS = [
    CurvePoint(seed, step, dev) for seed, step, dev in [(1, 10, 0.7), (0, 0, 0.6), (0, 10, 0.5), (1, 0, 0.8)]
]


def test_summary_is_mean_and_sample_sd_over_seeds_at_each_step() -> None:
    """Step 0: 0.6 and 0.8, mean 0.7, sd sqrt(0.02); step 10: 0.5 and 0.7, mean 0.6, the same sd."""
    first, second = summarise(POINTS, lambda point: point.dev)
    assert first == pytest.approx(Summary(0, 0.7, 0.02**0.5))
    assert second == pytest.approx(Summary(10, 0.6, 0.02**0.5))


def test_summary_of_one_seed_has_no_spread_and_skips_what_was_not_recorded() -> None:
    points = [CurvePoint(0, 0, 0.5), CurvePoint(0, 10, 0.6, uniformity=-2.0)]
    assert summarise(points, lambda point: point.uniformity) == [Summary(10, -2.0, 0.0)]


def test_seed_lines_are_in_the_order_of_steps() -> None:
    assert seed_lines(POINTS, lambda point: point.dev) == {0: [(0, 0.6), (10, 0.5)], 1: [(0, 0.8), (10, 0.7)]}


def test_labels_keep_their_gap_their_order_and_the_centre_of_each_cluster() -> None:
    """1.0 and 1.1 are moved to 0.8 and 1.3 around their mean 1.05; 5.0 is far enough to stay."""
    assert figures.moved_apart([5.0, 1.1, 1.0], gap=0.5) == pytest.approx([5.0, 1.3, 0.8])
    crowded = [3.0, 3.01, 3.02, 3.4, 3.9, 3.0]
    moved = figures.moved_apart(crowded, gap=0.3)
    assert all(b - a >= 0.3 - 1e-9 for a, b in pairwise(sorted(moved)))
    assert statistics.fmean(moved) == pytest.approx(statistics.fmean(crowded))


def _texts(svg: str) -> list[str]:
    """Everything the picture prints; the title and the description are not part of it."""
    return [
        element.text or "" for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    ]


def test_dev_curves_print_each_system_and_describe_it_in_percent() -> None:
    svg = figures.dev_curves({"one": POINTS, "two": POINTS})
    assert {"one", "two", "Training steps"} <= set(_texts(svg))
    assert "one, STS-B dev Spearman × 100: 70.00 at step 0, 60.00 at step 10." in svg


def test_many_systems_get_a_panel_each() -> None:
    curves = {f"system {i}": POINTS for i in range(figures.TOGETHER + 2)}
    panels = re.findall("system \\d", " ".join(_texts(figures.dev_curves(curves))))
    assert sorted(panels) == sorted(curves)
    assert sorted(set(re.findall(r"--series-\d", figures.dev_curves(curves)))) == ["--series-1"]


def test_systems_in_one_plot_differ_in_marker_and_dash_as_well_as_colour() -> None:
    assert figures.TOGETHER <= len(set(figures.MARKERS)) == len(SERIES)
    assert len(set(map(str, figures.DASHES))) == len(figures.DASHES) == len(SERIES)


def test_geometry_draws_both_quantities_and_says_so() -> None:
    points = [CurvePoint(0, step, 0.5, alignment=0.3, uniformity=-1.0 - step) for step in (0, 1)]
    svg = figures.geometry({"one": points})
    assert {"Alignment", "Uniformity"} <= set(_texts(svg))
    assert "one, Uniformity: -1.00 at step 0, -2.00 at step 1." in svg


def test_seed_strip_describes_mean_sd_and_published_value() -> None:
    """71 and 73 have mean 72 and sample standard deviation sqrt(2) = 1.41."""
    svg = figures.seed_strip({"one": [71.0, 73.0], "two": [60.0]}, {"one": 72.5})
    assert "one: 72.00 ± 1.41 over 2 seeds; published 72.50. two: 60.00 over 1 seed." in svg
    assert {"one", "two", "published", "seed", "mean ± sd"} <= set(_texts(svg))


def test_seed_strip_marks_only_what_there_is() -> None:
    texts = _texts(figures.seed_strip({"one": [71.0, 73.0]}, {}))
    assert "published" not in texts
    assert "others" not in texts


def test_a_chart_has_the_same_bytes_every_time() -> None:
    assert figures.dev_curves({"one": POINTS}) == figures.dev_curves({"one": POINTS})


def test_ids_start_with_the_key_are_unique_and_every_reference_has_its_target() -> None:
    page = figures.dev_curves({"one": POINTS}, key="left") + figures.dev_curves({"one": POINTS}, key="right")
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids)) > 4
    assert all(name.startswith(("left-", "right-")) for name in ids)
    targets = re.findall(r'href="#([^"]+)"', page) + re.findall(r"url\(#([^)]+)\)", page)
    assert len(targets) > 4
    assert set(targets) <= set(ids)


def test_a_chart_names_no_colour_and_no_font_of_its_own() -> None:
    svg = figures.seed_strip({"one": [71.0, 73.0]}, {"one": 72.0}, others={"one": [70.0]})
    bare = re.sub(r"var\(--[\w-]+, #[0-9a-f]{6}\)", "", svg)
    assert re.findall(r"(?:fill|stroke|color): #[0-9a-f]+", bare) == []
    assert "font-family:" not in svg
    assert "<path" in svg
    assert "1970" not in svg
    assert "date" not in svg.lower()


def test_a_chart_is_an_image_with_a_name_and_scales() -> None:
    root = ElementTree.fromstring(figures.dev_curves({"one": POINTS}, key="k"))
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "k-title k-desc"
    assert root.get("width") == "100%"
    assert root.get("height") is None
    assert root.get("viewBox", "").startswith("0 0 ")


def test_every_text_and_series_colour_reaches_4_5_to_1_in_both_schemes() -> None:
    names = [name for name in PALETTE if name not in ("paper", "raised", "rule", "edge")]
    assert len(names) == 12
    for name in names:
        for ground in ("paper", "raised"):
            assert contrast(PALETTE[name].light, PALETTE[ground].light) >= 4.5, name
            assert contrast(PALETTE[name].dark, PALETTE[ground].dark) >= 4.5, name
    assert contrast(PALETTE["edge"].light, PALETTE["paper"].light) >= 3
    assert contrast(PALETTE["edge"].dark, PALETTE["paper"].dark) >= 3


def test_contrast_of_black_and_white_is_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#777777") == 1


def test_curves_are_by_system_and_leave_out_runs_without_evaluations() -> None:
    trained = [
        RunDetail(result("a", seed, {}), (CurvePoint(seed, 0, 0.5), CurvePoint(seed, 9, 0.6)))
        for seed in (0, 1)
    ]
    untrained = RunDetail(result("u", 0, {}, method="pooled"))
    curves = figures.system_curves([*trained, untrained])
    assert list(curves) == ["m · v · b"]
    assert 'id="system-m-v-b-curve-title"' in curves["m · v · b"]


@pytest.mark.parametrize("draw", [figures.dev_curves, figures.geometry])
def test_nothing_to_draw_is_an_input_error(draw: object) -> None:
    with pytest.raises(InputError, match="no evaluation was recorded"):
        draw({"one": []})  # type: ignore[operator]
    with pytest.raises(InputError, match="got none"):
        figures.seed_strip({"one": []}, {})


def test_missing_matplotlib_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def refuse(name: str, *arguments: object, **named: object) -> object:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return original(name, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InputError, match=r"pip install '\.\[report\]'"):
        figures.dev_curves({"one": POINTS})
