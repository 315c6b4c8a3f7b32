"""`sentbench.load`, `encode` and `evaluate`: any model, one set of scores."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import sentbench
from harness.errors import InputError
from sentbench.encoders import _function_of
from tests.faults.small_project import write_stsb
from tests.support import tiny

TEXTS = ["a man runs", "the dog sleeps", "a man runs"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a tiny encoder; STS-B of eight pairs a split is among the data."""
    monkeypatch.setenv("SENTBENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    write_stsb(tmp_path / "data/stsb")
    tiny.sentence_encoder(tiny.write_backbone(tmp_path / "bert")).save(tmp_path / "encoder")
    return tmp_path / "encoder"


def letters(texts: Sequence[str]) -> np.ndarray:
    """A model that counts letters: equal texts have equal vectors."""
    return np.array([[text.count(letter) + 0.1 for letter in "abcdefghij"] for text in texts])


class Counting:
    """A model with `encode` as in sentence-transformers and a custom answer."""

    def __init__(self, answer: Any) -> None:
        self.answer, self.asked = answer, 0

    def encode(self, texts: list[str]) -> Any:
        self.asked += 1
        assert isinstance(texts, list)
        return self.answer(letters(texts))


@pytest.mark.parametrize(
    "model",
    [
        letters,
        Counting(lambda scores: scores),
        Counting(lambda scores: scores.tolist()),
        Counting(torch.tensor),
        Counting(lambda scores: torch.tensor(scores, requires_grad=True)),
    ],
    ids=["function", "array", "lists", "tensor", "tensor with a graph"],
)
def test_any_model_gives_the_same_scores(folder: Path, model: Any) -> None:
    expected = sentbench.evaluate(letters, "STSB", text="raw")
    scores = sentbench.evaluate(model, ["STSB"], text="raw")
    assert list(scores.columns) == ["task", "metric", "setting", "value", "n"]
    assert scores["value"].tolist() == pytest.approx(expected["value"].tolist(), abs=1e-6)
    assert set(scores["n"]) == {8}
    assert getattr(model, "asked", 1) == 1


def test_a_folder_its_encoder_and_sentence_transformers_score_as_the_command(
    folder: Path, printed: Callable[..., str]
) -> None:
    from sentence_transformers import SentenceTransformer

    output = printed("evaluate", str(folder), "--tasks", "STSB", "--text", "raw", "--json")
    stored = {(line["task"], line["metric"]): line["value"] for line in json.loads(output)["scores"]}
    for model in (
        folder,
        str(folder),
        sentbench.load(folder),
        SentenceTransformer(str(folder), device="cpu", trust_remote_code=False),
    ):
        frame = sentbench.evaluate(model, "STSB", text="raw")
        for row in frame.itertuples():
            assert row.value == pytest.approx(stored[row.task, row.metric], abs=2e-3)  # fp16 in the store


@pytest.mark.usefixtures("few_pairs")
def test_intervals_are_columns_and_hold_the_score(folder: Path) -> None:
    frame = sentbench.evaluate(letters, "STSB, STSB-dev", text="raw", intervals=True)
    assert list(frame.columns) == ["task", "metric", "setting", "value", "n", "low", "high"]
    assert len(frame) == 4
    assert ((frame["low"] <= frame["value"]) & (frame["value"] <= frame["high"])).all()
    alone = sentbench.evaluate(letters, "STSB", text="raw", intervals=True)
    pd.testing.assert_frame_equal(alone, frame[frame["task"] == "STSB"].reset_index(drop=True))


def test_encode_gives_one_vector_a_text_in_order(folder: Path) -> None:
    vectors = sentbench.encode(folder, TEXTS)
    assert vectors.shape == (3, sentbench.load(folder).dim)
    assert np.array_equal(vectors[0], vectors[2])


PATHS: dict[str, Callable[[Path], str]] = {
    "trailing slash": lambda folder: f"{folder}/",
    "relative": lambda folder: folder.name,
    "home": lambda folder: f"~/{folder.name}",
    "dots": lambda folder: f"{folder}/../{folder.name}",
}


@pytest.mark.parametrize("name", PATHS)
def test_a_folder_is_read_at_any_path(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    folder_path = folder.rename(folder.with_name("with a blank, ünï 你好"))
    monkeypatch.chdir(folder_path.parent)
    monkeypatch.setenv("HOME", str(folder_path.parent))
    vectors = sentbench.load(PATHS[name](folder_path)).encode(TEXTS)
    assert np.array_equal(vectors, sentbench.load(folder_path).encode(TEXTS))


NO_PLACES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a file": (lambda folder: folder / "config.json", "is a file, expected the folder of an encoder"),
    "an empty folder": (lambda folder: folder.parent / "empty", "no modules.json and no config.json"),
    "nothing": (lambda folder: "", "is not a path"),
    "no folder": (lambda folder: folder / "none", "no such folder"),
}


@pytest.mark.parametrize("name", NO_PLACES)
def test_a_folder_without_an_encoder_is_named(folder: Path, name: str) -> None:
    (folder.parent / "empty").mkdir()
    path_of, words = NO_PLACES[name]
    with pytest.raises(sentbench.InputError, match=words):
        sentbench.load(path_of(folder))


def test_a_batch_may_have_one_text_and_vectors_only_one_width() -> None:
    calls: list[int] = []

    def model(texts: list[str]) -> np.ndarray:
        calls.append(len(texts))
        return np.ones((len(texts), 2 + (texts[0] == "wide")))

    assert _function_of(model, False, 1)(["a", "b"]).shape == (2, 2)
    assert calls == [1, 1]
    with pytest.raises(InputError, match="vectors of different widths"):
        _function_of(model, False, 1)(["a", "wide"])
    with pytest.raises(InputError, match="expected an integer from 1"):
        _function_of(model, False, 0)
