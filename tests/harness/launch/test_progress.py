"""The line of a launch: what it counts, and the time that it says is left."""

from __future__ import annotations

import io
import time
from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.commands import launch
from harness.launch.progress import PERIOD, Progress, duration
from harness.plan.entries import Params, read_params
from tests.harness.launch.toy_pipeline import ROOT


class Clock:
    """The time of a launch of fake stages."""

    def __init__(self) -> None:
        self.now = 100.0

    def run(self, progress: Progress, stage: str, seconds: float) -> None:
        """Runs a stage alone."""
        progress.start(stage)
        self.now += seconds
        progress.end(stage, "done")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "monotonic", lambda: made.now)
    return made


def trainings(number: int) -> dict[str, set[str]]:
    return {f"train@{key}": set() for key in "abcdefghijkl"[:number]}


def test_the_time_left_is_the_work_at_the_mean_of_its_kind_over_the_slots(clock: Clock) -> None:
    """Two of six trainings took 10 and 30 s, four are left on 2 slots: 40 s; one has run 10 s: 35 s."""
    progress = Progress(trainings(6), slots=2, stream=io.StringIO())
    assert progress.seconds_left() is None
    progress.start("train@a")
    progress.start("train@b")
    clock.now += 10
    progress.end("train@a", "done")
    clock.now += 20
    progress.end("train@b", "done")
    assert progress.seconds_left() == 40
    progress.start("train@c")
    clock.now += 10
    assert progress.seconds_left() == 35
    assert progress.line() == "2 of 6 stages, 2 done, 1 running, about 35 s left"
    assert [duration(seconds) for seconds in (40, 720, 12600)] == ["40 s", "12 min", "3.5 h"]


def test_another_seed_of_the_system_is_the_best_guess(clock: Clock) -> None:
    order: dict[str, set[str]] = {
        f"train@{key}__s{seed}": set() for key in ("quick", "slow") for seed in (0, 1)
    }
    progress = Progress(order, slots=1, stream=io.StringIO())
    clock.run(progress, "train@quick__s0", 1)
    clock.run(progress, "train@slow__s0", 99)
    clock.run(progress, "train@quick__s1", 1)
    assert progress.seconds_left() == 99


def test_a_guess_is_corrected_by_what_was_measured_of_its_kind(clock: Clock) -> None:
    """Twelve trainings were guessed at 10 s, nine of them take 20 s: so will the other three."""
    guesses = {**dict.fromkeys(trainings(12), 10.0), "report": 5.0}
    progress = Progress({**trainings(12), "report": set()}, 1, io.StringIO(), guesses)
    assert progress.seconds_left() == 125
    for stage in list(trainings(12))[:9]:
        clock.run(progress, stage, 20)
    assert progress.seconds_left() == 3 * 20 + 5


def test_the_time_left_is_not_less_than_the_longest_chain(clock: Clock) -> None:
    order = {"a": set(), "b": {"a"}, "c": {"b"}, "d": set()}
    progress = Progress(order, 8, io.StringIO(), {"a": 10.0, "b": 10.0, "c": 10.0, "d": 12.0})
    assert progress.seconds_left() == 30
    clock.run(progress, "a", 10)
    assert progress.seconds_left() == 20


def test_a_stage_that_takes_longer_than_expected_does_not_make_the_time_negative(clock: Clock) -> None:
    progress = Progress(trainings(1), 1, io.StringIO(), {"train@a": 5.0})
    progress.start("train@a")
    clock.now += 50
    assert progress.line() == "0 of 1 stages, 1 running, about 0 s left"


def test_no_time_is_said_while_nothing_has_run_or_a_stage_has_no_guess(clock: Clock) -> None:
    progress = Progress({**trainings(2), "report": set()}, 1, io.StringIO(), {"train@b": 5.0, "report": 5.0})
    progress.end("train@a", "unchanged")
    assert progress.line() == "1 of 3 stages, 1 unchanged"
    progress.start("train@b")
    assert progress.line() == "1 of 3 stages, 1 unchanged, 1 running, about 10 s left"
    progress.guesses = {}
    assert progress.line() == "1 of 3 stages, 1 unchanged, 1 running"


def test_without_a_terminal_there_is_a_line_at_once_then_one_a_period_and_one_at_the_end(
    clock: Clock,
) -> None:
    stream = io.StringIO()
    progress = Progress(trainings(2), 1, stream)
    for _ in range(int(4 * PERIOD)):
        progress.show()
        clock.now += 0.5
    assert stream.getvalue() == "0 of 2 stages\n" * 2
    progress.end("train@a", "failed")
    progress.show(last=True)
    assert stream.getvalue().splitlines()[2:] == ["1 of 2 stages, 1 failed"]
    assert "\r" not in stream.getvalue()


def test_on_a_terminal_the_line_stays_one_line_and_a_text_stands_above_it(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "12")
    stream = Terminal()
    progress = Progress(trainings(2), 1, stream)
    progress.show()
    progress.say("first results")
    progress.show(last=True)
    assert stream.getvalue() == "0 of 2 stag\r" + "\r" + " " * 11 + "\r" + "0 of 2 stag\n"
    assert capsys.readouterr().out == "first results\n"


@pytest.fixture
def params() -> Params:
    with chdir(ROOT):
        return read_params()


def test_stages_of_the_small_plan_have_typical_times_until_a_record_says_better(
    params: Params, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, untrained = "simcse-small__words-50d__s0", "pooled-cls-small__minilm-l2__s0"
    stages = [f"train@{key}", f"train@{untrained}", f"evaluate@{key}", "entries", "report"]
    pipeline: Any = SimpleNamespace(order=stages)
    (tmp_path / "reports/costs").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert list(launch.guesses(pipeline, params).values()) == [14.0, 3.0, 6.0, 1.0, 15.0]
    Path(f"reports/costs/{key}.train.json").write_text('{"train_seconds": 99.5}')
    Path(f"reports/costs/{key}.evaluate.json").write_text("cut sh")
    assert list(launch.guesses(pipeline, params).values()) == [99.5, 3.0, 6.0, 1.0, 15.0]
    other = params.model_copy(update={"plan": ["pcl"]})
    assert launch.guesses(pipeline, other) == {f"train@{key}": 99.5}
