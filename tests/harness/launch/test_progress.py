"""The progress line of a launch: counts and remaining time."""

import io
import time
from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.commands import launch
from harness.launch.progress import PERIOD, QUICK, Progress, counted_parts, duration
from harness.plan.params_file import read_params
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
    assert progress.line() == "0 of 6 stages"
    progress.start("train@a")
    progress.start("train@b")
    clock.now += 10
    progress.end("train@a", "done")
    clock.now += 20
    progress.end("train@b", "done")
    assert progress.seconds_left() == 40
    progress.start("train@c")
    clock.now += 10
    assert progress.line() == "2 of 6 stages, 2 done, 1 running, about 35 s left"


def test_another_seed_of_the_system_is_the_best_guess(clock: Clock) -> None:
    keys = [f"train@{key}__s{seed}" for key in ("quick", "slow") for seed in (0, 1)]
    progress = Progress({key: set() for key in keys}, slots=1, stream=io.StringIO())
    for key, seconds in zip(keys[:3], (1, 1, 99), strict=True):
        clock.run(progress, key, seconds)
    assert progress.seconds_left() == 99


def test_the_time_left_is_a_bound_if_stages_were_unchanged(clock: Clock) -> None:
    """One stage took 10 s, one was unchanged: the two left take 20 s, or less if they are unchanged too."""
    progress = Progress(trainings(4), slots=1, stream=io.StringIO())
    clock.run(progress, "train@a", 10)
    assert progress.line() == "1 of 4 stages, 1 done, about 30 s left"
    progress.end("train@b", "unchanged")
    assert progress.line() == "2 of 4 stages, 1 done, 1 unchanged, at most 20 s left"


def test_an_estimate_is_corrected_by_measurements_of_its_kind(clock: Clock) -> None:
    """Twelve trainings were guessed at 10 s, nine of them take 20 s: so will the other three."""
    guesses = {**dict.fromkeys(trainings(12), 10.0), "report": 5.0}
    progress = Progress({**trainings(12), "report": set()}, 1, io.StringIO(), guesses)
    assert progress.seconds_left() == 125
    for stage in list(trainings(12))[:9]:
        clock.run(progress, stage, 20)
    assert progress.seconds_left() == 3 * 20 + 5


def test_the_time_left_is_at_least_the_longest_chain_and_never_negative(clock: Clock) -> None:
    order = {"a": set(), "b": {"a"}, "c": {"b"}, "d": set()}
    progress = Progress(order, 8, io.StringIO(), {"a": 10.0, "b": 10.0, "c": 10.0, "d": 12.0})
    assert progress.seconds_left() == 30
    clock.run(progress, "a", 10)
    assert progress.seconds_left() == 20
    clock.run(progress, "b", 10)
    clock.run(progress, "d", 12)
    progress.start("c")
    clock.now += 50
    assert progress.seconds_left() == 0


def test_without_a_terminal_there_is_a_line_at_the_first_stage_then_one_a_period_and_one_at_the_end(
    clock: Clock,
) -> None:
    stream = io.StringIO()
    progress = Progress(trainings(2), 1, stream)
    progress.show()
    assert stream.getvalue() == ""
    progress.start("train@a")
    for _ in range(int(4 * PERIOD)):
        progress.show()
        clock.now += 0.5
    progress.end("train@a", "failed")
    progress.show(last=True)
    assert stream.getvalue() == "0 of 2 stages, 1 running\n" * 2 + "1 of 2 stages, 1 failed\n"


def test_a_launch_that_runs_nothing_states_its_stages_once(clock: Clock) -> None:
    stream = io.StringIO()
    progress = Progress(trainings(2), 1, stream)
    for stage in trainings(2):
        progress.end(stage, "unchanged")
        progress.show()
    progress.show(last=True)
    assert stream.getvalue() == "2 of 2 stages, 2 unchanged\n"


def test_the_last_line_is_not_printed_a_second_time(clock: Clock) -> None:
    """The only stage ends after a period, so the line of that period already is the last one."""
    stream = io.StringIO()
    progress = Progress(trainings(1), 1, stream)
    progress.start("train@a")
    progress.show()
    clock.now += PERIOD
    progress.end("train@a", "done")
    progress.show()
    progress.show(last=True)
    assert stream.getvalue() == "0 of 1 stages, 1 running\n1 of 1 stages, 1 done\n"


def test_parts_of_a_command_have_a_line_with_the_time_left_unless_all_are_quick(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four parts on two slots end at 0, 3, 3 and 40 s. At 3 s a part takes 1.5 s on average, and d begins."""
    ended = counted_parts(["a", "b"], "runs")
    ended("a")
    clock.now += QUICK / 2
    ended("b")
    assert capsys.readouterr().err == ""
    ended = counted_parts(["a", "b", "c", "d"], "runs", slots=2)
    for part, seconds in {"a": 0.0, "b": QUICK, "c": 0.0, "d": 37.0}.items():
        clock.now += seconds
        ended(part)
    assert capsys.readouterr().err.splitlines() == [
        "2 of 4 runs, 2 done, 2 running, about 2 s left",
        "4 of 4 runs, 4 done",
    ]


def test_on_a_terminal_the_line_stays_one_line(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "12")
    stream = Terminal()
    progress = Progress(trainings(2), 1, stream)
    progress.show()
    progress.show(last=True)
    assert stream.getvalue() == "0 of 2 stag\r" + "0 of 2 stag\n"


def test_stages_of_the_small_plan_have_typical_times_until_a_record_says_better(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with chdir(ROOT):
        params = read_params()
    key, untrained = "simcse-small__words-50d__s0", "pooled-cls-small__words-50d__s0"
    stages = [f"train@{key}", f"train@{untrained}", f"evaluate@{key}", "entries", "report"]
    pipeline: Any = SimpleNamespace(order=stages)
    (tmp_path / "reports/costs").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert list(launch.guesses(pipeline, params).values()) == [5.0, 3.0, 4.0, 1.0, 10.0]
    Path(f"reports/costs/{key}.train.json").write_text('{"train_seconds": 99.5}')
    Path(f"reports/costs/{key}.evaluate.json").write_text("cut sh")
    assert list(launch.guesses(pipeline, params).values()) == [99.5, 3.0, 4.0, 1.0, 10.0]
    other = params.model_copy(update={"plan": ["pcl"]})
    assert launch.guesses(pipeline, other) == {f"train@{key}": 99.5}


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.4, "0 s"), (89.9, "90 s"), (90, "2 min"), (3600, "60 min"),
        (5399, "90 min"), (5400, "1.5 h"), (36_000, "10.0 h"),
    ],
)  # fmt: skip
def test_a_duration_is_in_seconds_below_ninety_and_in_minutes_below_an_hour_and_a_half(
    seconds: float, words: str
) -> None:
    assert duration(seconds) == words
