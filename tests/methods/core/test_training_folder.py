"""The files of a training, one state after the other: what is kept, removed, cut and refused."""

import json
from concurrent.futures import Executor, Future
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

from methods.core.errors import InputError
from methods.core.resume import TrainingFolder, _copied

SETTINGS = {"seed": 3, "train": {"steps": 4}}


class Late(Executor):
    """Runs its work when it is asked to."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Future[Any], Any]] = []

    def submit(self, work: Any, *given: Any) -> Future[Any]:  # type: ignore[override]
        made = AtOnce()
        made.late = self
        self.waiting.append((made, lambda: work(*given)))
        return made

    def run(self) -> None:
        while self.waiting:
            future, work = self.waiting.pop(0)
            future.set_result(work())


class AtOnce(Future[Any]):
    """A result that is computed when somebody waits for it."""

    late: Late

    def result(self, timeout: float | None = None) -> Any:
        if not self.done():
            self.late.run()
        return super().result(timeout)


class Encoder:
    """Writes a file with its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def save(self, directory: Path) -> None:
        directory.mkdir()
        (directory / "weights").write_text(self.name)


@pytest.fixture
def late() -> Late:
    return Late()


@pytest.fixture
def folder(tmp_path: Path, late: Late) -> TrainingFolder:
    made = TrainingFolder(tmp_path / "run", SETTINGS, writer=late)
    assert made.restore() is None
    made.log([])
    return made


def names(folder: TrainingFolder) -> set[str]:
    """Returns the names of its files and folders except the log."""
    return {path.name for path in folder.directory.iterdir()} - {"train.jsonl"}


def again(folder: TrainingFolder) -> dict[str, Any] | None:
    return TrainingFolder(folder.directory, SETTINGS).restore()


def test_a_state_waits_for_the_one_before_it_and_takes_the_other_file(
    folder: TrainingFolder, late: Late
) -> None:
    assert not folder.is_writing
    folder.commit({"weight": torch.tensor(1.0)})
    assert folder.is_writing
    assert names(folder) == set()
    folder.settle()
    assert folder.is_writing, "without `wait` it goes on"
    folder.commit({"weight": torch.tensor(2.0)})
    assert names(folder) == {"state.json", "state-0.pt"}, "the first is written, the second is not"
    assert len(late.waiting) == 1
    late.run()
    assert not folder.is_writing
    assert names(folder) == {"state.json", "state-0.pt", "state-1.pt"}
    folder.settle()
    assert names(folder) == {"state.json", "state-1.pt"}
    folder.commit({"weight": torch.tensor(3.0)})
    folder.settle(wait=True)
    assert names(folder) == {"state.json", "state-0.pt"}
    content = again(folder)
    assert content is not None
    assert content["weight"] == 3.0


@pytest.mark.parametrize("best", [{}, {"best-3/model": "0"}, {"best-3/model": "0", "best-3/words": "1"}])
def test_a_state_never_overwrites_the_tensors_of_the_one_on_record(
    best: dict[str, str], folder: TrainingFolder
) -> None:
    """The files of the best encoder are on record too."""
    folder._best = best
    used = []
    for number in range(4):
        folder.commit({"weight": torch.tensor(float(number))})
        folder.settle(wait=True)
        used.append(json.loads((folder.directory / "state.json").read_text())["tensors"])
    assert all(first != second for first, second in pairwise(used)), used


def test_a_state_has_the_values_of_its_commit(folder: TrainingFolder) -> None:
    weight = torch.ones(2, requires_grad=True)
    content = {"method": {"a": [weight, (weight, 5)]}, "optimizer": None}
    folder.commit(content)
    with torch.no_grad():
        weight.add_(1)
    folder.settle(wait=True)
    kept = again(folder)
    assert kept is not None
    assert kept["method"]["a"][0].tolist() == kept["method"]["a"][1][0].tolist() == [1.0, 1.0]
    assert (kept["method"]["a"][1][1], kept["optimizer"]) == (5, None)
    assert not _copied(weight).requires_grad


def test_an_error_of_writing_is_told_by_the_next_settle(
    folder: TrainingFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder, "_write", full)
    folder.commit({})
    with pytest.raises(OSError, match="No space left"):
        folder.settle(wait=True)
    folder.settle(wait=True)


def test_the_best_of_a_state_stays_until_the_next_state_is_on_the_disk(folder: TrainingFolder) -> None:
    folder.keep_best(Encoder("one"), 2)
    assert folder.best(2) == folder.directory / "best-2"
    folder.commit({"step": 2})
    folder.keep_best(Encoder("two"), 4)
    assert names(folder) >= {"best-2", "best-4"}, "a state on its way names the first"
    folder.settle(wait=True)
    folder.keep_best(Encoder("three"), 6)
    assert {name for name in names(folder) if name.startswith("best")} == {"best-2", "best-6"}
    folder.commit({"step": 6})
    folder.settle(wait=True)
    assert {name for name in names(folder) if name.startswith("best")} == {"best-6"}
    folder.keep_best(Encoder("four"), 6)
    assert (folder.best(6) / "weights").read_text() == "four", "a step's best is written again"


def test_all_files_of_the_state_on_record_stay_while_the_next_is_on_its_way(
    folder: TrainingFolder, late: Late
) -> None:
    folder.keep_best(Encoder("one"), 2)
    folder.commit({"step": 2})
    folder.settle(wait=True)
    on_record = names(folder)
    assert on_record == {"state.json", "state-0.pt", "best-2"}
    folder.keep_best(Encoder("two"), 4)
    folder.commit({"step": 4})
    folder.keep_best(Encoder("three"), 6)
    assert names(folder) == {*on_record, "best-4", "best-6"}
    killed = again(folder)
    assert killed is not None
    assert killed["step"] == 2


def test_a_resumed_training_keeps_the_best_on_record_until_its_first_state(folder: TrainingFolder) -> None:
    folder.keep_best(Encoder("one"), 2)
    folder.commit({"step": 2})
    folder.settle(wait=True)
    for step in (4, 6):  # each time killed before a further state
        continued = TrainingFolder(folder.directory, SETTINGS)
        content = continued.restore()
        assert content is not None
        assert content["step"] == 2
        continued.keep_best(Encoder("two"), step)
        assert {"best-2", f"best-{step}"} <= names(folder)
    assert (folder.best(2) / "weights").read_text() == "one"


def test_the_last_encoder_replaces_an_earlier_one_and_half_of_one(folder: TrainingFolder) -> None:
    (folder.directory / "last.part").mkdir()
    folder.keep_last(Encoder("one"))
    folder.keep_last(Encoder("two"))
    assert (folder.last / "weights").read_text() == "two"
    assert names(folder) == {"last"}


def test_what_a_killed_training_wrote_after_its_state_is_removed(folder: TrainingFolder) -> None:
    folder.log([{"step": 0}])
    folder.keep_best(Encoder("one"), 1)
    folder.commit({"step": 1})
    folder.settle(wait=True)
    before = {path: path.read_bytes() for path in folder.directory.rglob("*") if path.is_file()}
    folder.log([{"step": 1}, {"step": 2}])
    folder.keep_best(Encoder("two"), 2)
    (folder.directory / "state-1.pt").write_bytes(b"half")
    (folder.directory / "best-3.part").mkdir()
    (folder.directory / ".state.json.x.part").write_text("half")
    continued = TrainingFolder(folder.directory, SETTINGS)
    assert continued.restore() == {"step": 1}
    assert {path: path.read_bytes() for path in folder.directory.rglob("*") if path.is_file()} == before
    continued.log([{"step": 1}])
    continued.commit({"step": 2})
    continued.settle(wait=True)
    assert (folder.directory / "train.jsonl").read_text() == '{"step": 0}\n{"step": 1}\n'
    assert again(folder) == {"step": 2}


def test_the_log_of_a_state_without_a_line_may_be_empty_and_not_missing(folder: TrainingFolder) -> None:
    folder.commit({"step": 1})
    folder.settle(wait=True)
    assert again(folder) == {"step": 1}
    (folder.directory / "train.jsonl").unlink()
    with pytest.raises(InputError, match=r"train\.jsonl is not as the training wrote it"):
        again(folder)


def test_without_a_state_the_log_begins_anew(folder: TrainingFolder) -> None:
    folder.log([{"step": 0}])
    folder.keep_best(Encoder("one"), 1)
    (folder.directory / "state-0.pt").write_bytes(b"half")
    assert again(folder) is None
    assert not [*folder.directory.iterdir()]


@pytest.mark.parametrize(
    ("log", "kept"),
    [
        (b'{"step": 0}\n', True),
        (b'{"step": 0}\n{"st', True),
        (b'{"step": 0}', False),
        (b'{"step": 1}\n', False),
        (None, False),
    ],
)
def test_a_log_may_be_longer_than_its_state_says_and_not_different(
    folder: TrainingFolder, log: bytes | None, kept: bool
) -> None:
    folder.log([{"step": 0}])
    folder.commit({"step": 1})
    folder.settle(wait=True)
    path = folder.directory / "train.jsonl"
    path.unlink() if log is None else path.write_bytes(log)
    before = names(folder)
    if kept:
        assert again(folder) == {"step": 1}
        assert path.read_bytes() == b'{"step": 0}\n'
    else:
        with pytest.raises(
            InputError, match=rf"^{path} is not as the training wrote it; delete {path.parent} to train from"
        ):
            again(folder)
        assert names(folder) == before


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda top: (top / "best-1/weights").unlink(), "best-1/weights is missing"),
        (lambda top: (top / "best-1/weights").write_text("ONE"), "best-1/weights is not as the training"),
        (lambda top: (top / "state-0.pt").unlink(), r"state-0\.pt is missing"),
        (lambda top: (top / "state.json").write_text("{}"), r"state\.json is not as the training wrote it"),
        (lambda top: (top / "state.json").write_text("[1"), r"state\.json is not as the training wrote it"),
    ],
)
def test_a_file_of_a_state_that_changed_is_named_and_every_file_is_kept(
    folder: TrainingFolder, damage: Any, words: str
) -> None:
    folder.keep_best(Encoder("one"), 1)
    folder.commit({"step": 1})
    folder.settle(wait=True)
    damage(folder.directory)
    (folder.directory / "state-1.pt").write_bytes(b"more")
    before = sorted(folder.directory.rglob("*"))
    with pytest.raises(InputError, match=rf"{words}.*; delete {folder.directory} to train from the start"):
        again(folder)
    assert sorted(folder.directory.rglob("*")) == before


@pytest.mark.parametrize(
    ("settings", "other"),
    [
        ({"seed": 4, "train": {"steps": 4}}, "seed"),
        ({"seed": 3, "train": {"steps": 5}}, "train"),
        ({"seed": 3}, "train"),
        ({**SETTINGS, "device": "cpu"}, "device"),
        ({"seed": 4, "train": {}}, "seed and another train"),
    ],
)
def test_a_state_of_another_run_names_every_setting_that_differs(
    folder: TrainingFolder, settings: dict[str, Any], other: str
) -> None:
    folder.commit({})
    folder.settle(wait=True)
    with pytest.raises(InputError, match=rf"state\.json is of a run with another {other}; delete "):
        TrainingFolder(folder.directory, settings).restore()
    assert TrainingFolder(folder.directory, json.loads(json.dumps(SETTINGS))).restore() == {}
