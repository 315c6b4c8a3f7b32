"""A toy pipeline in the current folder, and launches as separate processes."""

import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.harness.launch.toy_pipeline import start_launch, write_pipeline


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Mapping[str, Any]], Path]:
    """Writes a pipeline into a folder, which is then the current one, and returns its path."""

    def write(stages: Mapping[str, Any]) -> Path:
        folder = write_pipeline(tmp_path / "toy", stages)
        monkeypatch.chdir(folder)
        return folder

    return write


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts launches, and kills the remaining ones at the end of the test."""
    processes: list[subprocess.Popen[str]] = []

    def begin(folder: Path, *words: str, **settings: Any) -> subprocess.Popen[str]:
        processes.append(start_launch(folder, *words, **settings))
        return processes[-1]

    yield begin
    for process in processes:
        process.kill()
        process.wait()
