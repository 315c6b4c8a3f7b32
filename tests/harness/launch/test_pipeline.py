"""What a launch knows of DVC: release, locks, when dvc.lock is written, in which order stages begin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import dvc
import pytest

from harness.errors import InputError
from harness.launch import pipeline
from harness.launch.pipeline import CHANGED, check_release, open_pipeline
from harness.launch.scheduler import priorities
from tests.harness.launch.toy_pipeline import stage, write_pipeline


def test_another_release_of_dvc_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dvc, "__version__", "3.70.0")
    with pytest.raises(InputError, match=r"DVC is 3\.70\.0, launch uses internals of DVC 3\.67"):
        check_release()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["launch", "no-such-stage"], "no-such-stage"),
        (["launch", "--jobs", "-1"], "--jobs -1: expected at least 1"),
        (["launch", "--retries", "-1"], "--retries -1: expected at least 0"),
    ],
)
def test_bad_input_is_one_line_and_runs_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    refused: Callable[..., str],
    words: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(write_pipeline(tmp_path / "toy", {"a": stage("a")}))
    assert message in refused(*words)
    assert not Path("a.txt").exists()


def test_a_folder_without_dvc_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused("launch")


def test_dvc_lock_is_written_now_and_then_and_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(pipeline.time, "monotonic", lambda: now[0])
    monkeypatch.chdir(write_pipeline(tmp_path / "toy", {name: stage(name) for name in "abc"}))
    lock = Path("dvc.lock")
    with open_pipeline() as opened:
        for name in "ab":
            assert opened.begin(name) == CHANGED
            Path(f"{name}.txt").write_text("made\n")
            opened.finish(name)
            opened.dump(at_once=False)
            assert lock.exists() is (name == "b")
            now[0] += pipeline.PERIOD + 1
        assert opened.begin("c") == CHANGED
        Path("c.txt").write_text("made\n")
        opened.finish("c")
        assert "c:" not in lock.read_text()
    assert "c:" in lock.read_text()


def test_stages_with_the_longest_chain_behind_them_begin_first() -> None:
    """a is needed by b, that by c; d by nothing: a before d, though d is first in order."""
    ranks = priorities({"d": set(), "a": set(), "b": {"a"}, "c": {"b"}})
    assert sorted(ranks, key=ranks.__getitem__) == ["a", "b", "d", "c"]
