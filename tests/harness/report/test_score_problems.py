"""Doubles, gaps and leftovers among score files are named."""

from __future__ import annotations

from harness.report.score_problems import score_problems
from harness.results.schema import ResultFile

KEYS = ["simcse-1", "simcse-2", "simcse-3", "whitening-1"]
IDENTITIES = {key: f"i-{key}" for key in KEYS}


def test_a_complete_folder_has_no_problem(recorded_scores: list[ResultFile]) -> None:
    assert score_problems(recorded_scores, KEYS, IDENTITIES) == []


def test_missing_orphan_and_stale_runs_are_named(recorded_scores: list[ResultFile]) -> None:
    keys = [key for key in KEYS if key != "whitening-1"] + ["pcl-1"]
    found = score_problems(recorded_scores, keys, {**IDENTITIES, "simcse-2": "i-changed"})
    assert [line.split(":")[0] for line in found] == ["missing", "orphan", "stale"]
    assert "'pcl-1'" in found[0]
    assert "'whitening-1'" in found[1]
    assert "'simcse-2'" in found[2]
    assert "i-changed" in found[2]


def test_two_files_of_one_run_and_two_runs_of_one_seed_are_named(recorded_scores: list[ResultFile]) -> None:
    twice = score_problems([*recorded_scores, recorded_scores[0]], KEYS, IDENTITIES)
    assert twice == ["duplicate: run 'simcse-1' has 2 score files, expected one; delete the older"]
    renamed = recorded_scores[0].model_copy(
        update={"run": recorded_scores[0].run.model_copy(update={"key": "simcse-1b"})}
    )
    both = score_problems([*recorded_scores, renamed], [*KEYS, "simcse-1b"], {})
    assert len(both) == 1
    assert "simcse-1 and simcse-1b are all simcse@toy with seed 1" in both[0]


def test_a_run_without_a_known_identity_is_not_called_stale(recorded_scores: list[ResultFile]) -> None:
    assert score_problems(recorded_scores, KEYS, {}) == []
