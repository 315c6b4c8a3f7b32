"""A training is killed before every single file operation it makes, and ends with the same bytes.

Operations are seen through the interpreter's audit events; writes that torch does in C++ are announced by a
wrapper. A kill leaves the file that was written last either whole or cut in the middle of what was written.
Resume points are written at once, or while training is two steps further, in this thread: a kill ends all.
"""

import math
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
import torch

from methods.core import resume
from methods.core.trainer import Trainer
from tests.faults.refusals import WRITING, Refusal, refusing
from tests.support.toy import ROWS, AtOnce, StepsLate, toy_trainer

pytestmark = pytest.mark.thorough


class Killed(BaseException):
    """Simulates the end of the process: error handlers must not catch it."""


class Killer(Refusal):
    """Raises `Killed` before operation number `at` and each later one; with `torn` the write before is cut.

    Cleanup during unwinding also raises, because a killed process does not run it.
    """

    def __init__(self, at: int, torn: bool) -> None:
        super().__init__(None, self.kill, at, for_good=True)  # removals of a tree name no whole paths
        self.torn = torn
        self.sizes: list[int] = []

    def before(self, event: str, arguments: tuple[Any, ...]) -> None:
        super().before(event, arguments)
        if len(self.seen) > len(self.sizes):
            path = Path(self.seen[-1][1])
            self.sizes.append(path.stat().st_size if path.is_file() else 0)

    def kill(self, path: str) -> None:
        if self.torn and len(self.seen) == self.at + 1 > 1 and self.seen[-2][0] == "open":
            target = Path(self.seen[-2][1])
            at, self.at = self.at, -1  # the truncation is not an operation of the training
            if target.is_file():
                os.truncate(target, (self.sizes[-1] + target.stat().st_size) // 2)
            self.at = at
        raise Killed


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
    "one score is a number": Case({0: math.nan, 4: -0.5, 8: math.nan}, {"eval_every": 4}, 8, 4),
    "nothing is trained": Case({0: 7.0}, {"steps": 0, "epochs": None}, 0, 0),
}


@pytest.fixture(autouse=True, params=[AtOnce, StepsLate])
def resume_points_are_written_in_this_thread(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resume, "ThreadPoolExecutor", lambda *given, **named: request.param())


def run(folder: Path, case: Case, *, at: int = -1, torn: bool = False) -> Trainer | None:
    """Returns the trainer that ran to its end, None if it was killed.

    A resumed training starts from other weights, which must not matter.
    """
    start = 1 if (folder / "state.json").exists() else 0
    trainer = toy_trainer(folder, case.scores, start=start, **case.train)
    killer, plain = Killer(at, torn), torch.save

    def save(value: Any, target: Path) -> None:
        killer.before("open", (target, None, WRITING))
        plain(value, target)

    with patch("torch.save", save), refusing(killer):
        try:
            trainer.fit(ROWS)
        except Killed:
            return None
    return trainer


def ending(trainer: Trainer) -> dict[str, Any]:
    """Returns the output of a training: the bytes of every file except the state's, and the record."""
    files = (path for path in sorted(trainer.directory.rglob("*")) if path.is_file())
    left: dict[str, Any] = {
        str(path.relative_to(trainer.directory)): path.read_bytes()
        for path in files
        if not path.name.startswith("state")
    }
    return {**left, "record": repr(asdict(trainer.record)), "best": trainer.best_folder.name}


@pytest.mark.parametrize("torn", [False, True], ids=["whole", "torn"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("every", [15, pytest.param(1, marks=pytest.mark.slow)])
def test_a_kill_before_any_file_operation_changes_no_byte(
    every: int, name: str, torn: bool, tmp_path: Path
) -> None:
    """In the default run every fifteenth operation, in others with a torn write before it."""
    case = CASES[name]
    whole = run(tmp_path / "whole", case)
    assert whole is not None
    assert (whole.record.step, whole.record.best_step) == (case.steps, case.best_step)
    expected = ending(whole)
    for at in range(int(torn) % every, 10_000, every):
        folder = tmp_path / str(at)
        if run(folder, case, at=at, torn=torn) is not None:
            break
        resumed = run(folder, case)
        assert resumed is not None
        assert ending(resumed) == expected, f"killed before operation {at}"
    assert at >= 12  # encoder, log, state and last folder need that many even without training


@pytest.mark.parametrize("name", CASES)
def test_a_training_killed_again_and_again_ends_with_the_same_bytes(name: str, tmp_path: Path) -> None:
    """Each attempt dies three operations later than the one before, so every one gets a little further."""
    case = CASES[name]
    whole = run(tmp_path / "whole", case)
    assert whole is not None
    kills = 0
    while (done := run(tmp_path / "cut", case, at=3 * kills, torn=kills % 2 == 0)) is None:
        kills += 1
    assert kills >= 5
    assert ending(done) == ending(whole)
