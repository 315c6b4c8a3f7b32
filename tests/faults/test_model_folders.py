"""A model folder with any fault is refused in one line, quickly, without running its code."""

import json
import random
import shutil
import time
import warnings
from pathlib import Path

import pytest

from harness.cli import main
from tests.faults import bad_folders
from tests.faults.bad_folders import Fault
from tests.faults.corruptions import ending_of
from tests.faults.small_project import write_stsb
from tests.support import tiny

pytestmark = pytest.mark.thorough
SECONDS = 5
"""Longest processor time that a folder may take; a sound one takes a twentieth of a second."""

SAMPLES = {"files": 40, "size": 12, "weight": 12, "foreign": 30, "tokenizer": 13, "values": 40}
"""Kind of fault -> folders of the default run, drawn once for all."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return bad_folders.sound_folders(tmp_path_factory.mktemp("sound"))


@pytest.fixture
def work_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Path:
    """A folder with data, after an evaluation that has imported all libraries."""
    monkeypatch.setenv("SENTBENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    monkeypatch.chdir(tmp_path)
    import sentence_transformers  # noqa: F401

    write_stsb(tmp_path / "data/stsb")
    assert main(command("plain", tiny.write_backbone(tmp_path / "bert"))) == 0
    capfd.readouterr()
    return tmp_path


def command(base: str, folder: Path) -> list[str]:
    pooling = ["--pooling", "mean"] if base in ("plain", "vocabulary") else []
    return ["evaluate", str(folder), "--tasks", "STSB", "--text", "raw", "--json", *pooling]


def shortcoming(fault: Fault, sound: Path, parent: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """Describes the fault in the outcome of `sentbench evaluate` on a bad folder."""
    folder = shutil.copytree(sound, parent / "folder")
    fault.spoil(folder)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        code, out, problem = ending_of(command(fault.base, folder), capfd)
    taken = time.process_time() - started
    shutil.rmtree(folder)
    if taken > SECONDS:
        return f"takes {taken:.1f} s"
    if code == 0:
        json.loads(out)
        return "" if fault.may_pass else "is accepted"
    return problem


def all_faults(sound: dict[str, Path], kind: str) -> list[Fault]:
    by_folder = {"files": bad_folders.file_faults, "values": bad_folders.value_faults}
    if kind in by_folder:
        return [fault for base, folder in sound.items() for fault in by_folder[kind](base, folder)]
    return list(getattr(bad_folders, f"{kind}_faults")())


def check(
    faults: list[Fault], sound: dict[str, Path], parent: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    short = {fault.id: shortcoming(fault, sound[fault.base], parent, capfd) for fault in faults}
    wrong = [f"{name} {said}" for name, said in short.items() if said]
    assert not wrong, f"{len(wrong)} of {len(faults)}:\n" + "\n".join(wrong)


def test_every_sound_folder_is_evaluated(
    sound: dict[str, Path], work_folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for base, folder in sound.items():
        assert main(command(base, folder)) == 0, base
        output = capfd.readouterr()
        assert json.loads(output.out)["scores"]
        assert output.err == ""


@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["sample", "all"])
def test_bad_folders_are_refused_in_one_line(
    sound: dict[str, Path], work_folder: Path, capfd: pytest.CaptureFixture[str], kind: str, whole: bool
) -> None:
    faults = all_faults(sound, kind)
    check(faults if whole else random.Random(0).sample(faults, SAMPLES[kind]), sound, work_folder, capfd)


def test_a_folder_without_a_model_is_refused_without_reading_all_of_it(
    work_folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    started = time.process_time()
    assert main(command("plain", Path("/"))) == 2
    assert "/: no encoder, expected one of the files config.json" in capfd.readouterr().err
    assert time.process_time() - started < SECONDS
