"""Real data: inference and re-ranking sets run whole."""

import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from harness.tasks.registry import build_tasks
from harness.tasks.reranking import RerankingTask, bm25_scores


@cache
def word_vector(word: str, width: int) -> np.ndarray:
    """A random vector keyed by the word's spelling."""
    return np.random.default_rng(zlib.crc32(word.encode())).standard_normal(width).astype(np.float32)


def encode_words(texts: Sequence[str], width: int) -> np.ndarray:
    """Returns the mean vector of each text's words, [N, width] fp32; zero without words."""
    zero = np.zeros((1, width), np.float32)
    return np.array(
        [np.mean([word_vector(w, width) for w in text.split()] or zero, axis=0) for text in texts]
    )


@pytest.fixture(autouse=True)
def data_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTBENCH_DATA", str(tmp_path))


@pytest.mark.mirror
def test_inference_sets_run_on_word_vectors(mirror: Path) -> None:
    """Above the majority share, below a perfect score; SNLI says that its training part is reduced."""
    settings = {"SICK-E": "senteval", "SNLI": "senteval/reduced-train"}
    for name, setting in settings.items():
        (task,) = build_tasks([name], text="senteval")
        score = task.evaluate(lambda texts: encode_words(texts, 64))[0]
        assert score.setting == setting
        assert 0.36 < score.value < 0.9
        assert score.n == {"SICK-E": 4927, "SNLI": 9824}[name]


@pytest.mark.mirror
def test_trecqa_orders_constant_vectors_word_vectors_and_bm25(mirror: Path) -> None:
    (task,) = build_tasks(["TRECQA"], text="raw")
    assert isinstance(task, RerankingTask)
    constant = task.evaluate(lambda texts: np.ones((len(texts), 4)))[0]
    words = task.evaluate(lambda texts: encode_words(texts, 256))[0]
    bm25 = bm25_scores(task)[0]
    assert (constant.metric, constant.n) == ("map", 68)
    assert constant.value < words.value < bm25.value < 1
