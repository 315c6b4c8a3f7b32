"""Independent evidence on a reported number: separate kinds, each source once, no reported value."""

import math
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from harness.evidence import statistics
from harness.evidence.draws import percentile
from harness.evidence.ledger import Ledger
from harness.evidence.others import (
    Others,
    known_sd,
    nothing_known,
    others_of,
    pool_of,
)
from harness.evidence.published import Published
from harness.evidence.statistics import KnownSd
from harness.evidence.studies import Study, runs_of
from tests.harness.report.conftest import NO_STUDIES

ROOT = Path(__file__).parents[3]


def known(
    ledger: Ledger, published: Published, table: str, row: str, column: str = "Avg"
) -> tuple[float, Others]:
    """Returns a reported value and its independent evidence."""
    number = published.number(table, row, column)
    assert number is not None
    return number.value, others_of(ledger, number)


@pytest.mark.parametrize(
    ("table", "row", "value"),
    [
        ("pcl/table2", "simcse@bert-base-uncased", 76.25),
        ("una/table2", "una@bert-base-uncased", 76.14),
    ],
)
def test_a_number_is_off_by_half_a_digit_at_most_in_points_on_either_scale(
    table: str, row: str, value: float, published: Published
) -> None:
    """Printed as 76.25 and as 0.7614: half a hundredth of a point both times."""
    number = published.number(table, row, "Avg")
    assert number is not None
    assert (number.value, number.rounding) == (value, pytest.approx(0.005))


def test_the_summary_of_the_collection_comes_out(ledger: Ledger, published: Published) -> None:
    """Numbers of runs and sources, their medians, and the share of runs below the reported value."""
    for table, row, column, runs, middle, share, sources, middle_of_sources in (
        ("sct/table2", "simcse@bert-large-uncased", "Avg", 51, 75.56, 100, 2, 75.90),
        ("ptbert/table4", "simcse@bert-base-uncased", "STSB-dev", 59, 81.46, 88, 8, 81.735),
    ):
        reported, others = known(ledger, published, table, row, column)
        actual = others.independent
        assert (len(actual.values), len(actual.sources)) == (runs, sources)
        assert median(actual.values) == pytest.approx(middle, abs=0.0051)
        assert actual.median == pytest.approx(middle_of_sources, abs=0.0055)
        below = percentile([[run] for run in actual.values], reported)
        assert 100 * below.value == pytest.approx(share, abs=0.51)


def test_authors_of_a_competing_method_count_and_are_marked(ledger: Ledger, published: Published) -> None:
    _, others = known(ledger, published, "pcl/table2", "simcse@bert-base-uncased")
    assert set(others.independent.competitors) == {"pcl", "dclr"} < set(others.independent.sources)
    marked = {study.source for studies in others.independent.competitors.values() for study in studies}
    assert marked == {"arxiv:2201.12093", "arxiv:2205.00656"}


def test_the_kinds_are_disjoint_and_lose_no_study(ledger: Ledger, published: Published) -> None:
    """Of SimCSE on BERT-base: 14 independent studies of the average, 2 checkpoints, 4 other recipes."""
    _, others = known(ledger, published, "pcl/table2", "simcse@bert-base-uncased")
    counts = {kind: len(actual.studies) for kind, actual in others.pools.items()}
    assert counts == {"independent": 14, "same authors": 0, "checkpoint": 2, "other recipe": 4}
    all_of_them = [study for study in ledger.of("simcse@bert-base-uncased") if "Avg" in study.scores]
    assert sum(counts.values()) + len(others.uncounted) == len(all_of_them)
    reasons = {
        study.doubt != "" or study.repeats != [] or study.settings.sick_r_pairs == 9927
        for study in others.uncounted
    }
    assert reasons == {True}


def test_a_score_over_another_sick_r_counts_for_the_other_test_sets_alone(
    ledger: Ledger, published: Published
) -> None:
    """JaanviJain's 77.04 is a mean with SICK-R over 9,927 pairs; the same run has a score of STS12."""
    actual = {
        column: known(ledger, published, "pcl/table2", "simcse@bert-base-uncased", column)[1]
        for column in ("STS12", "SICKR", "Avg")
    }
    source = "JaanviJain/NLP_Research_Paper_SimCSE"
    counted = {column: source in others.independent.sources for column, others in actual.items()}
    assert counted == {"STS12": True, "SICKR": False, "Avg": False}
    for column in ("SICKR", "Avg"):
        assert source in {study.source for study in actual[column].uncounted}
    (study, *_) = (entry for entry in actual["Avg"].uncounted if entry.source == source)
    assert study.not_counted_in("Avg") == "SICK-R of 9,927 pairs"
    assert study.not_counted == study.not_counted_in("STS12") == ""


def test_independence_is_relative_to_who_reported(ledger: Ledger, published: Published) -> None:
    """DCLR's own run is independent of the cited 76.25 and not of what DCLR prints."""
    _, cited = known(ledger, published, "pcl/table2", "simcse@bert-base-uncased")
    _, others_of_dclr = known(ledger, published, "dclr/table1", "simcse@bert-base-uncased")
    assert cited.independent.runs["dclr"] == (74.99,)
    assert "dclr" not in others_of_dclr.independent.runs


def test_a_second_measurement_by_its_authors_is_not_independent(ledger: Ledger, published: Published) -> None:
    """PCL prints 78.14 as a mean of five and 78.42 as a single run: each repeats the other."""
    _, others = known(ledger, published, "pcl/table2", "pcl@bert-base-uncased")
    assert [study.scores["Avg"] for study in others.pools["same authors"].studies] == [78.42]
    assert "pcl" not in others.independent.sources


def test_a_reported_value_is_not_evidence_for_itself(ledger: Ledger, published: Published) -> None:
    """DCLR prints 74.99 for SimCSE: one source of the cited number, and no source of this cell."""
    reported, others = known(ledger, published, "dclr/table1", "simcse@bert-base-uncased")
    assert reported == 74.99
    assert 74.99 not in [value for actual in others.pools.values() for value in actual.values]
    _, una = known(ledger, published, "una/table2", "una@bert-base-uncased")
    assert not una.pools["same authors"].studies


def test_an_average_of_other_sets_is_another_quantity(ledger: Ledger, published: Published) -> None:
    """PCL's fourth table is of accuracies, and PT-BERT's average is of five sets."""
    for table, measurable in (("pcl/table2", True), ("pcl/table4", False), ("ptbert/table5c", False)):
        row = published.table(table).rows[-1].key
        number = published.number(table, row, "Avg")
        assert number is not None
        assert number.measurable == measurable
        assert measurable or others_of(ledger, number).pools == nothing_known().pools


def test_a_source_counts_once_by_the_mean_over_its_runs() -> None:
    """x/y: 70 and 72 and a mean of 75 over four: (142 + 300) / 6 = 73.667. x/z: the middle of its range."""
    scores: list[tuple[str, object]] = [
        ("x/y", [70.0, 72.0]),
        ("x/y", {"mean": 75.0, "n": 4}),
        ("x/z", {"low": 70.0, "high": 71.0}),
        ("x/w", {"sd": 0.3, "n": 3}),
    ]
    common = {"system": "a@b", "kind": "re-run"}
    studies = [Study.model_validate({**common, "source": name, "scores": {"Avg": n}}) for name, n in scores]
    actual = pool_of(replace(NO_STUDIES, studies=tuple(studies)), studies, "Avg")
    assert actual.sources == pytest.approx({"x/y": 442 / 6, "x/z": 70.5})
    assert actual.values == (70.0, 72.0)


def test_the_standard_deviation_is_from_the_largest_study_of_ten_seeds_or_more(ledger: Ledger) -> None:
    """Fifty seeds of BERT-base have an sd of 0.844, those of RoBERTa-base 0.213."""
    fifty = known_sd(ledger, "simcse@bert-base-uncased", "Avg")
    ten = known_sd(ledger, "una/paraphrase-pegasus@bert-base-uncased", "Avg")
    assert fifty == KnownSd(pytest.approx(0.8443, abs=1e-4), 50)
    assert ten == KnownSd(pytest.approx(0.3824, abs=1e-4), 10)
    assert known_sd(ledger, "simcse@roberta-base", "Avg") == KnownSd(pytest.approx(0.2132, abs=1e-4), 50)
    assert known_sd(ledger, "diffcse@bert-base-uncased", "Avg") is None


def best_of(values: list[float], dev: list[float], k: int) -> float:
    """Returns the expected score of the best on dev of k seeds: exact over all subsets of k.

    The seed with the r-th best dev score (r = 0, 1, ...) is picked in C(n - 1 - r, k - 1) of C(n, k) subsets.
    """
    ranked = [value for _, value in sorted(zip(dev, values, strict=True), reverse=True)]
    n = len(ranked)
    chances = [math.comb(n - 1 - rank, k - 1) / math.comb(n, k) for rank in range(n)]
    return math.fsum(chance * value for chance, value in zip(chances, ranked, strict=True))


def test_the_docs_state_the_ledgers_effect_of_choosing_a_seed_on_dev(ledger: Ledger) -> None:
    text = " ".join((ROOT / "docs/verdicts.md").read_text(encoding="utf-8").split())
    gains = []
    for count in (5, 10):
        for backbone in ("bert-base-uncased", "bert-large-uncased"):
            studies = {actual.source: actual for actual in ledger.of(f"simcse@{backbone}")}
            scores = studies["hppRC/simple-simcse"].scores
            test, dev = runs_of(scores["Avg"]), runs_of(scores["STSB-dev"])
            assert len(test) == len(dev) == 50
            gains.append(f"{best_of(test, dev, count) - statistics.mean(test):.2f}")
    assert (
        "the best of 5 on dev is expected {} points above the mean on BERT-base and {} on "
        "BERT-large, the best of 10 {} and {}."
    ).format(*gains) in text
