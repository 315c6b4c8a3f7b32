"""What is lost beside a foreign process: the arithmetic, when the process runs, and that it ends."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from benchmarks import loaded
from benchmarks.loaded import Turns, cpu_seconds, foreign_process, turns
from benchmarks.measurement import Disagreement


def test_what_is_lost_is_the_share_of_speed() -> None:
    """1 s alone and 2 s beside it lose half, 3 and 4 s a quarter; it had 10, 30 and 20 % of the cores."""
    found = Turns([1.0, 3.0], [2.0, 4.0], [0.1, 0.3, 0.2])
    assert found.lost == [50.0, 25.0]
    assert found.percent == 20.0


def test_the_foreign_process_runs_in_loaded_turns_only_and_is_gone_at_the_end() -> None:
    with foreign_process() as foreign:
        had = cpu_seconds(foreign)
        deadline = time.monotonic() + 30
        while cpu_seconds(foreign) == had and time.monotonic() < deadline:
            time.sleep(0.05)
        assert cpu_seconds(foreign) > had
        assert Path(f"/proc/{foreign}").exists()
    assert not Path(f"/proc/{foreign}").exists()


def test_a_turn_alone_is_measured_with_the_process_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    states: list[str] = []
    plain = loaded.cpu_seconds

    def watched(process: int) -> float:
        time.sleep(0.05)
        states.append(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0])
        return plain(process)

    monkeypatch.setattr(loaded, "cpu_seconds", watched)
    found = turns(lambda: (0.5, "same"), 2)
    assert (found.idle, found.loaded) == ([0.5, 0.5], [0.5, 0.5])
    before_each = [states[place] for place in (0, 1, 3, 5)]  # alone, beside, beside, alone
    assert [state == "T" for state in before_each] == [True, False, False, True]


def test_another_result_beside_the_process_stops_the_benchmark() -> None:
    made = iter(["same", "other", "other"])
    with pytest.raises(Disagreement, match="the result is another"):
        turns(lambda: (0.5, next(made)), 1)
