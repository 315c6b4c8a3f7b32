"""Alignment, uniformity, anisotropy and the pairs whose lengths mislead."""

import json
from pathlib import Path

import numpy as np
import pytest

from harness.data.sts import ScoredPair
from harness.errors import InputError
from harness.tasks.geometry import (
    SENTENCES,
    BatchCosines,
    GeometryTask,
    alignment,
    anisotropy,
    share_above,
    uniformity,
)
from harness.tasks.sts_sets import hard_length_task, misleading_lengths, sts_task

SQUARE = np.array([[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [0.0, -5.0]])


def test_geometry_of_a_square_worked_by_hand() -> None:
    """Four directions at right angles: 4 pairs at squared distance 2, 2 pairs at 4.

    uniformity log((4 exp(-4) + 2 exp(-8)) / 6); mean cosine (4 * 0 + 2 * -1) / 6 = -1/3.
    Two opposite directions alone: uniformity -8. Alignment of rows with their neighbours (squared distance 2)
    is 2.
    """
    assert uniformity(SQUARE) == pytest.approx(np.log((4 * np.exp(-4) + 2 * np.exp(-8)) / 6))
    assert uniformity(SQUARE[::2]) == pytest.approx(-8.0)
    assert anisotropy(SQUARE) == pytest.approx(-1 / 3)
    assert alignment(SQUARE, np.roll(SQUARE, 1, axis=0)) == pytest.approx(2.0)


@pytest.mark.parametrize("count", [2, 7, 1024, 1025, 2100])
def test_uniformity_and_anisotropy_equal_sums_over_all_pairs(count: int) -> None:
    vectors = np.random.default_rng(count).normal(size=(count, 6)) + 0.3
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    kernels, cosines = 0.0, 0.0
    for index in range(count - 1):
        rest = unit[index + 1 :]
        kernels += np.exp(-2 * ((unit[index] - rest) ** 2).sum(axis=1)).sum()
        cosines += (rest @ unit[index]).sum()
    pairs = count * (count - 1) / 2
    assert uniformity(vectors) == pytest.approx(np.log(kernels / pairs), abs=1e-10)
    assert anisotropy(vectors) == pytest.approx(cosines / pairs, abs=1e-10)


def test_alignment_is_two_minus_twice_the_mean_cosine() -> None:
    first, second = np.random.default_rng(0).normal(size=(2, 50, 8))
    cosine = (first * second).sum(1) / np.linalg.norm(first, axis=1) / np.linalg.norm(second, axis=1)
    assert alignment(first, second) == pytest.approx(2 - 2 * cosine.mean())


def test_four_directions_are_worked_by_hand() -> None:
    """At 0, 30, 90 and 180 degrees the first two have a cosine above 0.7, 0.866: shares 1/3, 1/3, 0, 0."""
    angles = np.radians([0.0, 30.0, 90.0, 180.0])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1) * np.array([[1.0], [5.0], [2.0], [0.1]])
    np.testing.assert_allclose(share_above(vectors, 0.7), [1 / 3, 1 / 3, 0.0, 0.0])
    np.testing.assert_allclose(share_above(vectors, 0.9), 0.0)
    assert share_above(np.ones((5, 3)), 0.7).tolist() == [1.0] * 5


def test_sentences_are_spread_evenly_over_the_corpus_without_doubles(tmp_path: Path) -> None:
    """Of twice as many distinct ones every second; the first fills half of the file."""
    lines = ["sentence 0"] * 2 * SENTENCES + [f"sentence {number}" for number in range(1, 2 * SENTENCES)]
    (tmp_path / "wiki.txt").write_text("\n".join(lines) + "\n")
    task = BatchCosines("batch-cosines", "wiki1m", folder=tmp_path)
    assert task.texts() == [f"sentence {2 * number}" for number in range(SENTENCES)]
    rng = np.random.default_rng(0)
    scores = {
        score.setting: score for score in task.evaluate(lambda texts: rng.normal(size=(len(texts), 8)) + 2.0)
    }
    assert (scores["all"].n, scores["first"].n) == (SENTENCES * (SENTENCES - 1), SENTENCES - 1)
    assert 0.0 < scores["all"].value < 1.0


def test_the_share_above_the_threshold_of_the_paper_worked_by_hand(tmp_path: Path) -> None:
    """Cosines with the first sentence 0.72 and 0.68, of the other two about 0: shares 1/2, 1/2 and 0."""
    (tmp_path / "wiki.txt").write_text("zero\ntwo\none\n")
    angles = dict(zip(["zero", "two", "one"], [0.0, np.arccos(0.72), -np.arccos(0.68)], strict=True))
    task = BatchCosines("batch-cosines", "wiki1m", folder=tmp_path)
    scores = task.evaluate(lambda texts: np.array([[np.cos(angles[t]), np.sin(angles[t])] for t in texts]))
    assert {(score.setting, score.n): score.value for score in scores} == {
        ("all", 6): pytest.approx(1 / 3),
        ("first", 2): pytest.approx(1 / 2),
    }
    assert SENTENCES == 256
    assert share_above(SQUARE, 0.0).tolist() == [0.0] * 4, "a cosine that is the threshold is not above it"


def test_positive_pairs_are_above_four_or_from_four_on_and_texts_count_once(tmp_path: Path) -> None:
    """Of six sentences four are distinct. Positive above 4 is one pair at a right angle, squared distance 2;
    from 4 on also one of opposite vectors, squared distance 4: alignment (2 + 4) / 2.
    """
    pairs = [(4.2, "e", "n"), (4.0, "e", "w"), (1.0, "s", "e")]
    lines = [f"g\tf\t2014\t1\t{score}\t{first}\t{second}\n" for score, first, second in pairs]
    (tmp_path / "sts-dev.csv").write_text("".join(lines), encoding="utf-8")
    directions = dict(zip("enws", SQUARE, strict=True))
    task = GeometryTask("geometry-dev", ("dev",), "raw", "stsb", folder=tmp_path)
    with pytest.raises(InputError, match="geometry-dev: 4 of 4 vectors are zero"):
        task.evaluate(lambda texts: np.zeros((len(texts), 2)))
    scores = task.evaluate(lambda texts: np.stack([directions[text] for text in texts]))
    assert {(score.metric, score.setting): (score.value, score.n) for score in scores} == {
        ("alignment", "all"): (pytest.approx(2.0), 1),
        ("alignment", "at-least-4"): (pytest.approx(3.0), 2),
        ("uniformity", "all"): (pytest.approx(uniformity(SQUARE)), 4),
        ("anisotropy", "all"): (pytest.approx(-1 / 3), 4),
    }


def test_lengths_that_mislead_at_their_borders() -> None:
    """positive 4, negative 2, longer 5, closer 2: gold borders count, length borders do not."""

    def pair(gold: float, difference: int) -> ScoredPair:
        return ScoredPair("w", " ".join("w" * (1 + difference)), gold)

    kept, dropped = (
        [pair(4, 6), pair(2, 1), pair(0, 0)],
        [pair(4, 5), pair(2, 2), pair(3, 6), pair(3, 0), pair(5, 1)],
    )
    assert misleading_lengths(kept + dropped, positive=4, negative=2, longer=5, closer=2) == kept


THRESHOLDS = ["positive=4", "negative=2.5", "longer=5", "closer=2"]


def test_thresholds_are_part_of_the_name(tmp_path: Path) -> None:
    lines = [
        {"sentence1": "a", "sentence2": "b", "score": 1},
        {"sentence1": "a", "sentence2": "c", "score": 3},
    ]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    task = hard_length_task(sts_task("STS13", "raw", "sts13-raw", folder=tmp_path), THRESHOLDS)
    assert task.name == "STS13-hard-length:positive=4:negative=2.5:longer=5:closer=2"
    assert [pair[:3] for pair in task.pairs] == [("a", "b", 1.0)]


@pytest.mark.parametrize(
    "bad",
    [
        THRESHOLDS[:3],
        THRESHOLDS[::-1],
        ["positive=four", *THRESHOLDS[1:]],
        ["positive=2", *THRESHOLDS[1:]],
    ],
)
def test_bad_thresholds_are_one_clear_line(bad: list[str]) -> None:
    whole = sts_task("STS13", "raw", "sts13-raw")
    with pytest.raises(InputError, match=r"STS13-hard-length: thresholds .* with negative below positive"):
        hard_length_task(whole, bad)


@pytest.mark.mirror
@pytest.mark.parametrize(
    ("year", "negative", "size"),
    [("STS13", 1, 275), ("STS13", 3, 509), ("STS14", 2, 713), ("STS15", 1, 374), ("STS16", 3, 378)],
)
def test_hard_subsets_have_the_sizes_counted_on_the_public_files(
    year: str, negative: int, size: int, mirror: Path
) -> None:
    arguments = ["positive=4", f"negative={negative}", "longer=5", "closer=2"]
    whole = sts_task(year, "raw", "none", folder=mirror / f"mteb/{year.lower()}-sts")
    task = hard_length_task(whole, arguments)
    assert len(task.pairs) == size
