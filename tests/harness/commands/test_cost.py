"""The cost command: figures of a tiny encoder that can be counted."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.tasks.evaluation import unique_texts
from harness.tasks.registry import build_tasks
from methods.core.folders import load_encoder
from tests.harness.test_cli import project

__all__ = ["project"]


def test_the_cost_of_an_encoder_is_printed_and_nothing_is_written(
    project: Path, printed: Callable[..., str]
) -> None:
    command = ["cost", "encoder", "--rounds", "3", "--device", "cpu"]
    found = json.loads(printed(*command))
    encoder = load_encoder(project / "encoder")
    texts = unique_texts(build_tasks(["STSB"], text="senteval"))
    assert found["parameters"] == sum(weight.numel() for weight in encoder.parameters())
    assert (found["sentences"], found["rounds"], found["dim"]) == (len(texts), 3, 16)
    assert (found["device"], found["task"], found["batch_size"]) == ("cpu", "STSB", 128)
    tokens = sum(map(len, encoder.token_ids(texts)))
    assert found["tokens_per_second"] == pytest.approx(found["sentences_per_second"] * tokens / len(texts))
    assert not Path("reports").exists()
    assert json.loads(printed(*command, "--limit", "5"))["sentences"] == 5
