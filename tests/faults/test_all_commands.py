"""Every command with a bad value for every argument: one line and exit code 2 quickly, without changes."""

import os
import shutil
from pathlib import Path

import pytest

from harness.command_line import COMMANDS
from tests.faults.command_lines import Line, command_lines, write_places
from tests.faults.corruptions import ending_of
from tests.faults.small_project import ROOT, copy_project, write_project
from tests.support import tiny
from tests.support.git import commit, git

pytestmark = pytest.mark.thorough
LINES = tuple(command_lines())
SAMPLE = 61
"""One line in so many is tried in the default run."""
MAY_FIND = ("check", "compare", "data", "report", "launch")
"""Commands that end with 1 if their check fails."""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A committed project with an encoder, scores, and files that no command should touch."""
    folder = write_project(tmp_path_factory.mktemp("project") / "original")
    (folder / "methods").unlink()  # a link to this checkout, in which `sentbench new` would write
    shutil.copytree(ROOT / "methods", folder / "methods", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tests/harness/report/recorded/scores", folder / "reports/scores")
    tiny.sentence_encoder(folder / "backbones/minilm-l2").save(folder / "encoder")
    (folder / ".gitignore").write_text("/.cache\n/pipe\n")
    write_places(folder)
    commit(folder, "all")
    return folder


def fresh(original: Path, folder: Path) -> Path:
    """Makes `folder` a copy of the project, with a new pipe, because pipes cannot be copied."""
    pipe = original / "pipe"
    pipe.unlink(missing_ok=True)
    copy_project(original, folder)
    for path in (pipe, folder / "pipe"):
        os.mkfifo(path)
    return folder


class Desk:
    """A project for trying command lines, rebuilt whenever a line changed it."""

    def __init__(self, original: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.original, self.folder, self.capsys = original, fresh(original, folder), capsys

    def problem_of(self, words: tuple[str, ...]) -> str:
        """Returns the fault in the outcome of a command, empty if there is none."""
        os.chdir(self.folder)
        if words[0] == "mteb":
            pytest.importorskip("mteb")  # it takes many seconds to import
        code, _, problem = ending_of(words, self.capsys, (0, 1) if words[0] in MAY_FIND else (0,))
        changed = git(self.folder, "status", "--porcelain")
        if changed:
            os.chdir(self.folder.parent)
            fresh(self.original, self.folder)
        if code == 2 and changed:
            return f"refused, and changed {changed.splitlines()[:3]}"
        return problem


@pytest.fixture
def desk(
    original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("harness.commands.check.scoring_problems", list)  # they read the whole of STS-B
    monkeypatch.setattr("harness.commands.check.measured_runs", lambda params: [])  # they train
    return Desk(original, tmp_path / "project", capsys)


BY_COMMAND = {
    command: [line for line in LINES if " ".join(line.words).startswith(f"{command} ")]
    for command in COMMANDS
}


@pytest.mark.parametrize(
    "lines",
    [LINES[::SAMPLE], *(pytest.param(lines, marks=pytest.mark.slow) for lines in BY_COMMAND.values())],
    ids=["sample", *BY_COMMAND],
)
def test_a_bad_value_in_any_place_of_a_command_is_one_line(desk: Desk, lines: list[Line]) -> None:
    actual = ((line, desk.problem_of(line.words)) for line in lines)
    assert not [f"{line.argument}, {line.fault}: {problem}" for line, problem in actual if problem]


def test_every_argument_of_every_command_is_tried() -> None:
    assert all(len(lines) >= 2 for lines in BY_COMMAND.values())
    assert len(LINES) >= 1000
    assert len({line.fault for line in LINES}) >= 40
