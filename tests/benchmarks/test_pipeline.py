"""The plan that the pipeline's benchmark repeats, and what it says when a command of it fails."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.measurement import Disagreement
from benchmarks.pipeline import repeated
from benchmarks.processes import output_of

SHARED: dict[str, Any] = {"backbone": "backbones/x", "parent": "backbones/x"}
RUNS = {"first": SHARED, "second": {**SHARED, "parent": "artefacts/first"}, "third": SHARED}


def test_each_copy_trains_from_runs_of_its_own() -> None:
    """Seven of three: two whole copies and one run more; each `second` has the `first` of its own copy."""
    planned = repeated(RUNS, 7)
    assert list(planned) == ["first-0", "second-0", "third-0", "first-1", "second-1", "third-1", "first-2"]
    assert planned["second-1"]["parent"] == "artefacts/first-1"
    assert planned["second-1"]["backbone"] == "backbones/x"


def test_a_run_without_its_parent_is_left_out() -> None:
    assert list(repeated({"second": RUNS["second"], "third": SHARED}, 2)) == ["third-0"]


def test_a_command_that_fails_is_told_with_all_it_wrote() -> None:
    words = "the cause\n" + "detail " * 100
    with pytest.raises(Disagreement) as told:
        output_of([sys.executable, "-c", f"import sys; sys.exit({words!r})"], Path())
    assert words.strip() in str(told.value)
    assert "ended with 1" in str(told.value)
