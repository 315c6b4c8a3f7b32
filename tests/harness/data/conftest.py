"""Small sources in every provider, built in a temporary folder that is also the working folder."""

import runpy
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.data import providers
from harness.data.sources import SOURCES, Source
from tests.harness.data.small_sources import TEXT, Declare
from tests.support.hub_server import Hub, reached
from tests.support.sources import made_up_source


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in a clean environment without variables that name other folders."""
    for name in ("SENTBENCH_MIRROR", "SENTBENCH_HUB", "SENTBENCH_PROVIDERS", "SENTBENCH_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text("plan: [small]\n")
    return tmp_path


@pytest.fixture
def declare(monkeypatch: pytest.MonkeyPatch) -> Declare:
    """Adds a source named `tiny` to the table; its one file `words.txt` has three lines unless told."""

    def add(providers: Mapping[str, Any], **changes: Any) -> Source:
        source = made_up_source(providers, **changes)
        monkeypatch.setitem(SOURCES, "tiny", source)
        return source

    return add


@pytest.fixture
def mirrored(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror with words/words.txt."""
    (workspace / "mirror" / "words").mkdir(parents=True)
    (workspace / "mirror" / "words" / "words.txt").write_bytes(TEXT)
    monkeypatch.setenv("SENTBENCH_MIRROR", str(workspace / "mirror"))
    return workspace / "mirror"


@pytest.fixture
def server(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub that is reached, with an empty cache."""
    with reached(monkeypatch, workspace / "client") as hub:
        yield hub


PICKLED = "harness.models.pickled"


@pytest.fixture
def pickles_read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module that reads pickles runs in the process of the tests, where torch is loaded.

    test_hub_sources.py has tests with a separate process.
    """
    start = subprocess.run

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        if PICKLED not in command:
            return start(command, **options)
        assert options["capture_output"]
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(sys, "argv", command[command.index(PICKLED) :])
            patched.delitem(sys.modules, PICKLED, raising=False)
            try:
                runpy.run_module(PICKLED, run_name="__main__")
            except SystemExit as ended:
                return subprocess.CompletedProcess(command, 1, "", f"{ended.code}\n")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(providers, "subprocess", SimpleNamespace(run=run))
