"""Launches on a real Slurm of two nodes on this machine, without accounting."""

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.launch.toy_pipeline import (
    repro,
    stage,
    start_launch,
    wait_for,
    with_trainings,
    write_pipeline,
)
from tests.support.slurm import Slurm, missing

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def without_gpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    yield from started(tmp_path_factory.mktemp("slurm") / "daemons", gpu=False)


@pytest.fixture(scope="module")
def with_gpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    yield from started(tmp_path_factory.mktemp("slurm") / "daemons", gpu=True)


def started(folder: Path, *, gpu: bool) -> Iterator[Slurm]:
    pytest.importorskip("submitit", reason="submitit is not installed: the extra launch-slurm")
    reason = missing()
    if reason:
        pytest.skip(reason)
    slurm = Slurm(folder)
    try:
        slurm.start(gpu=gpu)
        yield slurm
    finally:
        slurm.stop()


def launch(slurm: Slurm, folder: Path, *words: str) -> subprocess.Popen[str]:
    return start_launch(folder, "--on", "slurm", *words, environment=slurm.environment)


def ending_of(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Returns the exit code and the output of a launch, without unexpected lines of Python or Slurm."""
    out, err = process.communicate(timeout=180)
    for word in ("Traceback", "sacct", "Warning", "submitit"):
        assert word not in out + err, err
    return process.returncode, err


def test_four_trainings_end_as_by_a_serial_repro_though_one_is_cancelled(
    without_gpus: Slurm, tmp_path: Path
) -> None:
    """No GPU is requested by default, because the cluster has none."""
    folder = with_trainings(tmp_path / "toy", "abcd")
    running = launch(without_gpus, folder)
    wait_for(folder / "state-a")
    number = without_gpus.jobs()[0]
    without_gpus.output("scancel", number)
    code, shown = ending_of(running)
    assert code == 0, shown
    assert "4 of 4 stages, 4 done" in shown
    script = next((folder / ".cache/launch/slurm").glob("*_submission.sh")).read_text()
    assert "--gpus" not in script
    starts = [(folder / f"starts-{key}").read_text().split() for key in "abcd"]
    assert sorted(map(len, starts)) == [1, 1, 1, 2]
    serial = with_trainings(tmp_path / "serial", "abcd")
    repro(serial)
    assert (folder / "dvc.lock").read_bytes() == (serial / "dvc.lock").read_bytes()
    assert without_gpus.jobs() == []


def test_a_training_whose_node_is_killed_continues_on_the_other_node(
    without_gpus: Slurm, tmp_path: Path
) -> None:
    folder = with_trainings(tmp_path / "toy", "ab")
    running = launch(without_gpus, folder, "--cpus-per-run", "2")
    try:
        for key in "ab":
            wait_for(folder / f"state-{key}")
        without_gpus.kill_node("n2")
        code, shown = ending_of(running)
    finally:
        without_gpus.start_node("n2")
    assert code == 0, shown
    starts = [(folder / f"starts-{key}").read_text().split() for key in "ab"]
    assert sorted(map(len, starts)) == [1, 2]
    resumed = max(starts, key=len)
    assert int(resumed[1]) > 0
    without_gpus.wait_for(without_gpus.is_idle)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--gpus-per-run", "1"], "Invalid generic resource (gres) specification"),
        (["--slurm", "partition=nowhere"], "invalid partition specified: nowhere"),
        (["--slurm", "no_such_option=1"], "unrecognized option '--no-such-option=1'"),
    ],
)
def test_a_refusal_by_slurm_is_one_line_before_any_job(
    without_gpus: Slurm, tmp_path: Path, words: list[str], message: str
) -> None:
    folder = write_pipeline(tmp_path / "toy", {"a": stage("a")})
    (folder / "a.txt").write_text("of the user\n")
    code, shown = ending_of(launch(without_gpus, folder, *words))
    assert code == 2
    assert message in shown
    assert shown.count("\n") == 1
    assert (folder / "a.txt").read_text() == "of the user\n"
    assert without_gpus.jobs() == []


def test_ctrl_c_cancels_the_jobs(without_gpus: Slurm, tmp_path: Path) -> None:
    folder = write_pipeline(tmp_path / "toy", {"a": stage("a", command="sleep 60")})
    running = launch(without_gpus, folder)
    wait_for(folder / "runs.txt")
    running.send_signal(signal.SIGINT)
    code, shown = ending_of(running)
    assert code == 130
    assert "interrupted" in shown
    assert without_gpus.jobs() == []


@pytest.mark.parametrize(("words", "asked"), [(["--slurm", "partition=gpu"], 1), ([], 0)])
def test_a_stage_takes_a_gpu_if_its_partition_has_one(
    with_gpus: Slurm, tmp_path: Path, words: list[str], asked: int
) -> None:
    folder = write_pipeline(tmp_path / "toy", {"train": stage("train"), "data": stage("data")})
    code, shown = ending_of(launch(with_gpus, folder, *words))
    assert code == 0, shown
    scripts = [path.read_text() for path in (folder / ".cache/launch/slurm").glob("*_submission.sh")]
    assert sum("#SBATCH --gpus-per-node=1\n" in script for script in scripts) == asked
    assert "2 of 2 stages, 2 done" in shown
