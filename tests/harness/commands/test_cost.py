"""The cost command: figures of a tiny encoder that can be counted, and where they are kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.tasks.evaluation import unique_texts
from harness.tasks.registry import build_tasks
from methods.core.folders import load_encoder
from tests.faults.small_project import write_stsb
from tests.support import tiny


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny encoder next to eight pairs of STS-B a split."""
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    monkeypatch.chdir(tmp_path)
    write_stsb(tmp_path / "data/stsb")
    tiny.sentence_encoder(tiny.write_backbone(tmp_path / "bert")).save(tmp_path / "encoder")
    return Path("encoder")


def test_cost_prints_what_was_measured_and_on_what(folder: Path, printed: Callable[..., str]) -> None:
    command = ["cost", str(folder), "--rounds", "3", "--device", "cpu"]
    found = json.loads(printed(*command))
    encoder = load_encoder(folder)
    texts = unique_texts(build_tasks(["STSB"], text="senteval"))
    assert found["parameters"] == sum(weight.numel() for weight in encoder.parameters())
    assert (found["sentences"], found["rounds"], found["dim"]) == (len(texts), 3, 16)
    assert (found["device"], found["task"], found["batch_size"]) == ("cpu", "STSB", 128)
    tokens = sum(map(len, encoder.token_ids(texts)))
    assert found["tokens_per_second"] == pytest.approx(found["sentences_per_second"] * tokens / len(texts))
    assert not Path("reports").exists()


def test_a_limit_encodes_only_the_first_sentences(folder: Path, printed: Callable[..., str]) -> None:
    command = ["cost", str(folder), "--rounds", "1", "--limit", "5", "--device", "cpu"]
    assert json.loads(printed(*command))["sentences"] == 5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rounds", "1000000000"], "expected at most 1000"),
        (["--limit", "0"], "expected 1 or more"),
    ],
)
def test_nothing_to_measure_is_one_line(
    options: list[str], said: str, folder: Path, refused: Callable[..., str]
) -> None:
    assert said in refused("cost", str(folder), *options)
