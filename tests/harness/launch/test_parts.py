"""Parts of a launch, each alone: commands and logs of workers, their devices, and files of DVC."""

import os
import shutil
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.launch import local
from harness.launch.failures import discard_damaged_locks, in_words
from harness.launch.pipeline import LOCK_PERIOD, Pipeline
from harness.launch.worker import Ended, Job, is_ours, last_line, log_of, run_commands, words_of
from harness.process import PASSIVE, PORTABLE, set_native


@pytest.mark.parametrize(
    ("stage", "wants"),
    [
        *[(name, False) for name in ("entries", "fingerprint", "data@stsb", "fingerprint-data@x", "report")],
        *[(name, True) for name in ("train@a", "evaluate@a", "teacher@a", "corpus@a", "other@a")],
        *[("sub/dvc.yaml:report", False), ("sub/dvc.yaml:train@a", True)],
        *[("further@x", False), ("backbone@a", False)],
    ],
)
def test_stages_that_run_a_network_want_a_gpu(stage: str, wants: bool) -> None:
    assert Job(stage, (), Path(), Path()).wants_gpu is wants


@pytest.mark.parametrize("character", [*"|&;<>()$`\\\"'*?[]#~=%{}!\n"])
def test_a_command_with_a_sign_of_the_shell_is_not_run_without_one(character: str) -> None:
    assert words_of(f"sentbench list {character}x") is None
    assert not is_ours([f"sentbench list {character}x"])


def test_a_stage_is_ours_if_it_is_one_command_of_this_project() -> None:
    assert words_of("sentbench  list tasks") == ["sentbench", "list", "tasks"]
    assert is_ours(["sentbench list"])
    for other in ([], ["sentbench list", "sentbench list"], ["sentbenchx list"], ["python x"], [""]):
        assert not is_ours(other)


def test_an_exit_code_below_zero_is_a_signal() -> None:
    assert [Ended.with_code("a", code) for code in (0, 3, 255, -9)] == [
        Ended("a", 0),
        Ended("a", 3),
        Ended("a", 255),
        Ended("a", None, "ended by signal 9"),
    ]


def test_a_log_has_a_safe_name_and_its_last_line_is_that_of_a_command(tmp_path: Path) -> None:
    assert log_of("sub/dvc.yaml:train@a b").name == "sub-dvc.yaml-train@a-b.log"
    assert last_line(tmp_path / "none") == ""
    (tmp_path / "log").write_bytes(b"one\n\xff two\n\n== ended\n")
    assert last_line(tmp_path / "log") == "\ufffd two"


def test_commands_of_a_job_run_in_its_folder_with_its_variables_until_one_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").mkdir()
    monkeypatch.setenv("OURS", "outer")
    commands = ("echo $OURS $MORE > seen", "sh -c 'exit 7'", "touch never")
    job = Job("a", commands, tmp_path / "there", tmp_path / "log", {"MORE": "inner"}, attempt=3)
    assert run_commands(job, "slot 1") == 7
    assert (tmp_path / "there/seen").read_text() == "outer inner\n"
    assert not (tmp_path / "there/never").exists()
    log = (tmp_path / "log").read_text()
    assert log.startswith("== attempt 3 on ")
    assert ", slot 1, " in log
    assert "== ended after " in log
    assert run_commands(Job("a", ("no-such-command",), tmp_path, tmp_path / "log"), "") == 127


@pytest.mark.parametrize("shell", [None, "/bin/sh", shutil.which("bash")])
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("sh -c 'kill -9 $$'", -9),  # some shells become their only command, some wait for it
        ("sh -c 'kill -9 $$'; exit $?", -9),
        ("kill -TERM $$", -15),
        ("(exit 127)", 127),
        ("(exit 128)", 128),
        ("(exit 129)", -1),
        ("(exit 255)", 255),
    ],
)
def test_the_signal_that_ended_a_command_is_the_same_in_each_shell(
    command: str, code: int, shell: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shell is None:
        monkeypatch.delenv("SHELL", raising=False)
    else:
        monkeypatch.setenv("SHELL", shell)
    assert run_commands(Job("a", (command,), tmp_path, tmp_path / "log"), "") == code
    (tmp_path / "run").write_text("#!/bin/sh\nexit 137\n")
    (tmp_path / "run").chmod(0o755)
    program = (str(tmp_path / "run"),)  # not by a shell: its exit code is its own
    assert run_commands(Job("a", program, tmp_path, tmp_path / "log"), "") == 137


@pytest.mark.parametrize(("gpus", "seats"), [(["0", "2"], ["0", "2", "0"]), ([], [None, None, None])])
def test_slots_share_the_gpus_in_turn(gpus: list[str], seats: list[str | None]) -> None:
    executor = object.__new__(local.LocalExecutor)
    executor._gpus = gpus
    train, report = (Job(name, (), Path(), Path()) for name in ("train@a", "report"))
    for seat, gpu in enumerate(seats):
        where, variables = executor._device(train, seat)
        assert variables == ({} if gpu is None else {"CUDA_VISIBLE_DEVICES": gpu})
        assert where == (f"slot {seat}" if gpu is None else f"slot {seat}, GPU {gpu}")
    hidden = {"CUDA_VISIBLE_DEVICES": ""} if gpus else {}
    assert executor._device(report, 1)[1] == hidden


@pytest.mark.parametrize(("slots", "share"), [(1, "8"), (3, "2"), (8, "1"), (9, "1")])
def test_the_server_of_workers_is_portable_with_a_share_of_the_cores(
    slots: int, share: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, str]] = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)))
    monkeypatch.setattr(
        local.forkserver,
        "ensure_running",
        lambda: seen.append(
            {**os.environ, "ignored": str(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)}
        ),
    )
    here = dict(os.environ)
    set_native(here)
    here.pop("OMP_NUM_THREADS", None)
    monkeypatch.setattr(os, "environ", here)
    before, heard = dict(os.environ), signal.getsignal(signal.SIGINT)
    with local.server_for(slots):
        assert os.environ["OMP_NUM_THREADS"] == "1"
    assert dict(os.environ) == before
    assert signal.getsignal(signal.SIGINT) is heard
    (inside,) = seen
    expected = {**PORTABLE, **local.FORKABLE, **PASSIVE}
    assert {name: inside[name] for name in expected} == expected
    assert inside["ignored"] == "True"
    set_native(inside)
    assert inside["OMP_NUM_THREADS"] == share


def test_a_damaged_list_of_paths_is_removed_and_a_sound_one_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rwlock"
    discard_damaged_locks(tmp_path)
    path.write_text("{}")
    discard_damaged_locks(tmp_path)
    assert path.exists()
    for damage in ("", "{", '{"a": 1}'):
        path.write_text(damage)
        discard_damaged_locks(tmp_path)
        assert not path.exists()
        assert "which a killed process left damaged" in capsys.readouterr().err
    assert in_words(OSError(28, "No space left", "a/b")) == "a/b: No space left"
    assert in_words(ValueError(" two\n lines")) == "two lines"
    assert in_words(ValueError()) == "ValueError"


@pytest.mark.parametrize(("passed", "written"), [(LOCK_PERIOD - 0.1, False), (LOCK_PERIOD, True)])
def test_the_lock_file_is_written_every_half_minute_or_at_once(
    passed: float, written: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write takes a second with hundreds of stages; a launch that is killed loses at most so long."""
    pipeline: Any = object.__new__(Pipeline)
    pipeline._dumped, pipeline._stages = 0.0, {}
    monkeypatch.setattr("harness.launch.pipeline.time.monotonic", lambda: passed)
    dumped: list[str] = []
    stage = SimpleNamespace(dump=lambda *, update_pipeline: dumped.append("a"))
    pipeline._pending = [stage]
    pipeline.dump(at_once=False)
    assert dumped == ["a"] * written
    assert (pipeline._pending == []) is written
    pipeline._pending = [stage]
    pipeline._dumped = passed
    pipeline.dump()
    assert len(dumped) == 1 + written
    pipeline.dump()
    assert len(dumped) == 1 + written, "nothing is pending"
