"""Two sets of scores: the arithmetic of a change and of the noise around it."""

from collections.abc import Mapping

import pytest

from harness.facts.comparisons import noise_of, sampling_error
from harness.report.moves import compare, summary, to_pull_request
from harness.results.schema import ResultFile
from tests.harness.report.made_results import result


def results(system: str, values: Mapping[int, float], *, recipe: str = "r") -> list[ResultFile]:
    """One result file a seed with one STS-B score, and one that no comparison looks at."""
    return [
        result(system, seed, {("STSB", "all"): value, ("STSB", "mean"): 0.1}, recipe=recipe)
        for seed, value in values.items()
    ]


def test_noise_of_seeds_is_pooled_over_both_sides() -> None:
    """[0.70, 0.72] has mean 0.71 and squares 2 x 0.01^2; [0.60, 0.64] has 2 x 0.02^2. Sum 0.001, over
    2 + 2 - 2 = 2 degrees: s^2 = 0.0005. Times sqrt(1/2 + 1/2) = 1 and t(0.975, 2) = 4.3027: 0.09621."""
    found = noise_of([0.70, 0.72], [0.60, 0.64], metric="spearman", pairs=10)
    assert found == (pytest.approx(0.09621, abs=1e-5), "seeds")


def test_one_seed_is_judged_by_the_test_set() -> None:
    """r = 0.6, n = 103: (1 - 0.36) sqrt(1.18 / 100) = 0.64 x 0.108628 = 0.069522. p = 0.8, n = 400: 0.02."""
    assert sampling_error(0.8, 400, metric="accuracy") == pytest.approx(0.02)
    found = noise_of([0.6], [0.6], metric="spearman", pairs=103)
    assert found == (pytest.approx(1.96 * 0.069522, abs=1e-5), "test set")
    assert sampling_error(1.0, 100, metric="spearman") == sampling_error(1.0, 100, metric="accuracy") == 0.0


def test_findings_up_down_within_unchanged_added_and_removed() -> None:
    """Seeds differ by 0.01 around each mean: noise is t(0.975, 2) x 0.00707 = 0.0304 of a change."""
    low = {"up": 0.50, "down": 0.50, "same": 0.50, "noisy": 0.50, "gone": 0.50}
    high = {"up": 0.60, "down": 0.45, "same": 0.50, "noisy": 0.52, "new": 0.4}
    before, after = (
        [one for name, first in side.items() for one in results(name, {0: first, 1: first + 0.01})]
        for side in (low, high)
    )
    moves = compare(before, after)
    assert [(move.key.system, move.outcome) for move in moves] == [
        ("up", "up"), ("down", "down"), ("noisy", "within noise"), ("gone", "removed"), ("new", "added"),
        ("same", "unchanged"),
    ]  # fmt: skip
    assert moves[0].change == pytest.approx(0.10)
    assert moves[0].noise == pytest.approx(4.30265 * 0.00707107, rel=1e-5)
    assert summary(moves) == (
        "4 scores compared: 1 up and 1 down beyond noise, 1 within noise, 1 unchanged, 1 added, 1 removed"
    )


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        ({0: 0.5, 1: 0.6}, {2: 0.5, 3: 0.6}, "within noise"),  # other seeds with equal values
        ({0: 0.5, 1: 0.5}, {0: 0.5001, 1: 0.5001}, "up"),  # seeds that do not vary show any change
        ({0: 0.5, 1: 0.5}, {0: 0.5 + 1e-12, 1: 0.5}, "unchanged"),  # but no rounding
    ],
)
def test_the_limits_of_an_outcome(before: dict[int, float], after: dict[int, float], outcome: str) -> None:
    (move,) = compare(results("a", before), results("a", after))
    assert move.outcome == outcome


def test_markdown_has_points_in_a_table_and_folds_the_rest() -> None:
    """0.20 against 0.90 on 1,379 pairs; noise 1.96 (1 - 0.3025) sqrt(1.15125 / 1376) = 0.03954 at 0.55."""
    before = [*results("a_x", {0: 0.2}), *results("quiet", {0: 0.5})]
    after = [*results("a_x", {0: 0.9}, recipe="other"), *results("quiet", {0: 0.501})]
    text = to_pull_request(compare(before, after), ("HEAD~1", "HEAD"))
    assert r"| a\_x@b (recipe changed) | STSB | 20.00 | 90.00 | +70.00 | ±3.95 test set | 1, 1 |" in text
    assert "about 0.1 of 2 changed scores" in text
    assert text.index("<details>") < text.index("| quiet@b |") < text.index("</details>")
