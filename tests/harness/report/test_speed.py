"""The page of speed: what it says of a target met, missed or absent, and files that are refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.report.pages import speed
from harness.report.pages.content import Paper, Report
from harness.report.pages.speed import Measurements, load_measurements, plain, speed_values
from tests.harness.report.shown import show


def spread(median: float, low: float, high: float) -> dict[str, float]:
    return {"median": median, "low": low, "high": high}


def recorded() -> dict[str, Any]:
    peer = {
        "name": "other tool",
        "cost": spread(30.0, 28.0, 33.0),
        "ratio": spread(1.5, 1.4, 1.6),
        "target": 2.0,
    }
    slow: dict[str, Any] = {
        "name": "a step", "unit": "ms", "ours": spread(20.0, 19.0, 22.0), "peers": [peer], "limit": None,
        "agreement": "losses agree", "note": "", "gemm": spread(180.0, 170.0, 190.0), "met": False,
    }  # fmt: skip
    start = {**slow, "name": "a start", "peers": [], "limit": 0.3, "unit": "s", "ours": spread(0.2, 0.2, 0.2)}
    start |= {"met": True, "gemm": None, "note": "warm <cache>"}
    scale = {**slow, "name": "scale alone", "peers": [{**peer, "target": None}], "met": None}
    machine = {
        "processor": "a processor", "cores": 2, "device": "cpu", "precision": "fp32",
        "python": "3.11", "versions": {"torch": "2.13"},
    }  # fmt: skip
    steps = {"name": "steps", "rounds": 5, "threads": 1, "results": [slow, start, scale]}
    return {"machine": machine, "benchmarks": [steps]}


def written(folder: Path, value: object) -> Path:
    path = folder / "benchmarks.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def page(folder: Path) -> str:
    measured = load_measurements(written(folder, recorded()))
    assert measured is not None
    return show(speed.PAGE, Report("sentbench", "c0ffee"), speed_values(measured))


def test_the_page_shows_cost_ratio_target_and_finding_of_every_result(tmp_path: Path) -> None:
    text = page(tmp_path)
    words = " ".join(re.sub(r"<[^>]+>", " ", text).split())
    for said in (
        "20 ms (19 to 22)",
        "1.5 (1.4 to 1.6)",
        "at least 2",
        "0.2 s",
        "at most 0.3 s",
        "Results: losses agree.",
    ):
        assert said in words
    assert text.count(">not met<") == 2  # the step and its peer
    assert text.count(">met<") == 1
    assert "1 met" in text
    assert "1 not met" in text
    assert "5 rounds, 1 thread<" in text


def test_a_missed_target_is_explained_by_its_note_which_a_met_one_only_adds(tmp_path: Path) -> None:
    value = recorded()
    value["benchmarks"][0]["results"][0]["note"] = "padding takes a fifth."
    measured = load_measurements(written(tmp_path, value))
    assert measured is not None
    text = show(speed.PAGE, Report("sentbench", "c0ffee"), speed_values(measured))
    assert "<b>Why not met:</b> padding takes a fifth.</span>" in text
    assert text.count("Why not met") == 1
    assert "<span>warm &lt;cache&gt;.</span>" in text


def test_words_from_the_file_are_escaped_and_nothing_is_fetched(tmp_path: Path) -> None:
    text = page(tmp_path)
    assert "warm &lt;cache&gt;" in text
    assert "http" not in text.replace("http-equiv", "")


def test_a_benchmark_of_a_paper_has_the_papers_name_at_its_head() -> None:
    value = recorded()
    value["benchmarks"] = [{**value["benchmarks"][0], "name": name} for name in ("ptbert", "start")]
    measured = Measurements.model_validate_json(json.dumps(value))
    papers = [Paper("ptbert", "Pseudo tokens", "nowhere", (), short="PT-BERT")]
    assert speed_values(measured, papers)["titles"] == {"ptbert": "PT-BERT", "start": "Start"}


def test_no_file_is_no_page(tmp_path: Path) -> None:
    assert load_measurements(tmp_path / "benchmarks.json") is None


@pytest.mark.parametrize("damage", ["extra", "missing", "text"])
def test_a_file_of_another_form_is_refused_in_one_line(tmp_path: Path, damage: str) -> None:
    value = recorded()
    if damage == "extra":
        value["machine"]["colour"] = "grey"
    elif damage == "missing":
        del value["benchmarks"][0]["results"][0]["ours"]
    path = written(tmp_path, value)
    if damage == "text":
        path.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"benchmarks\.json: .*; .*python -m benchmarks") as told:
        load_measurements(path)
    assert "\n" not in str(told.value)


def test_results_without_targets_are_not_counted() -> None:
    assert Measurements.model_validate_json(json.dumps(recorded())).counts == {"met": 1, "not met": 1}


@pytest.mark.parametrize(
    ("number", "told"), [(0.0, "0"), (0.01234, "0.0123"), (12.34, "12.3"), (1234.5, "1234")]
)
def test_numbers_have_three_digits_and_no_exponent(number: float, told: str) -> None:
    assert plain(number) == told
