"""What stops the comparison of a launch with `dvc repro`."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.commands import LAUNCHES, agreed, running
from benchmarks.runner import Disagreement


def test_locks_that_differ_in_one_byte_stop_the_benchmark(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.lock", tmp_path / "theirs.lock"
    ours.write_bytes(b"stages: {}\n")
    theirs.write_bytes(b"stages: {}\n")
    assert "byte by byte" in agreed(ours, theirs)
    theirs.write_bytes(b"stages: {} ")
    with pytest.raises(Disagreement, match="differ"):
        agreed(ours, theirs)


def test_both_sides_of_a_launch_give_a_training_one_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert list(LAUNCHES) == ["launch", "dvc repro, one thread"]
    assert running(["printenv", "OMP_NUM_THREADS"], tmp_path)() == "1\n"
