"""Answers of models: converted, or refused with the reason."""

import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import sentbench
from tests.support import tiny

TEXTS = ["a man runs", "the dog sleeps", "a cat", "three houses"]
ROWS = np.random.default_rng(0).normal(size=(len(TEXTS), 32)).astype(np.float32)
TENSOR = torch.from_numpy(ROWS)

READ: dict[str, Callable[[], Any]] = {
    "list of tensors with graphs": lambda: list(TENSOR.clone().requires_grad_() * 1),
    "list of bfloat16 tensors": lambda: list(TENSOR.bfloat16()),
    "tuple of tensors": lambda: tuple(TENSOR),
    "bfloat16 tensor": lambda: TENSOR.bfloat16(),
    "float8 tensor": lambda: TENSOR.to(torch.float8_e4m3fn),
    "frame": lambda: pd.DataFrame(ROWS),
    "memory": lambda: memoryview(ROWS),
    "rows of a map": lambda: map(list, ROWS),
    "lists as objects": lambda: np.array([*map(list, ROWS)], dtype=object),
    "column of arrays": lambda: pd.Series(list(ROWS)),
    "generator": lambda: (row for row in ROWS),
    "rows as objects": lambda: ROWS.astype(object),
    "masked array without a mask": lambda: np.ma.masked_array(ROWS),
}
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "sparse tensor": (lambda: TENSOR.to_sparse(), "sparse tensor"),
    "sparse rows": (lambda: list(TENSOR.to_sparse()), "sparse tensor"),
    "sparse matrix": (lambda: __import__("scipy.sparse").sparse.csr_matrix(ROWS), "sparse vectors"),
    "several vectors": (lambda: [ROWS[:2]] * len(TEXTS), "several vectors"),
    "vectors and their tokens": (lambda: (ROWS, [1, 2, 3, 4]), "several results"),
    "numbers": (lambda: [np.float32(1)] * len(TEXTS), r"shape \[4\] for 4 texts"),
    "too few": (lambda: ROWS[:3], r"shape \[3, 32\] for 4 texts"),
    "quantised tensor": (lambda: torch.quantize_per_tensor(TENSOR, 0.1, 0, torch.qint8), "QInt8"),
    "frame with names": (
        lambda: pd.DataFrame({"text": TEXTS, "a": ROWS[:, 0]}),
        "expected an array of numbers",
    ),
    "dictionary": (lambda: {"dense_vecs": ROWS, "lexical_weights": []}, "dense_vecs, lexical_weights"),
    "masked array": (lambda: np.ma.masked_less(ROWS, 0), "masked numbers"),
    "tensor without numbers": (lambda: TENSOR.to("meta"), "not an array"),
    "truths": (lambda: ROWS > 0, "expected an array of numbers"),
    "nothing": (lambda: None, "expected an array of numbers"),
}


@pytest.mark.parametrize("name", READ)
def test_an_answer_of_any_library_is_read(name: str) -> None:
    scores = sentbench.encode(lambda texts: READ[name](), TEXTS)
    np.testing.assert_allclose(scores.astype(np.float32), ROWS, atol=0.2 if "float8" in name else 0.02)


def test_vectors_keep_double_precision_in_a_tensor_as_in_an_array() -> None:
    exact = np.random.default_rng(0).normal(size=(len(TEXTS), 32))
    for answer in (exact, torch.from_numpy(exact), list(torch.from_numpy(exact))):
        assert np.array_equal(sentbench.answers.array_of(answer), exact)


@pytest.mark.parametrize("name", REFUSED)
def test_another_answer_is_named(name: str) -> None:
    answer, words = REFUSED[name]
    with pytest.raises(sentbench.InputError, match=words):
        sentbench.encode(lambda texts: answer(), TEXTS)


@pytest.mark.parametrize("precision", ["int8", "uint8", "binary", "ubinary"])
def test_quantised_numbers_are_read_with_a_warning_and_packed_bits_are_refused(precision: Any) -> None:
    from sentence_transformers.util import quantize_embeddings

    many = np.random.default_rng(0).normal(size=(400, 128)).astype(np.float32)
    quantised = quantize_embeddings(many, precision=precision)
    texts = [str(number) for number in range(400)]
    model = SimpleNamespace(encode=lambda _: quantised, get_embedding_dimension=lambda: 128)
    if precision.endswith("int8"):
        with pytest.warns(UserWarning, match="8-bit integers"):
            assert np.array_equal(sentbench.encode(model, texts), quantised)
        return
    with pytest.raises(sentbench.InputError, match="16 bytes for vectors of width 128: packed") as refusal:
        sentbench.encode(model, texts)
    advice = str(refusal.value).split("unpack them: ")[1]
    unpacked = eval(advice, {"np": np, "vectors": np.asarray(quantised)})
    assert np.array_equal(unpacked, many > 0)


@pytest.mark.parametrize("batch_size", [None, 2])
def test_packed_bits_of_a_model_with_a_width_are_refused_with_every_batch_size(
    batch_size: int | None,
) -> None:
    class Packed:
        def encode(self, texts: list[str], batch_size: int = 32) -> np.ndarray:
            return np.ones((len(texts), 16), np.uint8)

        def get_embedding_dimension(self) -> int:
            return 128

    own = sentbench.pairs([("a", "b", 1), ("c", "d", 2), ("e", "f", 3)], name="own")
    with pytest.raises(sentbench.InputError, match="16 bytes for vectors of width 128: packed"):
        sentbench.evaluate(Packed(), [own], batch_size=batch_size)


def test_bytes_of_a_function_without_a_known_width_are_numbers_with_a_warning() -> None:
    with pytest.warns(UserWarning, match=r"np\.unpackbits first"):
        assert sentbench.encode(lambda texts: np.ones((len(texts), 16), np.uint8), ["a", "b"]).shape == (
            2,
            16,
        )


class OfMteb:
    def encode(self, inputs: Any, *, task_metadata: Any, hf_split: str, **options: Any) -> Any: ...


class OfMtebsFirst:
    def encode(self, sentences: Any, task_name: str, **options: Any) -> Any: ...


class Keywords:
    def encode(self, *, sentences: Any) -> Any: ...


class Later:
    async def encode(self, texts: Any) -> Any: ...


class Cross:
    def predict(self, pairs: Any) -> Any: ...


CALLS = [
    (OfMteb(), "needs inputs, task_metadata, hf_split"),
    (OfMtebsFirst(), "needs sentences, task_name"),
    (Keywords(), "needs sentences"),
    (Later(), "asynchronous"),
    (Cross(), "predict, which takes pairs"),
    (Cross, "is a class"),
]


@pytest.mark.parametrize(("model", "words"), CALLS, ids=lambda value: str(value)[:20])
def test_a_model_with_another_interface_is_refused_with_the_reason(model: Any, words: str) -> None:
    with pytest.raises(sentbench.InputError, match=words):
        sentbench.encode(model, TEXTS)


def test_the_session_is_as_before_and_threads_load_at_once(tmp_path: Path) -> None:
    from transformers.utils import logging

    folder = tiny.write_backbone(tmp_path / "bert")
    logging.set_verbosity_warning()
    logging.enable_progress_bar()
    before = logging.get_verbosity(), logging.is_progress_bar_enabled(), torch.get_rng_state()
    expected, actual = sentbench.load(folder, pooling="mean").encode(TEXTS), dict[int, np.ndarray]()

    def work(number: int) -> None:
        actual[number] = sentbench.load(folder, pooling="mean").encode(TEXTS)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(actual) == 4
    assert all(np.array_equal(vectors, expected) for vectors in actual.values())
    after = logging.get_verbosity(), logging.is_progress_bar_enabled(), torch.get_rng_state()
    assert before[:2] == after[:2]
    assert torch.equal(before[2], after[2])
