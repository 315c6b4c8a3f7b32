"""Ctrl-C and SIGTERM at every stage of a launch: exit code, output and remaining state."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness.launch.toy_pipeline import (
    ROOT,
    repro,
    stage,
    wait_for,
    wait_until_gone,
    write_pipeline,
)
from tests.support.yaml_files import load_yaml

pytestmark = pytest.mark.thorough
OURS = """
import os
if "TOY" in os.environ:
    import harness.launch.worker

    def slow(command):
        import time
        from multiprocessing import Semaphore
        from pathlib import Path

        from tqdm import tqdm

        bar, held = tqdm(range(600), desc="training"), Semaphore()
        Path("process").write_text(str(os.getpid()))
        for _ in bar:
            time.sleep(0.1)
        return 0

    harness.launch.worker.run_in_process = slow
"""
"""A command of this project that holds what Python has to give back to the system; run at Python's start."""
SLOW = "sleep 60 & echo $! > child; echo $$ > process; wait; true"
STAGES = {
    "a command": {"slow": stage("slow", command=SLOW)},
    "after a failed stage": {
        "bad": stage("bad", command="exit 3"),
        "slow": stage("slow", ("source.txt",), SLOW),
    },
    "after a stage that ended": {"quick": stage("quick"), "slow": stage("slow", ("quick.txt",), SLOW)},
    "a command that does not listen": {"slow": stage("slow", command=f"trap '' INT TERM HUP; {SLOW}")},
    "a command of this project": {
        "bad": stage("bad", command="exit 3"),
        "slow": {"cmd": "sentbench stage train", "deps": ["source.txt"], "outs": ["slow.txt"]},
    },
}
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
CASES = [
    pytest.param(moment, number, marks=[] if (row + which) % 2 else [pytest.mark.slow])
    for row, moment in enumerate(STAGES)
    for which, number in enumerate(SIGNALS)
]
"""Every signal at every moment; in the default run some of them, in turn."""


def expect_end(process: subprocess.Popen[str], folder: Path, number: signal.Signals) -> str:
    """Returns the output of a launch that ended by a signal."""
    out, err = process.communicate(timeout=60)
    assert process.returncode in (128 + number, -number), err  # a shell shows both as the former
    for word in ("Traceback", "Warning", "Error", "semaphore"):
        assert word not in out + err, err
    assert not list(folder.rglob("*.part"))
    return err


@pytest.mark.parametrize(("moment", "number"), CASES)
def test_a_signal_ends_running_stages(
    tmp_path: Path, start: Callable[..., subprocess.Popen[str]], moment: str, number: signal.Signals
) -> None:
    folder = write_pipeline(tmp_path / "toy", STAGES[moment])
    (tmp_path / "sitecustomize.py").write_text(OURS)
    settings = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "TOY": "1"}
    process = start(folder, "--jobs", "1", environment=settings)
    wait_for(folder / "process")
    os.killpg(process.pid, number)
    err = expect_end(process, folder, number)
    assert process.returncode == 128 + number
    assert "sentbench launch: interrupted; 1 stages were not run" in err
    assert ("failed: bad: exit code 3" in err) is ("bad" in STAGES[moment])
    started = [int(path.read_text()) for path in (folder / "process", folder / "child") if path.exists()]
    assert len(started) == 1 + (moment != "a command of this project")
    wait_until_gone(*started)
    lock = (folder / "dvc.lock").read_text() if (folder / "dvc.lock").exists() else ""
    assert ("quick:" in lock) is ("quick" in STAGES[moment])


@pytest.mark.parametrize("number", [SIGNALS[0], pytest.param(SIGNALS[1], marks=pytest.mark.slow)])
def test_a_second_signal_has_no_effect(
    tmp_path: Path, start: Callable[..., subprocess.Popen[str]], number: signal.Signals
) -> None:
    folder = write_pipeline(tmp_path / "toy", STAGES["a command that does not listen"])
    process = start(folder)
    wait_for(folder / "process")
    for _ in range(3):
        os.killpg(process.pid, number)
        time.sleep(0.7)
    expect_end(process, folder, number)
    wait_until_gone(int((folder / "process").read_text()))


@pytest.mark.slow
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("seconds", [1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0])
def test_after_a_signal_at_any_time_the_next_launch_continues(
    tmp_path: Path, start: Callable[..., subprocess.Popen[str]], seconds: float, number: signal.Signals
) -> None:
    """Before the launch runs anything, SIGTERM ends it as it ends any program."""
    stages = {name: stage(name, command="sleep 0.3") for name in "abcdefgh"}
    folder = write_pipeline(tmp_path / "toy", stages)
    process = start(folder, "--jobs", "1")
    time.sleep(seconds)
    os.killpg(process.pid, number)
    _, err = process.communicate(timeout=60)
    assert process.returncode in (0, 128 + number, -number), err
    assert "Traceback" not in err or "harness" not in err, err
    again = start(folder)
    assert again.communicate(timeout=120)[1].rstrip().endswith("done") or again.returncode == 0
    serial = write_pipeline(tmp_path / "serial", stages)
    repro(serial)
    actual = [load_yaml((project / "dvc.lock").read_text()) for project in (folder, serial)]
    assert actual[0] == actual[1]
