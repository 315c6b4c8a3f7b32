"""A launch in a project whose state was damaged: by a killed process, by hand, or by a full disk."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.launch import pipeline
from tests.harness.launch.toy_pipeline import repro, runs, stage

Toy = Callable[[dict[str, Any]], Path]
USED = json.dumps({"read": {}, "write": {}})


@pytest.mark.parametrize("content", ["", "{", "[]", '{"write": {"a": 1}}', "\x00" * 20])
@pytest.mark.parametrize("words", [[], ["--dry-run"]])
def test_an_unreadable_list_of_used_paths_is_removed_with_a_line(
    toy: Toy, content: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = toy({"a": stage("a")})
    damaged = folder / ".dvc/tmp/rwlock"
    damaged.parent.mkdir(parents=True, exist_ok=True)
    damaged.write_text(content)
    assert main(["launch", *words]) == 0
    errors = capsys.readouterr().err
    assert "sentbench: removed .dvc/tmp/rwlock, which a killed process left damaged\n" in errors
    assert repro(folder) == ([] if not words else ["a"])


def test_a_readable_list_of_used_paths_stays(toy: Toy, capsys: pytest.CaptureFixture[str]) -> None:
    folder = toy({"a": stage("a")})
    (folder / ".dvc/tmp").mkdir(parents=True, exist_ok=True)
    (folder / ".dvc/tmp/rwlock").write_text(USED)
    assert main(["launch", "--dry-run"]) == 0
    assert "removed" not in capsys.readouterr().err
    assert (folder / ".dvc/tmp/rwlock").is_file()


def test_an_empty_lock_file_is_one_line_with_the_command_that_restores_it(
    toy: Toy, refused: Callable[..., str]
) -> None:
    toy({"a": stage("a")})
    Path("dvc.lock").write_text("")
    assert refused("launch", "--dry-run").endswith("; `git checkout dvc.lock` restores it")


@pytest.mark.parametrize("part", ["deps", "outs", "params"])
@pytest.mark.parametrize("value", ["true", "3", "null"])
def test_a_value_in_params_that_is_no_text_is_one_line(
    toy: Toy, refused: Callable[..., str], value: str, part: str
) -> None:
    toy({"a": {"cmd": "true", part: ["${backbone}"]}})
    Path("params.yaml").write_text(f"backbone: {value}\n")
    said = "params.yaml: a value that dvc.yaml reads is no text; `sentbench list runs` names the first one"
    assert said in refused("launch", "--dry-run")


def test_a_fault_of_the_code_is_not_told_as_one_of_params(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: object) -> None:
        raise AttributeError("a fault")

    toy({"a": stage("a")})
    monkeypatch.setattr(pipeline.Pipeline, "__init__", broken)
    with pytest.raises(AttributeError, match="a fault"), pipeline.open_pipeline():
        pass


def test_a_log_that_cannot_be_written_is_the_reason_of_the_failure(
    toy: Toy, capfd: pytest.CaptureFixture[str]
) -> None:
    """Not the last line of an earlier log."""
    folder = toy({"a": stage("a")})
    (folder / ".cache").mkdir(exist_ok=True)
    (folder / ".cache/launch").write_text("in the way")
    assert main(["launch"]) != 0
    printed = "".join(capfd.readouterr())
    assert ".cache/launch" in printed
    assert "exists" in printed or "Not a directory" in printed
    assert runs(folder) == []
