"""The rule for moved numbers: four answers, calculated by hand."""

from typing import Any

import pytest

from harness.evidence.moved import (
    ANSWERS,
    Answer,
    Band,
    answer_of,
    answer_of_losses,
    answers_of_runs,
    band_of,
    bands_of,
    changes_of,
    worst,
)
from harness.evidence.schema import ResultFile, ScoreName
from tests.support.results import NAME, raw_result

STSB = ScoreName("STSB", "spearman", "all", "best-dev")
ACCURACY = STSB._replace(metric="accuracy")


def result(
    points: float, seed: int = 0, *, weights: str = "", last_step: int = 4, **names: str
) -> ResultFile:
    score = {**NAME, **names, "value": points / 100, "n": 9}
    raw = raw_result(f"a__b__s{seed}", [score], id="a", backbone="b", seed=seed)
    raw["provenance"]["encoder_sha256"] = weights or f"weights {seed}"
    raw["selection"] |= {"best_step": min(2, last_step), "last_step": last_step}
    return ResultFile.model_validate(raw)


SEEDS = [result(60.0, 0), result(61.0, 1), result(62.0, 2)]


def test_a_band_is_five_standard_deviations_or_half_a_point_whichever_is_more() -> None:
    """Seeds 60, 61, 62: mean 61, sample sd 1, band 56 to 66. One seed: 60 -+ 0.5; equal seeds alike."""
    assert band_of([60.0, 61.0, 62.0]) == Band(56.0, 66.0)
    assert band_of([60.0]) == band_of([60.0, 60.0]) == Band(59.5, 60.5)
    assert band_of([60.0, 60.2468]) == Band(59.251, 60.996), "5 x 0.174514 about 60.1234, three decimals"
    assert bands_of(SEEDS) == {(("a", "b"), STSB): Band(56.0, 66.0)}


def test_only_headline_scores_have_a_band() -> None:
    others = ({"setting": "subset:MSRpar"}, {"metric": "pearson"}, {"metric": "dev-accuracy"})
    assert bands_of([result(60, **other) for other in others]) == {}
    for metric, setting in (("accuracy", "senteval/reduced-train"), ("map", "mean/protocol")):
        (name,) = (name for _, name in bands_of([result(60, metric=metric, setting=setting)]))
        assert name[1:3] == (metric, setting)


def test_an_accuracy_far_outside_its_seeds_has_moved() -> None:
    """80, 81 and 82 have a band of five points; 20 with other weights is outside."""
    seeds = [result(80.0 + n, n, metric="accuracy", setting="senteval") for n in range(3)]
    fallen = result(20.0, 0, weights="other", metric="accuracy", setting="senteval")
    assert [change.answer for change in changes_of([(seeds[0], fallen)])] == ["moved"]
    assert [change.band for change in changes_of([*zip(seeds, [fallen, *seeds[1:]], strict=True)])] == [
        Band(76.0, 86.0)
    ]


@pytest.mark.parametrize(
    ("before", "after", "other_weights", "answer"),
    [
        (61.0, 61.0, True, "identical"),
        (61.0, 61.04, False, "equal to rounding"),
        (61.0, 60.96, True, "equal to rounding"),
        (61.0, 61.06, False, "moved"),  # equal weights give no other score
        (61.0, 61.06, True, "within seed noise"),
        (61.0, 66.0, True, "within seed noise"),
        (61.0, 66.01, True, "moved"),
        (61.0, 55.99, True, "moved"),
        (61.0, None, True, "moved"),
        (None, 61.0, True, "identical"),  # an additional task
    ],
)
def test_a_score_has_one_of_four_answers(
    before: float | None, after: float | None, other_weights: bool, answer: Answer
) -> None:
    band = Band(56.0, 66.0)
    assert answer_of(STSB, before, after, band=band, other_weights=other_weights) == answer


def test_a_metric_that_counts_examples_moves_by_a_few_of_them() -> None:
    """2 of 1,000 examples are 0.2 points: rounding for an accuracy, and none for a correlation."""
    for name, answer in ((ACCURACY, "equal to rounding"), (STSB, "moved")):
        assert answer_of(name, 61.0, 61.2, band=None, other_weights=False) == answer
    assert answer_of(ACCURACY, 61.0, 61.6, band=None, other_weights=False) == "moved"


def test_a_subset_has_no_band_and_does_not_decide() -> None:
    name = STSB._replace(setting="subset:MSRpar")
    assert answer_of(name, 61.0, 50.0, band=None, other_weights=True) == "within seed noise"
    assert answer_of(name, 61.0, 50.0, band=None, other_weights=False) == "moved"


def answers(*after: ResultFile) -> dict[str, Answer]:
    pairs = list(zip(SEEDS, after, strict=False))
    return answers_of_runs(pairs, changes_of(pairs))


def test_a_run_has_the_answer_of_its_worst_score_and_is_identical_with_its_weights_only() -> None:
    """Seed 1 moves by 3 with other weights, seed 2 by 0.1 with its own."""
    assert answers(SEEDS[0], result(64.0, 1, weights="x"), result(62.1, 2)) == {
        "a__b__s0": "identical",
        "a__b__s1": "within seed noise",
        "a__b__s2": "moved",
    }
    assert answers(result(60.0, 0, weights="x")) == {"a__b__s0": "equal to rounding"}
    other = result(60.0)
    other = other.model_copy(update={"selection": other.selection.model_copy(update={"best_step": 4})})
    assert answers(other) == {"a__b__s0": "equal to rounding"}


def test_the_band_of_a_run_is_computed_from_the_former_seeds() -> None:
    """60, 61 and 62 hold up to 66; a third seed of 70 would itself widen the band of the new ones to 91."""
    assert answers(SEEDS[0], SEEDS[1], result(70.0, 2, weights="other")) == {
        "a__b__s0": "identical",
        "a__b__s1": "identical",
        "a__b__s2": "moved",
    }


def test_a_run_without_a_step_has_no_seed_noise() -> None:
    """It has the weights of its backbone: another digest does not explain another score."""
    old, new = result(60.0, last_step=0), result(60.3, weights="x", last_step=0)
    (change,) = changes_of([(old, new)])
    assert (change.answer, change.band) == ("moved", None)


def test_an_equal_score_over_another_number_of_items_moved() -> None:
    old, new = result(60.0), result(60.0)
    new.scores[0] = new.scores[0].model_copy(update={"n": 1_008})
    (change,) = changes_of([(old, new)])
    assert (change.answer, change.items) == ("moved", (9, 1_008))
    assert str(change) == (
        "a__b__s0 STSB spearman: 60.000000, committed 60.000000; over 1,008 items, committed 9"
    )


def test_the_worst_answer_counts() -> None:
    assert worst([]) == "identical"
    assert [worst(ANSWERS[:count]) for count in (1, 2, 3, 4)] == [*ANSWERS]


@pytest.mark.parametrize(
    ("losses", "answer"),
    [
        ([1.0, 2.0, 3.0], "identical"),
        ([1.0, 2.0, 3.0000000003], "equal to rounding"),
        ([1.0, 2.0, 3.0029], "equal to rounding"),
        ([1.0, 2.0, 3.0031], "moved"),
        ([1.0, 2.0, float("nan")], "moved"),
        ([1.0, 2.0], "moved"),
    ],
)
def test_first_losses_are_identical_equal_to_rounding_or_moved(losses: list[float], answer: Any) -> None:
    """A thousandth of 3 is 0.003."""
    assert answer_of_losses([1.0, 2.0, 3.0], losses) == answer


@pytest.mark.parametrize(("name", "most"), [(STSB, 0.05), (ACCURACY, 0.5)])
def test_a_difference_of_exactly_the_tolerance_is_rounding_and_a_larger_one_moved(
    name: ScoreName, most: float
) -> None:
    """Both ways from zero, where the difference itself is not rounded."""
    for sign in (-1, 1):
        for after, answer in ((sign * most, "equal to rounding"), (sign * most * 1.001, "moved")):
            assert answer_of(name, 0.0, after, band=None, other_weights=False) == answer
