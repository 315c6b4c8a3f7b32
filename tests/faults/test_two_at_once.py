"""Two processes with the same work: both succeed or one is refused; the result equals a single process's."""

import multiprocessing
import os
import re
import sys
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from harness.cli import main
from harness.data.sources import SOURCES
from tests.faults.refusals import Refusal, refusing
from tests.faults.small_project import EVALUATE, FETCH, PUBLISH, TINY, TRAIN, copy_project, write_project
from tests.faults.trees import tree_but

pytestmark = pytest.mark.slow  # fifteen projects are trained

REPORT = ["report"]
WAIT = 120
SPAWN = multiprocessing.get_context("spawn")  # a forked child would wait for threads of its parent


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_in_mirror: None) -> Path:
    """A project with the artefact and the scores of a run."""
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    folder = write_project(tmp_path / "project")
    monkeypatch.chdir(folder)
    assert main(TRAIN) == 0
    assert main(EVALUATE) == 0
    return folder


def in_child(command: list[str], project: Path, at: int, reached: Event, go_on: Event, errors: Path) -> None:
    """Runs a command that stops before its change number `at` until it may go on."""
    sys.stderr = errors.open("w")
    SOURCES["tiny"] = TINY

    def pause(path: str) -> None:
        reached.set()
        assert go_on.wait(WAIT)

    with refusing(Refusal(project, pause, at)):
        code = main(command)
    sys.stderr.flush()
    os._exit(code)


def changes_of(command: list[str], project: Path, scratch: Path) -> int:
    """Returns the number of changes that a command makes in a copy of the project."""
    copy_project(project, scratch)
    os.chdir(scratch)
    with refusing(Refusal(scratch)) as record:
        assert main(command) == 0
    os.chdir(project)
    return len(record.seen)


@pytest.mark.parametrize("share", [0.3, 0.7, 0.95])
@pytest.mark.parametrize(
    ("command", "refused"), [(TRAIN, True), (EVALUATE, True), (PUBLISH, True), (REPORT, True), (FETCH, False)]
)
def test_the_second_waits_or_is_refused_and_the_first_ends_well(
    command: list[str], refused: bool, share: float, project: Path, tmp_path: Path
) -> None:
    """The first is stopped after a share of its changes, until the second has been refused or has begun."""
    at = int(share * changes_of(command, project, tmp_path / "alone"))
    reached, go_on, always = SPAWN.Event(), SPAWN.Event(), SPAWN.Event()
    first = SPAWN.Process(target=in_child, args=(command, project, at, reached, go_on, tmp_path / "first"))
    second = SPAWN.Process(target=in_child, args=(command, project, -1, always, always, tmp_path / "second"))
    first.start()
    assert reached.wait(WAIT), (tmp_path / "first").read_text()
    second.start()
    second.join(WAIT if refused else 1)
    go_on.set()
    first.join(WAIT)
    second.join(WAIT)
    messages = (tmp_path / "second").read_text().splitlines()
    assert first.exitcode == 0, (tmp_path / "first").read_text()
    assert second.exitcode == (2 if refused else 0), messages
    if refused:
        assert len(messages) == 1
        assert re.search("already running in another process|another process is writing it", messages[0])
    hidden = (".cache", "reports/costs")
    assert tree_but(project, *hidden) == tree_but(tmp_path / "alone", *hidden)
