"""Real data: the batched solver gives the accuracies of the plain loop, digit for digit; sets run whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.transfer import sides_of
from harness.tasks.registry import build_tasks
from harness.tasks.reranking import RerankingTask, bm25_scores
from tests.harness.tasks.word_vectors import encode_words


@pytest.fixture(autouse=True)
def data_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTBENCH_DATA", str(tmp_path))


@pytest.mark.mirror
@pytest.mark.slow
@pytest.mark.parametrize("task", ["TREC", "MRPC", "CR"])
def test_accuracies_equal_those_of_the_plain_loop(task: str, mirror: Path) -> None:
    """TREC and MRPC whole, CR for its first outer fold; dev and test accuracy to the second decimal."""
    plain, batched = sides_of(task)
    assert plain() == batched()


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
