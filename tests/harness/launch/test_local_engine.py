"""The processes of the local engine: what they start with, which device they see, what is left of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from harness.launch import local
from harness.launch.local import LocalEngine, visible_cards, worker_settings
from harness.launch.work import Ended, Work
from harness.launch.worker import PRELOADED, is_ours
from harness.process import PORTABLE, set_native
from tests.harness.launch.toy_pipeline import wait_until_gone


@pytest.fixture
def engine() -> Iterator[LocalEngine]:
    engine = LocalEngine(2, preloaded=())
    yield engine
    engine.close()


def work(folder: Path, *commands: str, stage: str = "x") -> Work:
    return Work(stage, commands, folder, folder / "logs" / f"{stage}.log", {"OF_THE_STAGE": "yes"})


def all_of(engine: LocalEngine, number: int) -> list[Ended]:
    ended: list[Ended] = []
    deadline = time.monotonic() + 60
    while len(ended) < number:
        assert time.monotonic() < deadline
        ended += engine.wait(1.0)
    return ended


def output(folder: Path, stage: str = "x") -> list[str]:
    lines = (folder / "logs" / f"{stage}.log").read_text().splitlines()
    return [line for line in lines if not line.startswith("== ")]


def test_a_command_of_this_project_runs_in_the_forked_process_with_its_exit_code(
    engine: LocalEngine, tmp_path: Path
) -> None:
    engine.submit(work(tmp_path, "sentbench list methods"))
    engine.submit(work(tmp_path, "sentbench list nothing-known", stage="y"))
    assert sorted(all_of(engine, 2), key=lambda ended: ended.stage) == [Ended("x", 0), Ended("y", 2)]
    assert any(line.startswith("simcse") for line in output(tmp_path))
    assert "nothing-known" in output(tmp_path, "y")[-1]


def test_commands_stop_at_the_first_that_fails(engine: LocalEngine, tmp_path: Path) -> None:
    engine.submit(work(tmp_path, "echo one", "sh -c 'exit 4'", "echo two"))
    assert all_of(engine, 1) == [Ended("x", 4)]
    assert output(tmp_path) == ["one"]


def test_a_program_that_is_not_there_is_a_failed_command(engine: LocalEngine, tmp_path: Path) -> None:
    engine.submit(work(tmp_path, "no-such-program --now"))
    assert all_of(engine, 1) == [Ended("x", 127)]
    assert output(tmp_path) == ["no-such-program: no such command"]


def native_settings(slots: int) -> dict[str, str]:
    """Returns the variables of a worker that starts again for native arithmetic."""
    settings = worker_settings(slots)
    assert settings.items() >= PORTABLE.items()
    set_native(settings)
    return settings


def test_a_worker_waits_asleep_with_its_share_of_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(local.os, "sched_getaffinity", lambda _: set(range(16)))
    assert native_settings(3)["OMP_NUM_THREADS"] == "5"
    assert native_settings(32)["OMP_NUM_THREADS"] == "1"
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    settings = native_settings(3)
    assert {name: settings[name] for name in ("OMP_NUM_THREADS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT")} == {
        "OMP_NUM_THREADS": "7",
        "OMP_WAIT_POLICY": "passive",
        "GOMP_SPINCOUNT": "0",
    }
    assert settings["KMP_BLOCKTIME"] == "0"


def test_the_server_that_workers_are_forked_from_has_these_settings(
    engine: LocalEngine, tmp_path: Path
) -> None:
    engine.submit(work(tmp_path, "env"))
    assert all_of(engine, 1) == [Ended("x", 0)]
    assert {"OMP_WAIT_POLICY=passive", "KMP_BLOCKTIME=0", "OF_THE_STAGE=yes"} <= set(output(tmp_path))


@pytest.mark.parametrize("name", PRELOADED)
def test_what_the_server_imports_is_there(name: str) -> None:
    """The server passes over a module that it cannot import."""
    assert find_spec(name)


def test_each_slot_has_a_card_and_stages_without_a_network_have_none(tmp_path: Path) -> None:
    engine = LocalEngine(2, ["4", "GPU-x"], preloaded=())
    show = "printenv CUDA_VISIBLE_DEVICES"
    engine.submit(work(tmp_path, show, stage="train@a"))
    engine.submit(work(tmp_path, show, stage="evaluate@a"))
    all_of(engine, 2)
    engine.submit(work(tmp_path, show, stage="data@a"))
    all_of(engine, 1)
    engine.close()
    assert [output(tmp_path, stage) for stage in ("train@a", "evaluate@a", "data@a")] == [
        ["4"],
        ["GPU-x"],
        [""],
    ]
    assert "card GPU-x" in (tmp_path / "logs/evaluate@a.log").read_text()


def test_cards_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3, 5")
    assert visible_cards() == ["3", "5"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert visible_cards() == []


def test_what_a_killed_command_started_ends_with_it(engine: LocalEngine, tmp_path: Path) -> None:
    engine.submit(work(tmp_path, "sleep 60 & echo $! > child; kill -9 $$"))
    assert all_of(engine, 1) == [Ended("x", None, "ended by signal 9")]
    wait_until_gone(int((tmp_path / "child").read_text()))


@pytest.mark.parametrize(
    ("commands", "ours"),
    [
        (["sentbench train x --out artefacts/x --resume"], True),
        (["sentbench list runs > file"], False),
        (["python train.py"], False),
        (["sentbench entries", "true"], False),
    ],
)
def test_a_shell_reads_what_only_a_shell_can(commands: list[str], ours: bool) -> None:
    assert is_ours(commands) is ours
