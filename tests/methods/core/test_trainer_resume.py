"""A resume point that is damaged or of another run is refused in one line with a remedy."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from methods.core import resume
from methods.core.errors import InputError
from methods.core.resume import TrainingFolder
from methods.core.trainer import Trainer
from tests.support.toy import ROWS, StepsLate, toy_trainer

SCORES = {3: 2.0, 6: 3.0}
SETTINGS: dict[str, Any] = {"eval_every": 3, "save_every": 2}


def trainer(folder: Path, **changes: Any) -> Trainer:
    return toy_trainer(folder, SCORES, **{**SETTINGS, **changes})


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished") / "run"
    trainer(folder).fit(ROWS)
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    """A copy of a finished run's folder, to be damaged."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


@pytest.mark.parametrize("name", ["state.json", "state-0.pt"])
def test_a_flipped_bit_anywhere_in_a_state_is_noticed(tmp_path: Path, name: str) -> None:
    """One bit of every byte, weights, names and padding alike; white space of the record does not count."""
    written = TrainingFolder(tmp_path, {"seed": 3})
    written.restore()
    written.log([{"step": 3}])
    written.commit({"weight": torch.arange(4.0)})
    written.settle(wait=True)
    path = tmp_path / name
    whole = path.read_bytes()
    assert len(whole) > 200
    for position in (number for number, byte in enumerate(whole) if not bytes([byte]).isspace()):
        flipped = bytearray(whole)
        flipped[position] ^= 1 << position % 8
        path.write_bytes(flipped)
        with pytest.raises(InputError, match="is not as the training wrote it"):
            TrainingFolder(tmp_path, {"seed": 3}).restore()
    path.write_bytes(whole)
    content = TrainingFolder(tmp_path, {"seed": 3}).restore()
    assert content is not None
    assert content["weight"].tolist() == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("changes", "what"),
    [({"learning_rate": 0.5}, "train"), ({"eval_every": 4}, "train"), ({"seed": 4}, "seed")],
)
def test_a_state_of_other_settings_is_refused(folder: Path, changes: dict[str, Any], what: str) -> None:
    """In one line that names a way out; how often a run is saved does not make it another."""
    assert trainer(folder, save_every=5).fit(ROWS).best_step == 6
    before = sorted(folder.rglob("*"))
    with pytest.raises(InputError, match=rf"^[^\n]*is of a run with another {what};[^\n]*$") as caught:
        trainer(folder, **changes).fit(ROWS)
    assert f"delete {folder} to train from the start" in str(caught.value)
    assert sorted(folder.rglob("*")) == before


def test_a_state_whose_weights_do_not_fit_is_refused(folder: Path) -> None:
    other = trainer(folder)
    other.method.register_buffer("queue", torch.zeros(3))
    with pytest.raises(InputError, match=r"has other weights \(.*Missing key.*queue"):
        other.fit(ROWS)


@pytest.fixture
def states(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The step of every state that is written."""
    steps: list[int] = []
    plain = TrainingFolder._write

    def write(
        folder: TrainingFolder, record: dict[str, Any], content: dict[str, Any], best: dict[str, str]
    ) -> None:
        steps.append(content["record"]["step"])
        plain(folder, record, content, best)

    monkeypatch.setattr(TrainingFolder, "_write", write)
    return steps


def test_resume_points_are_written_when_the_time_has_passed(
    tmp_path: Path, states: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step takes 70 s of this clock: of the steps 2, 3, 4, 6, 8 that may, 3 is the first after 200 s."""
    monkeypatch.setattr(TrainingFolder, "is_writing", False)  # a slow disk would leave a point out
    made = trainer(tmp_path, seconds_between=200.0)
    monkeypatch.setattr("methods.core.trainer.time.monotonic", lambda: 70.0 * made.record.step)
    made.fit(ROWS)
    assert states == [3, 6, 8]


def test_training_does_not_wait_for_a_resume_point_that_is_being_written(
    tmp_path: Path, states: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one on its way the next is left out, but never that after the last step."""
    monkeypatch.setattr(resume, "ThreadPoolExecutor", lambda *given, **named: StepsLate())
    trainer(tmp_path, save_every=1, eval_every=8).fit(ROWS)
    assert states[0] == 0
    assert states[-1] == 8
    assert len(states) < 9


def test_no_more_best_encoders_are_kept_than_the_best_and_the_one_a_state_names(tmp_path: Path) -> None:
    actual = []
    made = toy_trainer(
        tmp_path, {step: float(step) for step in range(9)}, eval_every=1, seconds_between=300.0
    )
    made.report = lambda step, total, entry: actual.append({path.name for path in tmp_path.glob("best-*")})
    made.fit(ROWS)
    assert actual[1:] == [{f"best-{step}"} for step in range(1, 9)]


def test_a_resume_point_is_five_minutes_after_the_last_one_unless_stated(
    tmp_path: Path, states: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step takes 100 s of this clock, and every step may be saved: after 300 s, and at the end."""
    monkeypatch.setattr(TrainingFolder, "is_writing", False)
    plain = trainer(tmp_path, save_every=1)
    made = Trainer(plain.method, plain.config, plain.seed, plain.evaluate, tmp_path)
    monkeypatch.setattr("methods.core.trainer.time.monotonic", lambda: 100.0 * made.record.step)
    made.fit(ROWS)
    assert states == [3, 6, 8]
