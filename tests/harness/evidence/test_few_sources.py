"""Verdicts by few independent sources: borrowed spreads, one source of many runs, and unstated counts."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from harness.evidence.judged import judge_number
from harness.evidence.ledger import Ledger
from harness.evidence.number_tests import AMONG_BORROWED, LEVEL, Origin, p_values_of_sources
from harness.evidence.others import others_of
from harness.evidence.published import Published
from harness.evidence.statistics import KnownSd
from harness.evidence.verdicts import Judgement, Sources, by_others
from harness.evidence.words import Verdict
from tests.harness.report.made_judged import judged, measured, printed

LENT = KnownSd(0.8, 50)
MEANS = {"a": 74.9, "b": 75.0, "c": 75.1}


def answer(reported: float, runs: dict[str, list[float]], borrowed: KnownSd | None = None) -> Judgement:
    means = {name: sum(values) / len(values) for name, values in runs.items()}
    counts = {name: len(values) for name, values in runs.items()}
    return by_others(
        Sources(means, counts, runs),
        reported,
        origin=Origin(),
        same_authors=False,
        searched=True,
        borrowed=borrowed,
    )


def test_few_sources_have_the_borrowed_spread_and_its_degrees_of_freedom() -> None:
    """Three single runs that agree, sd 0.1, and a number 3 above: all tests are by 0.8 and t(49)."""
    tests = p_values_of_sources(-3.0, 0.1, [1, 1, 1], origin=Origin(), borrowed=LENT)
    error = 0.8 / math.sqrt(3)
    assert tests.level_differs == pytest.approx(stats.t.sf(2.5 / error, 49))
    assert tests.same == pytest.approx(stats.t.sf((0.5 - 3.0) / error, 49))
    assert tests.replicates == pytest.approx(2 * stats.t.sf(3.0 / (0.8 * math.sqrt(4 / 3)), 49))


def test_a_wider_own_spread_counts_and_ten_sources_have_their_own_alone() -> None:
    wide = p_values_of_sources(-3.0, 2.0, [1, 1, 1], origin=Origin(), borrowed=LENT)
    assert wide.replicates == pytest.approx(2 * stats.t.sf(3.0 / (2.0 * math.sqrt(4 / 3)), 49))
    lent, own = (
        p_values_of_sources(-3.0, 0.1, [1] * 10, origin=Origin(), borrowed=known) for known in (LENT, None)
    )
    assert lent == own


def test_a_borrowed_spread_stands_in_for_an_unknown_spread_within_sources() -> None:
    """Means of fifty runs hide their spread: without single runs the draw is known only if it is borrowed."""
    kind = {"counts": [50, 50, 50], "origin": Origin()}
    assert np.isnan(p_values_of_sources(-3.0, 0.1, **kind).replicates)
    assert not np.isnan(p_values_of_sources(-3.0, 0.1, **kind, borrowed=LENT).replicates)


def test_the_interval_and_the_p_value_of_a_verdict_are_by_the_borrowed_spread() -> None:
    runs = {name: [mean] for name, mean in MEANS.items()}
    actual = answer(78.0, runs, LENT)
    reach = stats.t.ppf(0.95, 49) * 0.8 / math.sqrt(3)
    assert actual.interval == pytest.approx((-3.0 - reach, -3.0 + reach))
    draw = 2 * stats.t.sf(3.0 / (0.8 * math.sqrt(4 / 3)), 49)
    level = stats.t.sf(2.5 / (0.8 / math.sqrt(3)), 49)
    assert actual.p == pytest.approx(max(level, draw * LEVEL / AMONG_BORROWED))
    assert actual.verdict == Verdict("others", "lower", "outside")
    near = answer(75.0, runs, LENT)
    assert near.verdict.level == "not known", "three sources that happen to agree are no proof"
    assert answer(75.0, runs).verdict.level == "within half a point"


@pytest.mark.parametrize(("count", "level"), [(9, "not known"), (10, "lower")])
def test_a_source_of_ten_runs_judges_alone_where_fewer_than_three_sources_are_known(
    count: int, level: str
) -> None:
    values = [75.0 + 0.1 * (step % 3 - 1) for step in range(count)]
    actual = answer(78.0, {"a": values, "b": [90.0]})
    assert actual.verdict.level == level
    assert actual.source == ("a" if level == "lower" else "")
    if level == "lower":
        sd, mean = np.std(values, ddof=1), np.mean(values)
        reach = stats.t.ppf(0.95, count - 1) * sd / math.sqrt(count)
        assert actual.count == count
        assert actual.interval == pytest.approx((mean - 78 - reach, mean - 78 + reach))
        assert actual.verdict.draw == "outside"


def test_three_sources_are_heard_together_even_if_one_has_many_runs() -> None:
    actual = answer(78.0, {"a": [75.0, 75.2] * 10, "b": [75.0], "c": [75.3]})
    assert (actual.source, actual.count) == ("", 3)


def test_untrained_encoders_borrow_nothing(ledger: Ledger, published: Published) -> None:
    number = published.number("dclr/table1", "bert-mean@bert-base-uncased", "STSB")
    assert number is not None
    others = others_of(ledger, number)
    assert others.planned is not None
    assert others.borrowed is None
    assert judge_number(number, others).verdict == Verdict("others", "within half a point", "inside")


def test_a_number_without_a_stated_count_says_what_it_is_as_a_single_run() -> None:
    """2.3 above three sources of sd 0.8 borrowed: beyond single runs, within bests of ten on dev."""
    others = replace(measured(MEANS), planned=LENT)
    unstated = judged(printed(77.4, None), others, planned=LENT)
    assert (unstated.as_one_run, unstated.verdict.draw) == ("outside", "at the edge")
    assert judged(printed(77.4, 1), others, planned=LENT).as_one_run is None
    assert judged(printed(77.4, 1), others, planned=LENT).verdict.draw == "outside"


SEVEN = ("STS12", "STS13", "STS14", "STS15", "STS16", "STSB", "SICKR")


@pytest.mark.parametrize("column", [*SEVEN, "Avg"])
def test_every_number_of_simcse_with_three_sources_can_turn_red(
    column: str, ledger: Ledger, published: Published
) -> None:
    number = published.number("pcl/table2", "simcse@bert-base-uncased", column)
    assert number is not None
    others = others_of(ledger, number)
    assert len(others.independent.sources) >= 3
    far = judge_number(replace(number, value=number.value + 25), others)
    assert far.verdict.fails
