"""Whatever is handed to a function of `sentbench` by mistake is an InputError in one line."""

from __future__ import annotations

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

LONG = "x" * 5000


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny encoder, a plain one and word pairs."""
    tmp_path = tmp_path_factory.mktemp("wrong")
    write_stsb(tmp_path / "data/stsb")
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    (tmp_path / "two\nlines").mkdir()
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


class NoTexts:
    def encode(self) -> None:
        pass


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


class OddPath:
    def __fspath__(self) -> bytes:
        return b"encoder"


async def asynchronous(texts: list[str]) -> Any:
    return letters(texts)


def tensor(texts: list[str]) -> torch.Tensor:
    return torch.tensor(letters(texts))


WRONG_TEXTS: dict[str, Any] = {
    "none": None,
    "one text": "a man runs",
    "a mapping": {"a": 1},
    "a set": {"a", "b"},
    "a list with none": ["a", None],
    "a list with a number": ["a", 3],
    "a lone surrogate": ["a", "b\ud800"],
    "an array of numbers": np.arange(3),
    "a function": letters,
    "a scalar array": np.array("text"),
}
WRONG_MODELS: dict[str, Any] = {
    "none": None,
    "a number": 3,
    "an array": np.ones((3, 3)),
    "a class": Model,
    "an odd path": OddPath(),
    "no words": Unspeakable(),
    "an empty path": "",
    "no folder": "nowhere",
    "a hub name": "sentence-transformers/all-MiniLM-L6-v2",
    "a file": "file",
    "an empty folder": Path("empty"),
    "a plain folder": "plain",
    "a long path": LONG,
    "a path with a zero byte": "a\0b",
    "a folder with a line break": "two\nlines",
    "a lone surrogate": "a\ud800",
    "an encode that is no function": Model(3),  # type: ignore[arg-type]
    "an encode without texts": NoTexts(),
    "a function of nothing": lambda: None,
    "asynchronous": asynchronous,
}
WRONG_ANSWERS: dict[str, Callable[[list[str]], Any]] = {
    "none": lambda texts: None,
    "a text": lambda texts: "text",
    "texts": lambda texts: list(texts),
    "one vector": lambda texts: letters(texts)[0],
    "a vector less": lambda texts: letters(texts)[1:],
    "three axes": lambda texts: letters(texts)[None],
    "no width": lambda texts: letters(texts)[:, :0],
    "ragged lists": lambda texts: [[1.0] * (1 + number) for number in range(len(texts))],
    "nan": lambda texts: letters(texts) * np.nan,
    "infinity": lambda texts: letters(texts) + np.inf,
    "truth": lambda texts: letters(texts) > 1,
    "complex": lambda texts: letters(texts) * 1j,
    "objects": lambda texts: letters(texts).astype(object),
    "a mapping": lambda texts: dict(zip(texts, letters(texts), strict=True)),
    "a generator": lambda texts: (vector for vector in letters(texts)),
    "sparse": lambda texts: scipy.sparse.csr_array(letters(texts)),
    "a sparse tensor": lambda texts: tensor(texts).to_sparse(),
    "a tensor without memory": lambda texts: tensor(texts).to("meta"),
    "tensors with a graph": lambda texts: list(tensor(texts).requires_grad_()),
}
WRONG_TASKS: dict[str, Any] = {
    "none": None,
    "a mapping": {"STSB": 1},
    "numbers": [1],
    "none in a list": ["STSB", None],
    "nothing": [],
    "an empty text": "",
    "commas": " , ,",
    "unknown": "STSBB",
    "arguments": "STSB:positive=4",
    "a lone surrogate": "STSB\ud800",
    "long": LONG,
}
WRONG_NAMES: dict[str, Any] = {
    "a number": 3,
    "a list": ["pcl/table2"],
    "empty": "",
    "unknown": "pcl/tabel2",
    "a lone surrogate": "pcl/table2\ud800",
    "up": "../pcl/table2",
}
CELL = ("una/table1", "BERT-base UNA", "Avg")
WRONG_CALLS: dict[str, Callable[[], Any]] = {
    **{
        f"encode: {name} for texts": partial(sentbench.encode, letters, wrong)
        for name, wrong in WRONG_TEXTS.items()
    },
    **{
        f"encode: {name} for a model": partial(sentbench.encode, wrong, TEXTS)
        for name, wrong in WRONG_MODELS.items()
    },
    **{
        f"evaluate: {name} for a model": partial(sentbench.evaluate, wrong, "STSB")
        for name, wrong in WRONG_MODELS.items()
    },
    **{
        f"encode answers with {name}": partial(sentbench.encode, wrong, TEXTS)
        for name, wrong in WRONG_ANSWERS.items()
    },
    **{
        f"evaluate: {name} as an answer": partial(sentbench.evaluate, Model(wrong), "STSB", text="raw")
        for name, wrong in WRONG_ANSWERS.items()
    },
    **{
        f"evaluate: {name} for tasks": partial(sentbench.evaluate, letters, wrong)
        for name, wrong in WRONG_TASKS.items()
    },
    **{
        f"evaluate: {wrong!r} for the text": partial(sentbench.evaluate, letters, "STSB", text=wrong)
        for wrong in (None, "RAW", ["raw"], "\ud800")
    },
    **{
        f"evaluate: {wrong!r} for intervals": partial(sentbench.evaluate, letters, "STSB", intervals=wrong)
        for wrong in (None, "yes", np.ones(3))
    },
    **{
        f"load: {wrong!r} for the device": partial(sentbench.load, "encoder", device=wrong)
        for wrong in ("tpu", None, torch.device("cpu"))
    },
    **{
        f"load: {wrong!r} for the pooling": partial(sentbench.load, "plain", pooling=wrong)
        for wrong in ("men", 3, "every-layer")
    },
    **{f"load: {name}": partial(sentbench.load, wrong) for name, wrong in WRONG_MODELS.items()},
    **{f"published: {name}": partial(sentbench.published, wrong) for name, wrong in WRONG_NAMES.items()},
    **{
        f"verify: {name} for {part}": partial(sentbench.verify, *CELL[:place], wrong, *CELL[place + 1 :])
        for place, part in enumerate(("table", "row", "column"))
        for name, wrong in {**WRONG_NAMES, "none": None}.items()
        if place == 0 or name not in ("up", "empty")  # a name is looked up in the whole table
    },
    **{f"results: {name}": partial(sentbench.results, wrong) for name, wrong in WRONG_NAMES.items()},
    "results: none outside a checkout": sentbench.results,
    "results: a file": partial(sentbench.results, "file"),
    "results: a broken file": partial(sentbench.results, "broken"),
    "describe: none": partial(sentbench.describe, None),  # type: ignore[arg-type]
    "describe: all that verify returns": lambda: sentbench.describe(sentbench.verify(*CELL)),  # type: ignore[arg-type]
}


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.filterwarnings("ignore:.*ComplexWarning")
@pytest.mark.parametrize("name", WRONG_CALLS)
def test_a_wrong_argument_is_an_input_error_in_one_line(folder: Path, name: str) -> None:
    with pytest.raises(sentbench.InputError) as told:
        WRONG_CALLS[name]()
    message = str(told.value)
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
    found = sentbench.evaluate(lambda texts: letters(texts) * scale, "STSB", text="raw")["value"]
    assert found.tolist() == pytest.approx(expected.tolist(), abs=1e-9)


def test_what_a_model_itself_raises_is_passed_on(folder: Path) -> None:
    def failing(texts: list[str]) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        sentbench.encode(failing, TEXTS)
