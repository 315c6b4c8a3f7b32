"""The file system refuses each write of each command in turn: one line, exit code 2, no partial files.

A command is run once to record its changes, then once for each change and each error. After any failure old
files are complete, and new files are complete or absent. A hidden file stays only if removing it failed.
"""

import errno
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.cli import main
from tests.faults.refusals import REMOVALS, Refusal, error, files_up_to, refusing
from tests.faults.small_project import EVALUATE, FETCH, PUBLISH, TRAIN, copy_project, write_project
from tests.faults.trees import tree, tree_but

pytestmark = pytest.mark.thorough
ERRORS = {"full": errno.ENOSPC, "read-only": errno.EROFS, "forbidden": errno.EACCES}


class Case(NamedTuple):
    """A command, and the commands that must run before it."""

    command: list[str]
    before: tuple[list[str], ...] = ()


CASES = {
    "train": Case(TRAIN),
    "train again": Case(TRAIN, before=(TRAIN,)),
    "evaluate": Case(EVALUATE, before=(TRAIN,)),
    "evaluate again": Case(EVALUATE, before=(TRAIN, EVALUATE)),
    "publish": Case(PUBLISH, before=(TRAIN, EVALUATE)),
    "publish again": Case(PUBLISH, before=(TRAIN, EVALUATE, PUBLISH)),
    "report": Case(["report"], before=(TRAIN, EVALUATE)),
    "report again": Case(["report"], before=(TRAIN, EVALUATE, ["report"])),
    "data fetch": Case(FETCH),
}
ALL = [pytest.param(name, 1, marks=pytest.mark.slow) for name in CASES]
"""Every case with each of its changes; the default run takes one in so many of some."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Returns the project of a case before the command; each is built once."""
    made: dict[str, Path] = {}
    base = tmp_path_factory.mktemp("prepared")

    def prepare(name: str) -> Path:
        if name not in made:
            if "" not in made:
                made[""] = write_project(base / "bare")
            made[name] = copy_project(made[""], base / name.replace(" ", "-"))
            os.chdir(made[name])
            for command in CASES[name].before:
                assert main(command) == 0
        return made[name]

    return prepare


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_in_mirror: None) -> Path:
    """The folder in which the commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "project"


def attempt(project: Path, original: Path, command: list[str], refusal: Refusal | None = None) -> int:
    """Runs the command in a fresh copy of the project, as a new process would; returns its exit code."""
    os.chdir("/")
    copy_project(original, project)
    os.chdir(project)
    if refusal is None:
        return main(command)
    with refusing(refusal):
        return main(command)


def results(project: Path) -> dict[str, Any]:
    """Returns the project's files except the resume state, locks and logs of time."""
    return tree_but(project, ".cache", "reports/costs")


def visible(actual: dict[str, Any]) -> dict[str, Any]:
    """Returns the files and links that no part of the path hides."""
    return {
        name: value
        for name, value in actual.items()
        if value is not None and not any(part.startswith(".") for part in name.split("/"))
    }


def check_outcome(
    project: Path,
    original: Path,
    whole: dict[str, Any],
    code: int,
    printed: str,
    capsys: pytest.CaptureFixture[str],
    *,
    hidden: bool,
) -> None:
    """Asserts that a command succeeded, or failed in one line without changes."""
    messages = capsys.readouterr().err.strip().splitlines()
    problems = [line for line in messages if not line.startswith("step ")]
    actual, before = results(project), results(original)
    if code == 0:
        assert visible(actual) == visible(whole), printed
        return
    assert code == 2, (printed, messages)
    assert len(problems) == 1, (printed, messages)
    assert problems[0].startswith("sentbench: "), printed
    assert visible(actual) == visible(before), printed
    if not hidden:
        assert not [name for name in actual if name.endswith(".part")], printed


def changes_of(
    name: str, prepared: Callable[[str], Path], project: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[Path, list[tuple[str, str]], dict[str, Any]]:
    """Returns a case's project before it, the changes that its command makes, and the project after it."""
    original = prepared(name)
    attempt(project, original, CASES[name].command)  # a process does some work once
    record = Refusal(project)
    code = attempt(project, original, CASES[name].command, record)
    assert code == 0, capsys.readouterr().err
    capsys.readouterr()
    return original, record.seen, results(project)


@pytest.mark.parametrize(("name", "share"), [("evaluate again", 12), ("data fetch", 1), *ALL])
def test_a_refused_change_leaves_the_previous_state(
    name: str, share: int, prepared: Callable[[str], Path], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original, changes, whole = changes_of(name, prepared, project, capsys)
    assert len(changes) > 5
    for number, (kind, code) in enumerate(ERRORS.items()):
        for at in range(number % share, len(changes), share):
            refusal = Refusal(project, error(code), at)
            ended = attempt(project, original, CASES[name].command, refusal)
            assert len(refusal.seen) > at
            event, path = refusal.seen[at]
            printed = f"{name}: {kind} at change {at}, {event} of {path}"
            check_outcome(project, original, whole, ended, printed, capsys, hidden=event in REMOVALS)


def interrupt(path: str) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("name", "share"), [("evaluate again", 12), ("publish again", 12), ("train again", 12), *ALL]
)
def test_an_interrupted_command_leaves_all_of_its_outputs_old_or_all_new(
    name: str, share: int, prepared: Callable[[str], Path], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C before any change of any writing command; `visible` has every output of it."""
    original, changes, whole = changes_of(name, prepared, project, capsys)
    before = visible(results(original))
    for at in range(0, len(changes), share):
        with suppress(KeyboardInterrupt):
            attempt(project, original, CASES[name].command, Refusal(project, interrupt, at))
        capsys.readouterr()
        assert visible(results(project)) in (before, visible(whole)), (at, changes[at])


def sizes(project: Path, original: Path) -> list[int]:
    """Returns the sizes of the files that a command wrote, each once; a copy of a project keeps its times."""
    actual = set()
    for path in project.rglob("*"):
        if path.is_file() and not path.is_symlink():
            before = original / path.relative_to(project)
            if not before.is_file() or before.stat().st_mtime_ns != path.stat().st_mtime_ns:
                actual.add(path.stat().st_size)
    return sorted(actual)


@pytest.mark.parametrize(("name", "share"), [("train", 3), ("publish", 3), ("data fetch", 3), *ALL])
def test_a_disk_that_fills_in_the_middle_of_a_file_leaves_the_previous_state(
    name: str, share: int, prepared: Callable[[str], Path], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original, _, whole = changes_of(name, prepared, project, capsys)
    limits = [size - 1 for size in sizes(project, original) if size][::share]
    assert limits
    for limit in limits:
        copy_project(original, project)
        os.chdir(project)
        with files_up_to(limit):
            code = main(CASES[name].command)
        printed = f"{name}: files up to {limit} bytes"
        check_outcome(project, original, whole, code, printed, capsys, hidden=False)
        assert code == 2, printed


@pytest.mark.parametrize(("name", "folder"), [("evaluate", "reports"), ("data fetch", "data")])
def test_a_folder_that_vanishes_is_one_line_or_made_again(
    name: str, folder: str, prepared: Callable[[str], Path], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A vanished folder causes no traceback, no partial output and no other exit code."""
    original, changes, whole = changes_of(name, prepared, project, capsys)

    def vanish(path: str) -> None:
        shutil.rmtree(project / folder, ignore_errors=True)

    for at in range(0, len(changes), 5):
        code = attempt(project, original, CASES[name].command, Refusal(project, vanish, at))
        messages = capsys.readouterr().err.strip().splitlines()
        assert code in (0, 2), (at, messages)
        assert code == 0 or len(messages) == 1, (at, messages)
        for path, value in visible(results(project)).items():
            assert value in (whole.get(path), tree(original).get(path)), (at, path)
