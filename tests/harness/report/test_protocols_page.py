"""The protocols: the scores of each protocol, and missing ones."""

import pytest

from harness.evidence.schema import ResultFile
from harness.report.pages import small
from harness.report.pages.content import Report
from harness.report.pages.protocols import ProtocolRow, Reading, protocol_values
from tests.harness.report.made_results import result
from tests.harness.report.shown import show


def joined(task: str, everything: float, mean: float, weighted: float) -> dict[tuple[str, str], float]:
    return {(task, "all"): everything, (task, "mean"): mean, (task, "wmean"): weighted}


def rows_of(*results: ResultFile) -> list[ProtocolRow]:
    return list(protocol_values(Report("T", "abc", results=results))["rows"])


def test_ways_to_join_subsets_are_means_over_the_tasks_that_have_subsets() -> None:
    """STS12 0.50 / 0.60 / 0.70 and STS14 0.30 / 0.20 / 0.10; STS13 has no subsets and does not count."""
    scores = {**joined("STS12", 0.5, 0.6, 0.7), **joined("STS14", 0.3, 0.2, 0.1), ("STS13", "all"): 0.9}
    (row,) = rows_of(result("a", 0, scores))
    assert {key: actual.mean for key, actual in row.readings.items()} == pytest.approx(
        {"spearman/all": 40.0, "spearman/mean": 40.0, "spearman/wmean": 40.0}
    )
    assert row.range == pytest.approx(0.0)


def test_readings_are_over_seeds() -> None:
    """0.50 and 0.54: mean 52, sample standard deviation sqrt(8) = 2.8284."""
    results = [result("a", seed, {("SICKR", "all"): value}) for seed, value in ((0, 0.50), (1, 0.54))]
    (row,) = rows_of(*results)
    assert row.readings == {"SICKR": pytest.approx(Reading(52.0, 8**0.5))}


def test_a_seed_that_lacks_one_of_the_tasks_does_not_count() -> None:
    whole = {**joined("STS12", 0.5, 0.6, 0.7), **joined("STS14", 0.3, 0.2, 0.1)}
    (row,) = rows_of(result("a", 0, whole), result("a", 1, joined("STS12", 0.9, 0.9, 0.9)))
    assert row.readings["spearman/mean"] == pytest.approx(Reading(40.0, None))


def test_poolings_of_one_backbone_are_grouped_and_a_single_pooling_is_left_out() -> None:
    def pooled(variant: str, backbone: str) -> ResultFile:
        scores = {("STSB", "all"): 0.5}
        return result(f"pooled-{variant}", 0, scores, method="pooled", variant=variant, backbone=backbone)

    results = (pooled("cls", "b"), pooled("mean", "b"), pooled("teacher", "c"))
    report = Report("T", "abc", results=results)
    poolings = protocol_values(report)["poolings"]
    assert {backbone: list(actual) for backbone, actual in poolings.items()} == {"b": ["cls", "mean"]}
    (page, *_) = small.pages(report)
    values = {
        **small.table_values(report, "small"),
        **protocol_values(report),
        "figures": [],
    }
    assert "b, untrained, by pooling" in show(page, report, {**values, "figures": []})
