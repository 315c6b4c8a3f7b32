"""`sentbench reproduced`: equal is equal to the last kept digit, and what differs is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli import main
from harness.commands.reproduced import compare
from harness.results.schema import ResultFile
from harness.results.store import write_result
from tests.harness.results.test_store import raw


def result(key: str, *, value: float = 0.75, encoder: str = "e") -> ResultFile:
    content = raw(key)
    content["scores"][0]["value"] = value
    content["provenance"]["encoder_sha256"] = encoder
    return ResultFile.model_validate(content)


def test_weights_and_scores_are_counted_apart_and_each_difference_is_named() -> None:
    """Of four runs one is equal, one has another score, one other weights, one is new."""
    committed = [result("a"), result("b"), result("c")]
    found = compare(
        committed, [result("a"), result("b", value=0.7500000001), result("c", encoder="f"), result("d")]
    )
    assert found[:4] == (2, 4, 2, 4)
    assert found.differences == [
        "b: STSB spearman all best-dev is 0.7500000001, committed 0.75",
        "c: other weights than the committed ones",
        "d: not committed",
    ]


def test_the_last_line_says_how_much_equals_what_is_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("reports/scores", "committed"):
        write_result(tmp_path / folder / "a.json", result("a"))
    assert main(["reproduced", "--against", "committed"]) == 0
    assert capsys.readouterr().out == (
        "reproduced: 1 of 1 encoders and 1 of 1 scores equal the committed ones\n"
    )
    assert main(["reproduced"]) == 0
    assert capsys.readouterr().out.startswith("reproduced: nothing to compare with ('HEAD' is neither")


def test_a_revision_that_was_named_and_is_not_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_result(tmp_path / "reports/scores/a.json", result("a"))
    assert main(["reproduced", "--against", "nowhere"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("sentbench: 'nowhere' is neither a folder of scores nor a git revision")
