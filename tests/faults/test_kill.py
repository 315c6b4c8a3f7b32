"""Trainings of every method are stopped by SIGKILL at random instants and end with the same bytes.

Each training is a separate process, forked from a server that has imported all libraries.
"""

import multiprocessing
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest

from harness.launch.libraries import LIBRARIES
from methods.registry import METHODS
from tests.support import tiny
from tests.support.samples import SampleFolders, SampleInputs, folder_bytes, make, samples_of
from tests.support.tiny import Sample

pytestmark = pytest.mark.thorough
Processes = multiprocessing.context.ForkServerContext
SAMPLES = [samples_of(name)[0] for name in METHODS]
PRELOADED = [*LIBRARIES, "tests.faults.test_kill"]
"""Late imports of a training; otherwise each process would take seconds to begin."""
SETTINGS = {"steps": 8, "eval_every": 2, "save_every": 1}
"""An evaluation, often with a new best encoder, every other step: most of the time goes into writing."""


def train(sample: Sample, base: SampleInputs, folder: Path, seed: int, started: Connection) -> None:
    """Trains a sample in this process; reports its start and, at the end, its duration."""
    steps = SETTINGS["steps"] if sample.trained else 0
    trainer = tiny.trainer(make(sample, base, seed), folder, **{**SETTINGS, "steps": steps})
    started.send(0.0)
    begin = time.monotonic()
    trainer.fit(base.rows)
    started.send(time.monotonic() - begin)


@pytest.fixture(scope="module")
def processes() -> Processes:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


@pytest.fixture(scope="module")
def inputs_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Sample], SampleInputs]:
    return SampleFolders(tmp_path_factory.mktemp("inputs_of")).of


def ending(folder: Path) -> dict[str, bytes]:
    """Returns the files of a training except its state, which the log and the folders repeat."""
    left = folder_bytes(folder).items()
    return {name: content for name, content in left if not name.startswith("state")}


def run(
    context: Processes,
    sample: Sample,
    base: SampleInputs,
    folder: Path,
    seed: int,
    kill_after: float | None = None,
) -> tuple[int | None, float]:
    """Returns the exit code and the seconds of a training, which is killed after `kill_after` seconds."""
    heard, said = context.Pipe(duplex=False)
    process = context.Process(target=train, args=(sample, base, folder, seed, said), daemon=True)
    process.start()
    said.close()
    heard.recv()
    if kill_after is not None:
        time.sleep(kill_after)
        process.kill()
    process.join()
    return process.exitcode, heard.recv() if process.exitcode == 0 else 0.0


def survive(
    context: Processes, sample: Sample, base: SampleInputs, top: Path, *, instants: int, seed: int
) -> None:
    """Kills at once and at random instants; most must hit, because the machine's speed varies."""
    code, seconds = run(context, sample, base, top / "whole", 3)
    assert code == 0
    expected, hits = ending(top / "whole"), []
    for number, share in enumerate([0.0, *np.random.default_rng(seed).uniform(0.0, 1.0, instants - 1)]):
        folder = top / str(number)
        code, _ = run(context, sample, base, folder, 3, kill_after=share * seconds)
        assert code in (0, -signal.SIGKILL)
        started = (folder / "state.json").exists()
        assert run(context, sample, base, folder, 99 if started else 3)[0] == 0
        assert ending(folder) == expected, f"{sample.method} killed at {share:.3f} of its time"
        hits.append(code != 0)
    assert hits[0]
    assert sum(hits) >= len(hits) // 3


def test_a_training_killed_three_times_ends_with_the_same_bytes(
    processes: Processes, inputs_of: Callable[[Sample], SampleInputs], tmp_path: Path
) -> None:
    sample = samples_of("simcse")[0]
    survive(processes, sample, inputs_of(sample), tmp_path, instants=3, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.method)
def test_a_training_of_every_method_survives_twenty_kills(
    sample: Sample, processes: Processes, inputs_of: Callable[[Sample], SampleInputs], tmp_path: Path
) -> None:
    survive(processes, sample, inputs_of(sample), tmp_path, instants=20, seed=2)
