"""The process of the foreign backends: its protocol, what is said without it, and bad variables."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from benchmarks.backends import ABSENT, VARIABLE, backends

from benchmarks import foreign_backends
from benchmarks.runner import Disagreement, Taken
from harness.errors import InputError

ANSWERS = """
import json, sys
print(json.dumps({"a side": "package 1.0"}), flush=True)
sets = json.loads(sys.stdin.readline())
print(len(sets), flush=True)
side = json.loads(sys.stdin.readline())
print(json.dumps([2.5, [[0.5] * len(one) for one, _ in sets]]), flush=True)
"""


@pytest.fixture
def encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a tokenizer as version 5 names it; the process is this Python."""
    monkeypatch.setenv(VARIABLE, sys.executable)
    folder = tmp_path / "encoder"
    folder.mkdir()
    (folder / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "TokenizersBackend"}', encoding="utf-8"
    )
    return folder


def played_by(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "script.py"
    script.write_text(text, encoding="utf-8")
    monkeypatch.setattr(foreign_backends, "__file__", str(script))


def test_a_side_answers_with_its_own_seconds_and_cosines(
    encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played_by(ANSWERS, tmp_path, monkeypatch)
    with backends(encoder, 64) as found:
        assert found is not None
        assert found.software == {"a side": "package 1.0"}
        assert found.cosines("a side", [(["x", "y"], ["z", "w"])]) == Taken(2.5, [[0.5, 0.5]])


def test_the_process_gets_a_copy_with_the_older_name_of_the_tokenizer(
    encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import json, pathlib, sys; f = pathlib.Path(sys.argv[1]) / 'tokenizer_config.json'\n"
    played_by(text + "print(json.dumps(json.loads(f.read_text())), flush=True)", tmp_path, monkeypatch)
    with backends(encoder, 64) as found:
        assert found is not None
        assert found.software == {"tokenizer_class": "PreTrainedTokenizerFast"}
    assert "TokenizersBackend" in (encoder / "tokenizer_config.json").read_text(encoding="utf-8")


def test_a_process_that_ends_early_stops_the_benchmark(
    encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played_by("", tmp_path, monkeypatch)
    with pytest.raises(Disagreement, match="ended early"), backends(encoder, 64):
        pass


def test_without_the_variable_one_line_says_so_and_a_wrong_one_is_refused(
    encoder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "/no/such/python")
    with pytest.raises(InputError, match="no such program"), backends(encoder, 64):
        pass
    monkeypatch.delenv(VARIABLE)
    with backends(encoder, 64) as found:
        assert found is None
    assert capsys.readouterr().out == ABSENT + "\n"
