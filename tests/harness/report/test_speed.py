"""Recorded speeds: which figures have a goal, and files that are refused."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.report.measurements import Measurements, goals, load_measurements, to_speed_section


def spread(median: float, low: float, high: float) -> dict[str, float]:
    return {"median": median, "low": low, "high": high}


def recorded() -> dict[str, Any]:
    """One machine that measured a benchmark once."""
    peer = {"name": "other tool", "cost": spread(30.0, 28.0, 33.0), "ratio": spread(1.5, 1.4, 1.6)}
    slow: dict[str, Any] = {
        "name": "a step", "unit": "ms", "ours": spread(20.0, 19.0, 22.0), "peers": [{**peer, "target": 2.0}],
        "limit": None, "agreement": "losses agree", "note": "padding takes a fifth.",
    }  # fmt: skip
    start = {**slow, "name": "a start", "peers": [], "limit": 0.3, "unit": "s", "ours": spread(0.2, 0.2, 0.2)}
    start["note"] = "warm <cache>"
    scale = {**slow, "name": "scale alone", "peers": [{**peer, "target": None}]}
    training = {
        "name": "training", "rounds": 5, "threads": 1, "python": "3.11", "versions": {"torch": "2.13"},
        "results": [slow, start, scale],
    }  # fmt: skip
    machine = {
        "id": "a-processor-2-cores", "processor": "a processor", "model": "", "cores": 2, "device": "cpu",
        "products": None, "benchmarks": [training],
    }  # fmt: skip
    return {"machines": [machine]}


def two_machines() -> dict[str, Any]:
    """The machine of `recorded`, and another whose ratio to the other tool is 2.5; it measured a step twice.

    It measured neither start nor scale.
    """
    value = recorded()
    other = deepcopy(value["machines"][0])
    other |= {"id": "other", "processor": "wide processor", "model": "family 6, model 1"}
    rates = {"threads": 2, "onednn": spread(402.0, 390.0, 410.0), "torch": spread(201.0, 190.0, 210.0)}
    other["products"] = rates
    (training,) = other["benchmarks"]
    slow, _, _ = training["results"]
    training["results"] = [slow]
    slow |= {"agreement": "", "note": "wide <units>"}
    slow["peers"][0] |= {"ratio": spread(2.5, 2.4, 2.6), "target": 1.75, "software": "other 1.0"}
    value["machines"].append(other)
    return value


def written(folder: Path, value: object) -> Path:
    path = folder / "benchmarks.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_a_file_of_another_form_is_refused_in_one_line(tmp_path: Path) -> None:
    value = recorded()
    del value["machines"][0]["benchmarks"][0]["results"][0]["ours"]
    with pytest.raises(InputError, match=r"benchmarks\.json: .*; .*python -m benchmarks"):
        load_measurements(written(tmp_path, value))


def test_goals_are_of_results_with_a_bound_and_a_share_of_a_peer_is_turned_over() -> None:
    """A ratio of at least 0.8 is at most 1.25 times the peer."""
    value = recorded()
    (training,) = value["machines"][0]["benchmarks"]
    slow = deepcopy(training["results"][0])
    slow["peers"] = [
        slow["peers"][0] | {"name": "products x 1.5", "target": 0.8, "ratio": spread(0.5, 0.5, 0.5)}
    ]
    training["results"].append(slow)
    actual = [
        (goal.name, goal.asked, *((value, goal.met(title)) for title, value in goal.figures.items()))
        for goal in goals(Measurements.model_validate_json(json.dumps(value)))
    ]
    assert actual == [
        ("a step: other tool", "at least 2", (1.5, False)),
        ("a start", "at most 0.3 s", (0.2, True)),
        ("a step: products", "at most 1.25", (2.0, False)),
    ]


def test_the_document_says_which_machine_met_a_goal_and_which_missed_it() -> None:
    """1.5 times where at least 2 were asked for is missed, 2.5 is met, as is 0.2 s of at most 0.3."""
    text = to_speed_section(Measurements.model_validate_json(json.dumps(two_machines())))
    rows = {line.split(" | ")[0].strip("| "): line for line in text.splitlines() if line.startswith("| ")}
    assert "| 1.5 **missed** |" in rows["a step: other tool"]
    assert "| 2.5 met |" in rows["a step: other tool"]
    assert "| 0.2 met | –" in rows["a start"]
