"""The outcomes of a launch in words."""

from types import SimpleNamespace
from typing import Any

from harness.launch.scheduler import Scheduler


def test_the_summary_counts_the_finished_stages_by_outcome() -> None:
    pipeline: Any = SimpleNamespace(order={name: set() for name in "abcde"})
    executor: Any = SimpleNamespace()
    states = {"a": "unchanged", "b": "done", "c": "failed", "d": "done"}
    scheduler = Scheduler(pipeline, executor, 0, states=states)
    assert scheduler.summary == "4 of 5 stages, 2 done, 1 unchanged, 1 failed"
    assert scheduler.skipped == ["e"]
