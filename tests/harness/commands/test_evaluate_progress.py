"""What `sentbench evaluate` says on standard error while it works."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.commands.waiting import waiting
from tests.faults.small_project import write_stsb
from tests.support import tiny


def test_opening_a_model_and_encoding_are_said_while_they_take_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reading and encoding take 0.2 s here, a line comes after 0.01 s; the table is on standard output."""
    from harness.models import read
    from harness.stages import vectors

    def slowly(act: Callable[..., Any]) -> Callable[..., Any]:
        def slow(*given: Any, **options: Any) -> Any:
            time.sleep(0.2)
            return act(*given, **options)

        return slow

    write_stsb(tmp_path / "data/stsb")
    tiny.write_backbone(tmp_path / "model")
    monkeypatch.setenv("SENTBENCH_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(read, "read_encoder", slowly(read.read_encoder))
    monkeypatch.setattr(vectors, "embedded", slowly(vectors.embedded))
    monkeypatch.setattr("harness.commands.waiting.FIRST", 0.01)
    monkeypatch.setattr("harness.commands.waiting.AGAIN", 0.05)
    assert main(["evaluate", "model", "--pooling", "mean", "--tasks", "STSB", "--batch-size", "1"]) == 0
    said = capsys.readouterr()
    assert "sentbench: opening model\nsentbench: opening model, " in said.err
    assert "sentbench: model: encoding the texts of 1 task" in said.err
    assert "sentbench" not in said.out


@pytest.mark.parametrize(("terminal", "lines"), [(True, 1), (False, 3)])
def test_a_bar_on_a_terminal_is_not_interrupted_by_lines(
    terminal: bool, lines: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("harness.commands.waiting.FIRST", 0.01)
    monkeypatch.setattr("harness.commands.waiting.AGAIN", 0.02)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    with waiting("encoding", bar=True):
        time.sleep(0.5)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "sentbench: encoding"
    assert len(said) == 1 if terminal else len(said) >= lines
