"""Any wrong argument of a function of `sentbench` is a one-line InputError."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import torch

import sentbench
from tests.faults.small_project import write_stsb
from tests.sentbench.test_encoders import TEXTS, letters
from tests.support import tiny


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny encoder, a plain one and word pairs."""
    tmp_path = tmp_path_factory.mktemp("wrong")
    write_stsb(tmp_path / "data/stsb")
    (tmp_path / "file").write_text("x")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/run.json").write_text("[" * 200_000)
    tiny.sentence_encoder(tiny.write_backbone(tmp_path / "plain")).save(tmp_path / "encoder")
    return tmp_path


@pytest.fixture
def folder(written: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder; it is no checkout."""
    monkeypatch.setenv("SENTBENCH_DATA", str(written / "data"))
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    monkeypatch.chdir(written)
    return written


class Model:
    """A model that answers as it is told; without an answer it has no `encode` that takes texts."""

    def __init__(self, answer: Callable[[list[str]], Any]) -> None:
        self.encode = answer


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


async def asynchronous(texts: list[str]) -> Any:
    return letters(texts)


def tensor(texts: list[str]) -> torch.Tensor:
    return torch.tensor(letters(texts))


def by_name(*values: Any) -> dict[str, Any]:
    return {repr(value): value for value in values}


WRONG_TEXTS: dict[str, Any] = {
    "none": None,
    "one text": "a man runs",
    "a set": {"a", "b"},
    "a list with none": ["a", None],
    "a lone surrogate": ["a", "b\ud800"],
    "a scalar array": np.array("text"),
}
WRONG_MODELS: dict[str, Any] = {
    "none": None,
    "a number": 3,
    "no words": Unspeakable(),
    "no folder": "nowhere",
    "a hub name": "sentence-transformers/all-MiniLM-L6-v2",
    "a plain folder": "plain",
    "a path with a zero byte": "a\0b",
    "a lone surrogate": "a\ud800",
    "a function of nothing": lambda: None,
    "asynchronous": asynchronous,
}
WRONG_ANSWERS: dict[str, Callable[[list[str]], Any]] = {
    "none": lambda texts: None,
    "a text": lambda texts: "text",
    "a vector less": lambda texts: letters(texts)[1:],
    "no width": lambda texts: letters(texts)[:, :0],
    "ragged lists": lambda texts: [[1.0] * (1 + number) for number in range(len(texts))],
    "nan": lambda texts: letters(texts) * np.nan,
    "complex": lambda texts: letters(texts) * 1j,
    "sparse": lambda texts: scipy.sparse.csr_array(letters(texts)),
    "a tensor without memory": lambda texts: tensor(texts).to("meta"),
}
WRONG_TASKS: dict[str, Any] = {
    "none": None,
    "a mapping": {"STSB": 1},
    "none in a list": ["STSB", None],
    "commas": " , ,",
    "unknown": "STSBB",
    "arguments": "STSB:positive=4",
    "long": "x" * 5000,
}
WRONG_NAMES: dict[str, Any] = {
    "a number": 3,
    "unknown": "pcl/tabel2",
    "a lone surrogate": "pcl/table2\ud800",
    "up": "../pcl/table2",
}
CELL = ("una/table1", "BERT-base UNA", "Avg")
TRIED: dict[str, tuple[Callable[[Any], Any], dict[str, Any]]] = {
    "texts of encode": (partial(sentbench.encode, letters), WRONG_TEXTS),
    "model of encode": (lambda wrong: sentbench.encode(wrong, TEXTS), WRONG_MODELS),
    "model of evaluate": (lambda wrong: sentbench.evaluate(wrong, "STSB"), WRONG_MODELS),
    "folder of load": (sentbench.load, WRONG_MODELS),
    "model of compare": (lambda wrong: sentbench.compare(letters, wrong, "STSB"), WRONG_MODELS),
    "answer to encode": (lambda wrong: sentbench.encode(wrong, TEXTS), WRONG_ANSWERS),
    "answer to evaluate": (lambda wrong: sentbench.evaluate(Model(wrong), "STSB", text="raw"), WRONG_ANSWERS),
    "tasks": (partial(sentbench.evaluate, letters), WRONG_TASKS),
    "text": (lambda wrong: sentbench.evaluate(letters, "STSB", text=wrong), by_name(None, "RAW", ["raw"])),
    "intervals": (lambda wrong: sentbench.evaluate(letters, "STSB", intervals=wrong), by_name(None, "yes")),
    "device": (lambda wrong: sentbench.load("encoder", device=wrong), by_name("tpu")),
    "pooling": (lambda wrong: sentbench.load("plain", pooling=wrong), by_name("men", 3)),
    "table of published": (sentbench.published, WRONG_NAMES),
    "system of evidence": (sentbench.evidence, WRONG_NAMES),
    "table of verify": (lambda wrong: sentbench.verify(wrong, *CELL[1:]), {**WRONG_NAMES, "none": None}),
    "row of verify": (lambda wrong: sentbench.verify(CELL[0], wrong, CELL[2]), by_name(3, "UNO")),
    "column of verify": (lambda wrong: sentbench.verify(*CELL[:2], wrong), by_name(3, "Average")),
    "folder of results": (sentbench.results, {**WRONG_NAMES, **by_name(None, "file", "broken")}),
    "what is described": (sentbench.describe, {"none": None, "a list": []}),
}
WRONG_CALLS = {
    f"{what}: {name}": partial(call, wrong)
    for what, (call, values) in TRIED.items()
    for name, wrong in values.items()
}


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.filterwarnings("ignore:.*ComplexWarning")
@pytest.mark.parametrize("name", WRONG_CALLS)
def test_a_wrong_argument_is_an_input_error_in_one_line(folder: Path, name: str) -> None:
    with pytest.raises(sentbench.InputError) as refusal:
        WRONG_CALLS[name]()
    message = str(refusal.value)
    assert len(message.splitlines()) == 1
    assert message.encode()  # can be reported


@pytest.mark.parametrize(
    "texts",
    [TEXTS, tuple(TEXTS), iter(TEXTS), np.array(TEXTS)],
    ids=["list", "tuple", "iterator", "array"],
)
def test_any_ordered_iterable_of_texts_is_encoded(texts: Any) -> None:
    assert np.array_equal(sentbench.encode(letters, texts), letters(TEXTS))


@pytest.mark.parametrize("scale", [1e10, 1e-10, 1e-40])
def test_scores_do_not_depend_on_the_size_of_vectors(folder: Path, scale: float) -> None:
    expected = sentbench.evaluate(letters, "STSB", text="raw")["value"]
    scores = sentbench.evaluate(lambda texts: letters(texts) * scale, "STSB", text="raw")["value"]
    assert scores.tolist() == pytest.approx(expected.tolist(), abs=1e-9)
