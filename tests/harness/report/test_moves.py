"""Two sets of scores: the arithmetic of a change and of the noise around it."""

from collections.abc import Mapping

import pytest

from harness.evidence.moved import bands_of
from harness.evidence.moves import moves_between
from harness.evidence.schema import ResultFile, ScoreName
from harness.report.formats.moves import summary, to_pull_request
from tests.harness.report.made_results import result


def results(
    system: str, values: Mapping[int, float], *, recipe: str = "r", weights: str = ""
) -> list[ResultFile]:
    """One result file a seed with one STS-B score, and one that no comparison looks at."""
    provenance = {"recipe": recipe, "encoder_sha256": f"e{weights}"}
    return [
        result(system, seed, {("STSB", "all"): value, ("STSB", "mean"): 0.1}, **provenance)
        for seed, value in values.items()
    ]


def test_a_score_has_the_answer_of_the_seed_that_moved_most() -> None:
    """Seeds of 0.50 and 0.51: sample sd 0.00707, so the band is 50.5 -+ 3.536 points."""
    seeds = {
        "higher": (0.5, 0.55),
        "lower": (0.5, 0.46),
        "quiet": (0.5, 0.53),
        "rounded": (0.5, 0.5004),
    }
    before = [score for name in (*seeds, "gone") for score in results(name, {0: 0.50, 1: 0.51})]
    after = [
        score for name, (_, last) in seeds.items() for score in results(name, {0: 0.50, 1: last}, weights="x")
    ]
    after = [*results("new", {0: 0.4}), *after]
    actual = {move.key.system: move for move in moves_between(before, after)}
    assert {name: move.outcome for name, move in actual.items()} == {
        "higher": "moved", "lower": "moved", "quiet": "within seed noise", "rounded": "within seed noise",
        "gone": "removed", "new": "added",
    }  # fmt: skip
    band = actual["quiet"].band
    assert band is not None
    assert band == pytest.approx((50.5 - 3.5355, 50.5 + 3.5355), abs=1e-3)
    assert actual["lower"].went_down
    assert not actual["higher"].went_down
    assert summary([*actual.values()]) == (
        "4 scores compared: 1 up and 1 down, 2 within seed noise, 1 added, 1 removed"
    )


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        ({0: 0.5, 1: 0.6}, {2: 0.5, 3: 0.6}, "within seed noise"),  # other seeds with equal values
        ({0: 0.5, 1: 0.5}, {2: 0.51}, "moved"),  # a seed that is new is outside the band of half a point
        ({0: 0.5, 1: 0.6}, {0: 0.5}, "identical"),  # a seed that is gone takes no score with it
        ({0: 0.5}, {0: 0.5004}, "equal to rounding"),
        ({0: 0.5}, {0: 0.5006}, "moved"),  # with the weights of before
    ],
)
def test_the_limits_of_an_outcome(before: dict[int, float], after: dict[int, float], outcome: str) -> None:
    (move,) = moves_between(results("a", before), results("a", after))
    assert move.outcome == outcome


def test_seeds_of_one_side_alone_take_no_part() -> None:
    """Three of four seeds were run again: their mean and their band are those of the check of results."""
    values = {0: 0.50, 1: 0.51, 2: 0.52, 3: 0.90}
    before = results("a", values)
    (equal,) = moves_between(before, before[:3])
    assert (equal.outcome, equal.change) == ("identical", 0)
    after = results("a", {0: 0.50, 1: 0.51, 2: 0.60}, weights="x")
    (moved,) = moves_between(before, after)
    assert moved.band == bands_of(before[:3])[("a", before[0].run.backbone), moved_name(before)]
    assert (moved.outcome, moved.change) == ("moved", pytest.approx(0.08 / 3))


@pytest.mark.parametrize(
    ("metric", "setting"), [("accuracy", "senteval/reduced-train"), ("map", "dev/protocol")]
)
def test_a_lower_accuracy_of_a_transfer_task_moves_and_is_named_with_its_protocol(
    metric: str, setting: str
) -> None:
    sides = [[result("a", 0, {("MR", setting): value}, metric=metric)] for value in (0.8, 0.2)]
    (move,) = moves_between(*sides)
    assert (move.outcome, move.went_down, move.key.setting) == ("moved", True, setting)
    assert f"| MR, {setting} | 80.00 | 20.00 | -60.00 |" in to_pull_request([move], ("HEAD~1", "HEAD"))


def moved_name(several: list[ResultFile]) -> ScoreName:
    """The name of the watched score of a result."""
    return next(score.name for score in several[0].scores if score.setting == "all")


def test_markdown_has_points_in_a_table_and_folds_the_rest() -> None:
    """0.20 against 0.90 with one seed, whose band is half a point; 0.1 points of other weights are in it."""
    before = [*results("a_x", {0: 0.2}), *results("quiet", {0: 0.5})]
    after = [*results("a_x", {0: 0.9}, recipe="other"), *results("quiet", {0: 0.501}, weights="x")]
    text = to_pull_request(moves_between(before, after), ("HEAD~1", "HEAD"))
    assert r"| a\_x@b (recipe changed) | STSB | 20.00 | 90.00 | +70.00 | 19.50 to 20.50 | moved |" in text
    assert text.index("<details>") < text.index("| quiet@b |") < text.index("</details>")


def test_the_numbers_of_seeds_are_those_before_and_after() -> None:
    """Three seeds before, one after."""
    moves = moves_between(results("a", {0: 0.5, 1: 0.6, 2: 0.7}), results("a", {0: 0.5}))
    assert [move.seeds for move in moves] == [(3, 1)]
    moved = moves_between(results("a", {0: 0.5, 1: 0.5}), results("a", {0: 0.9}))
    assert "| moved | 2, 1 |" in to_pull_request(moved, ("HEAD~1", "HEAD"))
