"""Faults of writing are injected into the project's files only."""

import sys
from pathlib import Path

import pytest

from harness.data.sources import SOURCES
from tests.faults.small_project import TINY


@pytest.fixture(autouse=True)
def no_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevents an import during a faulty write from leaving a partial cache file in the environment."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


@pytest.fixture
def tiny_in_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mirror with the small corpus `tiny`, next to the project."""
    (tmp_path / "mirror/words").mkdir(parents=True)
    (tmp_path / "mirror/words/words.txt").write_text("a dog runs\n" * 300)
    monkeypatch.setenv("SENTBENCH_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setitem(SOURCES, "tiny", TINY)
