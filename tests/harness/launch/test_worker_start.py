"""A restarted stage imports no module of its current folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness import cli
from harness.launch.worker import run_in_process
from harness.process import RestartNeeded


def test_the_process_that_replaces_a_stage_takes_no_module_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The replacing command is run here, in a folder with a torch.py and an argparse.py."""
    for name in ("torch", "argparse", "yaml"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a module of the current folder ran')\n")

    def main(words: object) -> int:
        raise RestartNeeded(dict(os.environ))

    started: list[list[str]] = []
    monkeypatch.setattr(cli, "main", main)
    monkeypatch.setattr("harness.process._restarts", False)
    monkeypatch.setattr(sys, "argv", [])
    monkeypatch.setattr(os, "execve", lambda python, words, environment: started.append(words))
    run_in_process("sentbench --version")
    done = subprocess.run(started[0], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
