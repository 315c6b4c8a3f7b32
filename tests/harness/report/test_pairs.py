"""Intervals of scores over the pairs of a test set: pairs, draws and text."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from harness.data.sts import ScoredPair
from harness.evidence.resampling import percentile_interval, resampled_correlations
from harness.report.assembly.pairs import error_over_pairs, score_lines
from harness.tasks.sts import StsTask

PAIRS = [ScoredPair(f"a{n}", f"b{n}", float(n % 6)) for n in range(60)]


def task(folder: Path, name: str = "T") -> StsTask:
    return StsTask(name, "stsb", lambda _: {"x": PAIRS[:30], "y": PAIRS[30:]}, folder=folder)


class Made:
    """Vectors whose cosine follows the gold scores, with noise that a seed draws."""

    def __init__(self, seed: int) -> None:
        draw = np.random.default_rng(seed)
        self.cosines = np.array([pair.score for pair in PAIRS]) / 10 + 0.15 * draw.normal(size=60)

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        angles = [0.0 if text[0] == "a" else np.arccos(self.cosines[int(text[1:])]) for text in texts]
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def test_the_draws_of_a_task_do_not_depend_on_other_tasks(tmp_path: Path) -> None:
    """Equal pairs under two names: two tasks' intervals are no copies of one another."""
    first, second = task(tmp_path, "one"), task(tmp_path, "other")
    both = score_lines([first, second], Made(0), intervals=True)
    known = {(line.task, line.metric): line.interval for line in both if line.interval}
    for metric in ("spearman", "pearson"):
        assert known["one", metric] != known["other", metric]
    assert score_lines([second], Made(0), intervals=True) == [line for line in both if line.task == "other"]


def test_the_error_of_a_difference_is_over_means_of_the_same_draws(tmp_path: Path) -> None:
    """Two seeds on one side, one on the other."""
    made = [Made(0), Made(1), Made(2)]
    gold, cosines = np.array([pair.score for pair in PAIRS]), [each.cosines for each in made]
    draws = resampled_correlations(gold, cosines, ranked=True, stream=[0, *b"T"])
    actual = error_over_pairs(task(tmp_path), made[:2], made[2:])
    assert actual is not None
    assert actual.size == pytest.approx(((draws[0] + draws[1]) / 2 - draws[2]).std(ddof=1))


def test_only_a_score_over_all_pairs_has_an_interval_and_is_in_it(tmp_path: Path) -> None:
    lines = score_lines([task(tmp_path)], Made(0), intervals=True)
    assert {line.setting for line in lines} > {"all"}
    gold, cosines = np.array([pair.score for pair in PAIRS]), [Made(0).cosines]
    known = {line.metric: line.interval for line in lines if line.setting == "all"}
    for metric in ("spearman", "pearson"):
        (draws,) = resampled_correlations(gold, cosines, ranked=metric == "spearman", stream=[0, *b"T"])
        assert known[metric] == pytest.approx(percentile_interval(draws)), metric
    assert known["spearman"] != known["pearson"]
    for line in lines:
        assert (line.interval is not None) == (line.setting == "all")
        assert line.interval is None or line.interval[0] <= line.value <= line.interval[1]
    assert [line.interval for line in score_lines([task(tmp_path)], Made(0))] == [None] * len(lines)
