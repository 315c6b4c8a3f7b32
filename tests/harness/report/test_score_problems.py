"""Gaps and leftovers among score files are named."""

from types import SimpleNamespace
from typing import Any

import pytest

from harness.evidence.schema import ResultFile
from harness.stages.report import further_problems, score_problems

KEYS = ["simcse-1", "simcse-2", "simcse-3", "whitening-1"]
IDENTITIES = {key: f"i-{key}" for key in KEYS}


def plan(*keys: str, further: str = "") -> Any:
    """A plan with these runs, of which one is a further seed."""
    runs = {key: SimpleNamespace(is_first=key != further) for key in keys}
    return SimpleNamespace(runs=runs)


def test_missing_orphan_and_stale_runs_are_named(recorded_scores: list[ResultFile]) -> None:
    keys = [key for key in KEYS if key != "whitening-1"] + ["pcl-1"]
    actual = score_problems(recorded_scores, plan(*keys), {**IDENTITIES, "simcse-2": "i-changed"})
    assert [line.split(":")[0] for line in actual] == ["missing", "orphan", "stale"]
    assert "'pcl-1'" in actual[0]
    assert "'whitening-1'" in actual[1]
    assert "'simcse-2'" in actual[2]
    assert "i-changed" in actual[2]


@pytest.mark.parametrize("identities", [IDENTITIES, {}])
def test_a_complete_folder_has_no_problem_where_identities_agree_or_are_not_known(
    identities: dict[str, str], recorded_scores: list[ResultFile]
) -> None:
    assert score_problems(recorded_scores, plan(*KEYS), identities) == []
    assert score_problems(recorded_scores, plan(*KEYS, "pcl-1", further="pcl-1"), identities) == []


def test_further_seeds_that_are_left_out_or_never_trained_are_named() -> None:
    params: Any = SimpleNamespace(further={"a__x": [3, 4], "b__x": [3]})
    assert further_problems(params, {"a__x__s3", "a__x__s4", "b__x__s3"}, []) == []
    (missing,) = further_problems(params, {"a__x__s3", "b__x__s3"}, [])
    assert missing.startswith("missing: the further seeds of a__x have no scores")
    (left_out,) = further_problems(params, {"a__x__s3", "a__x__s4"}, ["b__x", "gone__x"])
    assert left_out.startswith("left out: the further seeds of b__x")
