"""The share of high cosines in a batch: worked by hand, at its limits, and which sentences it reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.errors import InputError
from harness.tasks.batch_cosines import SENTENCES, BatchCosines, share_above


def test_four_directions_are_worked_by_hand() -> None:
    """At 0, 30, 90 and 180 degrees the first two have a cosine above 0.7, 0.866: shares 1/3, 1/3, 0, 0."""
    angles = np.radians([0.0, 30.0, 90.0, 180.0])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1) * np.array([[1.0], [5.0], [2.0], [0.1]])
    np.testing.assert_allclose(share_above(vectors, 0.7), [1 / 3, 1 / 3, 0.0, 0.0])
    np.testing.assert_allclose(share_above(vectors, 0.9), 0.0)


def test_equal_directions_give_one_and_orthogonal_ones_none() -> None:
    assert share_above(np.ones((5, 3)), 0.7).tolist() == [1.0] * 5
    assert share_above(np.eye(4), 0.7).tolist() == [0.0] * 4


def test_sentences_are_spread_evenly_over_the_corpus_without_doubles(tmp_path: Path) -> None:
    lines = [f"sentence {number // 2}" for number in range(4 * SENTENCES)]
    (tmp_path / "wiki.txt").write_text("\n".join(lines) + "\n")
    task = BatchCosines("batch-cosines", "wiki1m", folder=tmp_path)
    assert task.texts() == [f"sentence {2 * number}" for number in range(SENTENCES)]
    rng = np.random.default_rng(0)
    scores = {
        score.setting: score for score in task.evaluate(lambda texts: rng.normal(size=(len(texts), 8)) + 2.0)
    }
    assert (scores["all"].n, scores["first"].n) == (SENTENCES * (SENTENCES - 1), SENTENCES - 1)
    assert 0.0 < scores["all"].value < 1.0


@pytest.mark.parametrize("vectors", [np.ones((1, 3)), np.array([[1.0, 0.0], [0.0, 0.0]])])
def test_one_vector_or_a_zero_one_is_refused_in_one_line(vectors: np.ndarray) -> None:
    with pytest.raises(InputError, match="expected two or more, none of them zero"):
        share_above(vectors, 0.7)
