"""Gold scores, cosines, lengths and counts on the borders of the tasks' rules."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from harness.errors import InputError
from harness.tasks import logistic
from harness.tasks.classifier import _final_fold, _folds, _mean_percentages
from harness.tasks.geometry import POSITIVES, alignment, share_above, uniformity
from harness.tasks.reranking import _precision_sum, _reciprocal_rank, _relevant_above
from harness.tasks.sts import StsTask, pearson, spearman, unit_rows
from harness.tasks.sts_sets import ScoredPair, hard_length_task, misleading_lengths


def test_a_gold_score_of_four_is_a_positive_pair_of_dclr_alone() -> None:
    assert [POSITIVES["all"](gold) for gold in (4.0, 4.01)] == [False, True]
    assert [POSITIVES["at-least-4"](gold) for gold in (3.99, 4.0)] == [False, True]


def test_a_cosine_at_the_threshold_is_not_above_it() -> None:
    """Cosines 0, 1 and 0 of three rows; of 2 other rows each."""
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 3.0]])
    assert share_above(vectors, 0.0).tolist() == [0.0, 0.5, 0.5]
    assert share_above(vectors, -0.5).tolist() == [1.0, 1.0, 1.0]


def test_two_rows_have_a_uniformity_and_one_pair_an_alignment() -> None:
    assert uniformity(np.array([[1.0, 0.0], [-2.0, 0.0]])) == pytest.approx(-8.0)
    assert alignment(np.array([[1.0, 0.0]]), np.array([[0.0, 5.0]])) == pytest.approx(2.0)
    with pytest.raises(InputError, match="N of 2 or more"):
        uniformity(np.array([[1.0, 0.0]]))


@pytest.mark.parametrize(
    ("score", "words", "kept"),
    [
        (4.0, 8, True),
        (4.0, 7, False),
        (3.99, 8, False),
        (1.0, 3, True),
        (1.0, 4, False),
        (1.01, 3, False),
        (0.0, 2, True),
    ],
)
def test_a_pair_misleads_at_its_gold_score_and_beyond_its_length(
    score: float, words: int, kept: bool
) -> None:
    """Positive from 4 with more than 5 words apart, negative to 1 with less than 2; the other has 2 words."""
    pair = ScoredPair("two words", " ".join(["word"] * words), score)
    assert misleading_lengths([pair], positive=4.0, negative=1.0, longer=5, closer=2) == [pair] * kept


def test_the_negative_threshold_is_below_the_positive_one() -> None:
    whole: Any = SimpleNamespace(name="STSB", source="stsb", read=None, folder=None)
    hard_length_task(whole, ["positive=4", "negative=3.9", "longer=5", "closer=2"])
    for negative in ("4", "4.1"):
        with pytest.raises(InputError, match="with negative below positive"):
            hard_length_task(whole, ["positive=4", f"negative={negative}", "longer=5", "closer=2"])


def test_every_class_has_a_row_in_every_fold_and_a_twentieth_is_held_out() -> None:
    protocol: Any = SimpleNamespace(folds=3, seed=1)
    labels = np.array([0] * 3 + [1] * 6)
    folds = _folds(labels, np.arange(9), protocol)
    assert [len(fold.dev) for fold in folds] == [3, 3, 3]
    with pytest.raises(InputError, match="class 0 has 2 rows"):
        _folds(labels, np.arange(1, 9), protocol)
    for count, held in ((20, 1), (39, 1), (40, 2)):
        assert len(_final_fold(np.arange(count), protocol).dev) == held
    with pytest.raises(InputError, match="at least 20"):
        _final_fold(np.arange(19), protocol)
    assert _mean_percentages(np.array([[1], [2], [2]]), folds) == [55.56]


@pytest.mark.parametrize(("tenacity", "runs"), [(0, [False, True]), (1, [True, True])])
def test_an_equal_accuracy_is_a_failure_and_tenacity_counts_them(tenacity: int, runs: list[bool]) -> None:
    """Two regressions with two of three rows right: the first had two before, the second one."""
    own: Any = SimpleNamespace(
        features=None,
        dev=torch.tensor([[0, 1, 2]]),
        classes=2,
        folds=torch.tensor([0]),
        targets=torch.eye(2)[torch.tensor([0, 1, 1])],
        weights=torch.full((1, 4, 1), 7.0),
        best=torch.zeros(1, 4, 1),
        running=torch.tensor([[True, True]]),
        best_correct=torch.tensor([[2, 1]]),
        failed=torch.tensor([[0, 0]]),
        protocol=SimpleNamespace(tenacity=tenacity),
    )
    with pytest.MonkeyPatch.context() as patch:
        predicted = torch.tensor([[[0, 1, 0], [0, 1, 0]]])
        patch.setattr(logistic, "_predicted", lambda *given: predicted)
        logistic_class()._check(own)
    assert own.running.tolist() == [runs]
    assert own.failed.tolist() == [[1, 0]]
    assert own.best_correct.tolist() == [[2, 2]]
    assert own.best.flatten().tolist() == [0.0, 0.0, 7.0, 7.0]


def logistic_class() -> Any:
    return next(kind for kind in vars(logistic).values() if isinstance(kind, type) and "_check" in vars(kind))


@pytest.mark.parametrize(("most", "checks"), [(4, 3), (3, 2), (5, 3)])
def test_a_regression_of_exactly_the_most_epochs_is_checked_once_more(most: int, checks: int) -> None:
    """Two epochs a check: after 2 and 4 epochs it goes on if 4 are the most, as SentEval does."""
    seen: list[str] = []
    own: Any = SimpleNamespace(
        folds=[1],
        protocol=SimpleNamespace(max_epochs=most, epoch_size=2),
        _epoch=lambda: seen.append("epoch"),
        _check=lambda: seen.append("check"),
        _drop_finished=lambda: None,
    )
    logistic_class().solve(own)
    assert (seen.count("check"), seen.count("epoch")) == (checks, 2 * checks)


def test_a_correlation_needs_two_pairs_and_a_zero_row_has_no_direction() -> None:
    assert np.isnan(pearson(np.array([1.0]), np.array([2.0])))
    assert pearson(np.array([1.0, 2.0]), np.array([3.0, 5.0])) == pytest.approx(1.0)
    assert spearman(np.array([1.0, 2.0]), np.array([5.0, 3.0])) == pytest.approx(-1.0)
    assert unit_rows(np.array([[0.0, 0.0], [3.0, 4.0]])).tolist() == [[0.0, 0.0], [0.6, 0.8]]


def test_a_set_of_two_subsets_has_scores_of_each_and_of_one_has_none() -> None:
    pairs = [ScoredPair(f"{n} a", f"{n} b", float(n % 3)) for n in range(6)]

    def encode(texts: Any) -> Any:
        rng = np.random.default_rng(len(texts))
        return rng.normal(size=(len(texts), 3))

    halves = {"one": pairs[:3], "two": pairs[3:]}
    several = {"all", "mean", "wmean", "subset:one", "subset:two"}
    for subsets, settings in (({"one": pairs}, {"all"}), (halves, several)):
        task = StsTask("own", "stsb", lambda path, subsets=subsets: subsets)  # type: ignore[misc]
        task.__dict__["subsets"] = subsets
        names = {score.setting for score in task.evaluate(encode)}
        assert (
            names == settings if settings else {"all", "mean", "wmean", "subset:one", "subset:two"} == names
        )


def test_ranks_of_ties_are_expected_values() -> None:
    """A run of three with two hits after one candidate that is a hit: orders 110, 101 and 011."""
    precisions = [
        *((1 + 1) / 2 + (1 + 2) / 3, (1 + 1) / 2 + (1 + 2) / 4, (1 + 1) / 3 + (1 + 2) / 4),
    ]
    assert _precision_sum(1, 1, 3, 2) == pytest.approx(sum(precisions) / 3)
    assert _precision_sum(0, 0, 1, 1) == 1.0
    assert _reciprocal_rank(1, 0, 3, 2) == pytest.approx((1 / 2 + 1 / 2 + 1 / 3) / 3)
    assert [_relevant_above(cut, 2, 0, 4, 2) for cut in (2, 3, 6, 9)] == [0.0, 0.5, 2.0, 2.0]
