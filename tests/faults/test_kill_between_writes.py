"""A training is killed before every single file operation it makes, and ends with the same bytes.

Operations are seen through the interpreter's audit events; writes that torch does in C++ are announced by a
wrapper. A kill leaves the file that was written last either whole or cut in the middle of what was written.
Resume points are written at once, or while training is two steps further, in this thread: a kill ends all.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from methods.core import resume
from methods.core.trainer import Trainer
from tests.support.toy import ROWS, AtOnce, StepsLate, toy_trainer

CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Killed(BaseException):
    """Stands for the end of the process: no handler of errors may catch it."""


@dataclass
class Killer:
    """Raises `Killed` before operation number `at`, counted from 0; with `torn` the write before is cut.

    So does every operation after it: what Python does on the way out, a killed process does not.
    """

    at: int
    torn: bool = False
    seen: int = 0
    dead: bool = False
    written: tuple[Path, int] | None = None

    def before(self, path: Path | None) -> None:
        """Is called before each operation; `path` is the file that it is about to write, if it writes one."""
        if self.dead:
            raise Killed
        if self.seen == self.at:
            self.dead = True
            if self.torn and self.written is not None and self.written[0].is_file():
                place, size = self.written
                os.truncate(place, (size + place.stat().st_size) // 2)
            raise Killed
        self.seen += 1
        self.written = (path, path.stat().st_size if path.is_file() else 0) if path else None


class Case(NamedTuple):
    scores: dict[int, float]
    train: dict[str, Any]
    steps: int
    best_step: int


CASES = {
    "patience 1 stops at the first epoch end below the best": Case(
        {2: 5.0, 4: 4.0, 6: 9.0},
        {"eval_every": 100, "eval_epoch_ends": True, "patience": 1, "save_every": 100},
        4,
        2,
    ),
    "patience 2, evaluations inside epochs too, every step saved": Case(
        {2: 5.0, 3: 6.0, 4: 4.0, 6: 3.0, 8: 9.0},
        {"eval_every": 3, "eval_epoch_ends": True, "patience": 2, "save_every": 1},
        6,
        3,
    ),
    "every step evaluated, each one better": Case(
        {step: float(step) for step in range(5)},
        {"steps": 4, "epochs": None, "eval_every": 1, "save_every": 1},
        4,
        4,
    ),
    "saved between evaluations": Case({4: 1.0, 8: 3.0}, {"eval_every": 4, "save_every": 3}, 8, 8),
    "the untrained score is not a number": Case({0: math.nan, 4: 1.0}, {"eval_every": 4}, 8, 4),
    "nothing is trained": Case({0: 7.0}, {"steps": 0, "epochs": None}, 0, 0),
}
killer: Killer | None = None


def announce(event: str, arguments: tuple[Any, ...]) -> None:
    """The audit hook; without a killer it does nothing, for a hook cannot be taken off again."""
    if killer is None:
        return
    if event in CHANGES:
        killer.before(None)
    elif event == "open" and not isinstance(arguments[0], int) and arguments[2] & WRITING:
        killer.before(Path(os.fsdecode(arguments[0])))


sys.addaudithook(announce)


@pytest.fixture(autouse=True, params=[AtOnce, StepsLate])
def resume_points_are_written_in_this_thread(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resume, "ThreadPoolExecutor", lambda *given, **named: request.param())


@pytest.fixture(autouse=True)
def writes_of_torch_are_seen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    plain = torch.save

    def save(value: Any, place: Path) -> None:
        if killer is not None:
            killer.before(place)
        plain(value, place)

    monkeypatch.setattr(torch, "save", save)
    yield
    assert killer is None


def run(folder: Path, case: Case, *, kill: Killer | None = None) -> Trainer | None:
    """Returns the trainer that ran to its end, None if it was killed.

    A training that goes on starts from other weights than the first one, which must not matter.
    """
    global killer
    start = 1 if (folder / "state.json").exists() else 0
    trainer = toy_trainer(folder, case.scores, start=start, **case.train)
    killer = kill
    try:
        trainer.fit(ROWS)
    except Killed:
        return None
    finally:
        killer = None
    return trainer


def ending(trainer: Trainer) -> dict[str, Any]:
    """Returns all that a training leaves: the bytes of every file but the state's, and the record."""
    files = (path for path in sorted(trainer.directory.rglob("*")) if path.is_file())
    left: dict[str, Any] = {
        str(path.relative_to(trainer.directory)): path.read_bytes()
        for path in files
        if not path.name.startswith("state")
    }
    return {**left, "record": repr(asdict(trainer.record)), "best": trainer.best_folder.name}


@pytest.mark.parametrize("torn", [False, True], ids=["whole", "torn"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_a_kill_before_any_file_operation_changes_no_byte(
    every: int, name: str, torn: bool, tmp_path: Path
) -> None:
    """In the default run every fifth operation, others where what was written before is cut."""
    case = CASES[name]
    whole = run(tmp_path / "whole", case)
    assert whole is not None
    assert (whole.record.step, whole.record.best_step) == (case.steps, case.best_step)
    expected = ending(whole)
    for at in range(int(torn) % every, 10_000, every):
        folder = tmp_path / str(at)
        if run(folder, case, kill=Killer(at, torn)) is not None:
            break
        resumed = run(folder, case)
        assert resumed is not None
        assert ending(resumed) == expected, f"killed before operation {at}"
    assert at >= 12  # encoder, log, state and last folder make that many even where nothing is trained


@pytest.mark.parametrize("name", CASES)
def test_a_training_killed_again_and_again_ends_with_the_same_bytes(name: str, tmp_path: Path) -> None:
    """Each attempt dies three operations later than the one before, so every one gets a little further."""
    case = CASES[name]
    whole = run(tmp_path / "whole", case)
    assert whole is not None
    kills = 0
    while (done := run(tmp_path / "cut", case, kill=Killer(3 * kills, kills % 2 == 0))) is None:
        kills += 1
    assert kills >= 5
    assert ending(done) == ending(whole)
