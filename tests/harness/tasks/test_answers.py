"""Answers and rows that no task can score, and what a score is computed over, in any task."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.data.reranking import RankingQuery
from harness.errors import InputError, NoScoreError
from harness.tasks import classifier
from harness.tasks.evaluation import encode_unique, evaluate_stored
from harness.tasks.geometry import alignment, anisotropy, share_above, uniformity
from harness.tasks.interface import Score
from harness.tasks.logistic import SENTEVAL
from harness.tasks.own_pairs import entries_of, own_pairs_task
from harness.tasks.registry import SUITES
from harness.tasks.reranking import RerankingTask, bm25_scores, ranking_metrics, ranking_scores
from harness.tasks.transfer import DATA_SETS, ClassificationTask
from tests.harness.tasks.layouts import LAYOUTS, declared_task


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([["a"], ["b"]], "must return one array of numbers"),
        ([[1.0], [1.0, 2.0]], "must return one array of numbers"),
        (np.array([["1"], ["2"]], dtype=object), "must return one array of numbers"),
        (np.ones((2, 3), dtype=bool), "must return one array of numbers"),
        (np.ones((2, 3), dtype=complex), "must return one array of numbers"),
        (np.ones(2), r"returned an array of shape \[2\] for 2 texts; expected \[2, d\]"),
        (np.ones((3, 2)), r"returned an array of shape \[3, 2\] for 2 texts"),
        (np.ones((2, 0)), r"returned an array of shape \[2, 0\] for 2 texts"),
        (np.ones((2, 2, 2)), r"returned an array of shape \[2, 2, 2\] for 2 texts"),
    ],
)
def test_an_answer_is_one_array_of_numbers_with_a_row_for_each_text(answer: Any, words: str) -> None:
    with pytest.raises(InputError, match=f"^task: the encoder {words}"):
        encode_unique(lambda texts: answer, ["a", "b", "a"], "task", dtype=None)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64, np.uint8])
def test_numbers_of_every_kind_are_taken_as_given_or_in_single_precision(dtype: Any) -> None:
    answer = np.array([[1, 2], [3, 4]], dtype=dtype)
    given = encode_unique(lambda texts: answer, ["a", "b"], "task", dtype=None)
    assert given.matrix.dtype == dtype
    assert encode_unique(lambda texts: answer, ["a", "b"], "task").matrix.dtype == np.float32
    assert given.rows(["b", "a", "b"]).tolist() == [1, 0, 1]
    assert given.row == {"a": 0, "b": 1}


def test_a_vector_that_is_no_number_is_counted_and_its_first_text_shown() -> None:
    answer = np.array([[1.0, 2.0], [np.nan, 1.0], [1.0, np.inf]])
    with pytest.raises(NoScoreError, match=r"^task: 2 of 3 vectors are not finite, the first for 'b'; check"):
        encode_unique(lambda texts: answer, ["a", "b", "c"], "task")


def test_geometry_of_too_few_vectors_is_refused() -> None:
    one, two = np.ones((1, 2)), np.ones((2, 2))
    for measure in (uniformity, anisotropy, lambda vectors: share_above(vectors, 0.5)):
        with pytest.raises(InputError, match=r"vectors of shape \(1, 2\): expected \[N, d\] with N of 2"):
            measure(one)
        with pytest.raises(InputError, match="1 of 2 vectors are zero and have no direction"):
            measure(np.array([[0.0, 0.0], [1.0, 1.0]]))
    for first, second in ((one[:0], one[:0]), (one, two)):
        with pytest.raises(InputError, match=r"expected two arrays \[N, d\] of positive pairs"):
            alignment(first, second)


@pytest.mark.parametrize("values", [[1.0], [1.0, np.nan], [[1.0, 2.0]], [np.inf, 1.0]])
def test_similarities_are_one_finite_number_for_each_candidate(values: Any) -> None:
    asked = RankingQuery("a query", ("a", "b"), (True, False), 1)
    with pytest.raises(InputError, match="similarities of query 'a query' are not 2 finite numbers"):
        ranking_metrics(np.array(values), asked)


def test_a_group_of_queries_is_one_setting_and_several_have_a_mean() -> None:
    first = RankingQuery("q", ("a", "b"), (True, False), 1)
    second = RankingQuery("q", ("a", "b"), (False, True), 1)

    def ranked(groups: Any) -> dict[str, tuple[float, int]]:
        task = RerankingTask("one", lambda folder: groups, "raw", "none", folder=Path())
        scores = ranking_scores(task, lambda queries: [np.array([2.0, 1.0])] * len(queries))
        assert all(isinstance(score, Score) and score.task == "one" for score in scores)
        return {score.setting: (score.value, score.n) for score in scores if score.metric == "p@1"}

    assert ranked({"x": [first]}) == {"x": (1.0, 1)}
    assert ranked({"x": [first], "y": [second, second, first]}) == {
        "x": (1.0, 1),
        "y": (1 / 3, 3),
        "mean": (pytest.approx(2 / 3), 4),
    }
    ordered = first._replace(tie_order=(1, 0))
    assert set(ranked({"x": [ordered]})) == {"x", "x/protocol"}
    assert set(ranked({"x": [ordered, second]})) == {"x"}, "a protocol orders every query"


def test_bm25_without_its_package_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "bm25s", None)
    task = RerankingTask(
        "one", lambda folder: {"x": [RankingQuery("q", ("a",), (True,), 1)]}, "raw", "none", folder=Path()
    )
    with pytest.raises(InputError, match="BM25 needs the package bm25s; `pip install bm25s`"):
        bm25_scores(task)


def test_a_classification_that_cannot_be_made_names_its_task(tmp_path: Path) -> None:
    LAYOUTS["MR"](tmp_path)
    task = declared_task("MR", "raw", folder=tmp_path)
    assert isinstance(task, ClassificationTask)
    task.parts["train"].labels[:] = [0] * len(task.parts["train"].labels)

    def encode(texts: Sequence[str]) -> np.ndarray:
        return np.ones((len(texts), 2), dtype=np.float32)

    with pytest.raises(InputError, match=r"^MR: no training row has class 1; expected rows of all 2 classes"):
        task.evaluate(encode)


def test_data_sets_have_their_features_and_sizes() -> None:
    plain = {"combine": "single_text", "with_f1": False, "snli": False, "published_rows": 0}
    pair = {**plain, "combine": "difference_and_product"}
    snli = {**plain, "combine": "both_product_and_difference", "snli": True, "published_rows": 549_367}
    expected = {"MRPC": {**pair, "with_f1": True}, "SICK-E": pair, "SNLI": snli}
    for name, data in DATA_SETS.items():
        assert {key: getattr(data, key) for key in plain} == expected.get(name, plain), name
        assert data.name == name
    assert set(DATA_SETS) == {*SUITES["transfer"], *SUITES["nli"]}


def test_stored_vectors_are_read_task_after_task() -> None:
    tasks: Any = [own_pairs_task([("a", "b", 1), ("c", "b", 2)], name) for name in ("x", None)]
    seen: list[list[str]] = []

    def encode(texts: Sequence[str]) -> np.ndarray:
        seen.append(list(texts))
        return np.random.default_rng(0).normal(size=(len(texts), 3))

    assert [score.task for score in evaluate_stored(tasks, encode)] == ["x", "x", "pairs", "pairs"]
    assert seen == [["a", "b", "c"], ["a", "b", "c"]]


@pytest.mark.parametrize("rows", ["text", b"text", 5, ["ab"], [b"ab"], [3]])
def test_other_objects_are_no_rows_of_pairs(rows: Any) -> None:
    with pytest.raises(InputError, match="pairs: expected a file or rows of two sentences and a score"):
        [*entries_of(rows)]


def test_the_best_penalty_on_dev_classifies_the_test_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 16 dev rows 10, 12, 12 and 4 are right: the second penalty, 75 %; of three test rows two are."""
    asked: list[Any] = []

    class Fits:
        correct = np.array([[10, 12, 12, 4]])

        def predict(self, fold: int, penalty: int, rows: np.ndarray) -> np.ndarray:
            asked.append((fold, penalty, rows.tolist()))
            return np.array([1, 0, 1])

    def fit(features: Any, labels: Any, folds: Any, penalties: Any, **options: Any) -> Any:
        ((train, dev, shuffled),) = folds
        asked.append((train.tolist(), len(dev), shuffled, penalties.tolist(), options["classes"]))
        return Fits()

    monkeypatch.setattr(classifier, "fit", fit)
    labels = np.array([0, 1, *[0] * 16, 1, 1, 1])
    parts = {"train": np.arange(2), "dev": np.arange(2, 18), "test": np.arange(18, 21)}
    outcome = classifier.classify(None, labels, parts, classes=2, protocol=SENTEVAL)  # type: ignore[arg-type]
    assert (outcome.dev, outcome.test) == (75.0, 66.67)
    assert outcome.predicted is not None
    assert outcome.predicted.tolist() == [1, 0, 1]
    assert asked == [([0, 1], 16, 0, [[1e-5, 1e-4, 1e-3, 1e-2]], 2), (0, 1, [18, 19, 20])]


def test_bm25_reads_every_word_of_queries_and_candidates() -> None:
    """Words of a stop list too; in lower case, without stemming."""
    asked = [
        RankingQuery("to be or not", ("red fox", "TO be, or not to be"), (False, True), 1),
        RankingQuery("foxes", ("red fox", "the Foxes"), (False, True), 1),
    ]
    task = RerankingTask("one", lambda folder: {"x": asked}, "raw", "none", folder=Path())
    assert {score.metric: score.value for score in bm25_scores(task)}["p@1"] == 1.0
