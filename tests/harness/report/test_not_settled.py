"""Why a number is not settled, in one line that stands next to the word."""

from dataclasses import replace

from harness.evidence.others import nothing_known
from harness.report.sentences import open_words
from tests.harness.report.made_judged import judged, measured, printed, with_verdict


def test_few_sources_are_counted_against_what_a_verdict_needs() -> None:
    known = judged(printed(75.0), measured({"a": 74.0, "b": 76.0}))
    assert open_words(known) == "2 sources; a verdict needs 3, or one with 10 runs"


def test_an_interval_that_leaves_both_answers_open_is_stated() -> None:
    """Means 74, 75 and 76: Student's t(0.95, 2) = 2.920, times 1 / sqrt(3): 1.686, and 0.005 of rounding."""
    known = judged(printed(75.4), measured({"a": 74.0, "b": 75.0, "c": 76.0}))
    expected = (
        "90 % interval of the mean of 3 sources: \N{MINUS SIGN}2.09 to +1.29; partly within half a point"
    )
    assert open_words(known) == expected


def test_labs_that_differ_are_named() -> None:
    runs = tuple(75.0 + 0.3 * sign for sign in (-1, 1)) * 10
    others = measured({"lab/a": 75.0, "lab/b": 77.0}, {"lab/a": runs, "lab/b": (77.0,)})
    pool = replace(others.independent, counts={"lab/a": 20, "lab/b": 1})
    known = judged(printed(77.0), replace(others, pools={**others.pools, "independent": pool}))
    assert open_words(known) == "lab/a and lab/b differ by more than seeds do"


def test_seeds_before_the_first_look_are_counted_and_later_ones_have_their_interval() -> None:
    few = judged(printed(75.0), nothing_known(), values=[74.0, 75.0, 76.0])
    assert open_words(few) == "3 seeds of the 5 of the first look"
    more = judged(printed(75.0), nothing_known(), values=[73.0, 74.0, 75.0, 76.0, 77.0])
    assert open_words(more).startswith("96.8 % interval of our mean: \N{MINUS SIGN}")
    assert open_words(more).endswith("partly within half a point")


def test_a_number_with_a_verdict_or_without_a_second_measurement_has_no_such_line() -> None:
    assert open_words(with_verdict(75.0, "others", "lower", "inside")) == ""
    assert open_words(judged(printed(75.0), nothing_known())) == ""


def test_the_interval_of_one_lab_is_of_its_runs() -> None:
    """Twenty runs of 74.4 and 74.6, against 75.0: their mean is half a point lower, or not."""
    runs = (74.4, 74.6) * 10
    others = measured({"lab/a": 74.5}, {"lab/a": runs})
    pool = replace(others.independent, counts={"lab/a": 20})
    known = judged(printed(75.0), replace(others, pools={**others.pools, "independent": pool}))
    assert open_words(known).startswith("90 % interval of the mean of 20 runs of one lab: \N{MINUS SIGN}0.5")
