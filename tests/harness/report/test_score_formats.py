"""Scores and differences as text: points, heads, the average of reported cells, and annotations."""

import math
from typing import Any

import pytest

from harness.evidence.differences import Difference
from harness.evidence.statistics import Interval, StandardError
from harness.evidence.system_pairs import SystemComparison, TaskName
from harness.report.formats.markdown import annotation
from harness.report.formats.scores import (
    ScoreLine,
    average_of,
    differences_to_latex,
    differences_to_text,
    to_table,
)


def line(task: str, value: float, **rest: Any) -> ScoreLine:
    return ScoreLine(**{"metric": "spearman", "setting": "all", **rest}, task=task, value=value, n=100)


def test_the_average_is_over_unrounded_scores() -> None:
    """70.114 and 60.114 average 65.114; the cells 70.11 and 60.11 would average 65.11."""
    metric, setting, value = average_of(["A", "B"], [line("A", 0.70114), line("B", 0.60114)]) or ("", "", 0)
    assert (metric, setting, value) == ("spearman", "all", pytest.approx(0.65114, abs=1e-12))
    assert average_of(["A", "B"], [line("A", 0.7)]) is None


def test_a_table_has_heads_points_and_averages_and_counts_subsets() -> None:
    lines = [
        line("A", 0.5, interval=Interval(0.4, 0.61)),
        line("A", 0.3, setting="subset:x"),
        line("B", 0.7),
        line("geometry", -2.3456, metric="uniformity"),
        ScoreLine("Avg. s", "spearman", "average", 0.6, 2),
    ]
    whole = to_table(lines, note="text as in a paper").splitlines()
    assert whole[0].split() == ["task", "metric", "over", "score", "95", "%", "interval", "n"]
    assert whole[1].split() == ["A", "spearman", "all", "50.00", "40.00", "to", "61.00", "100"]
    assert whole[3].split() == ["geometry", "uniformity", "all", "-2.3456", "100"]
    assert whole[5].split() == ["Avg.", "s", "spearman", "average", "60.00", "2", "tasks"]
    assert whole[7] == (
        "scores x 100, but alignment, uniformity, anisotropy as they are; text as in a paper; 1 scores of "
        "subsets in --out FILE.csv"
    )


def test_differences_show_their_intervals_who_wins_and_what_would_have_been_found() -> None:
    """Over pairs 0.1 +- 0.0196; over seeds by t(4) = 2.7764 0.1 +- 0.02776; jointly by t(16) 2.1199."""
    name = TaskName("STSB", "spearman", "all", "senteval")
    seeds, pairs = StandardError(0.01, 4), StandardError(0.01, math.inf)
    tasks = {
        name: Difference(0.8, 0.7, (3, 3), seeds, pairs),
        name._replace(task="A"): Difference(0.5, 0.6, (3, 1), None, pairs),
    }
    mean = Difference(0.65, 0.60, (3, 3), seeds)
    shown = differences_to_text(SystemComparison("x@b", "y@b", tasks, mean))
    heads, first, second, whole, _, outcome, power, foot = shown.splitlines()
    assert heads.split()[2:5] == ["x@b", "y@b", "difference"]
    assert first.split() == ["STSB", "spearman", "80.00", "70.00", "+10.00", "+7.22", "to", "+12.78", "+8.04",
                             "to", "+11.96", "+7.00", "to", "+13.00", "won"]  # fmt: skip
    assert second.split()[-6:] == ["–", "-11.96", "to", "-8.04", "–", "inconclusive"]
    assert whole.split() == ["Mean", "65.00", "60.00", "+5.00", "+2.22", "to", "+7.78", "–", "–", "won"]
    assert outcome == "x@b: 1 won, 0 lost, 1 inconclusive, 0 equal of 2 test sets"
    assert power == "a true difference of 3.8 points of the mean is found in 8 of 10 cases"
    assert "tested over seeds, the mean at 5 %, then the test sets by Holm" in foot
    assert "no test set was tested" not in foot
    open_mean = Difference(0.65, 0.64, (3, 3), seeds)
    shown = differences_to_text(SystemComparison("x@b", "y@b", tasks, open_mean))
    assert shown.endswith("; no test set was tested, as the mean is inconclusive\n")


def test_differences_in_latex_have_each_value_in_its_row_and_a_star_where_they_are_told_apart() -> None:
    """Over seeds with 4 degrees of freedom; the first task is won, the second open, the mean lost."""
    name, error = TaskName("STS_B", "spearman", "all", "senteval"), StandardError(0.01, 4)
    tasks = {
        name: Difference(0.81, 0.71, (3, 3), error),
        name._replace(task="A"): Difference(0.52, 0.515, (3, 3), error),
    }
    mean = Difference(0.63, 0.74, (3, 3), error)
    assert differences_to_latex(SystemComparison("x_1@b", "y@b", tasks, mean)).splitlines() == [
        r"\begin{tabular}{lccc}",
        r"\toprule",
        r" & STS\_B & A & Avg. \\",
        r"\midrule",
        r"x\_1@b & 81.00 & 52.00 & 63.00 \\",
        r"y@b & 71.00 & 51.50 & 74.00 \\",
        r"\midrule",
        r"Difference & $+10.00^{*}$ & $+0.50$ & $-11.00^{*}$ \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_an_annotation_has_no_character_that_would_end_it() -> None:
    assert annotation("error", "a: b, c", "50 %\nmore") == "::error title=a%3A b%2C c::50 %25%0Amore"
