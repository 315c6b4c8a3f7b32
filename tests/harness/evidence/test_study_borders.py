"""Studies and the numbers that they are about: what counts as evidence, at the border of each rule."""

import math
from dataclasses import replace
from typing import Any

import pytest

from harness.evidence.comparisons import claimed
from harness.evidence.differences import Difference, mean_first, pairs_of_mean
from harness.evidence.judged import judge_number
from harness.evidence.ledger import Group, Ledger, Scope
from harness.evidence.moved import answers_of_runs, changes_of
from harness.evidence.moves import moves_between
from harness.evidence.others import backbone_sd, known_sd, others_of
from harness.evidence.schema import ResultFile
from harness.evidence.search import one_of_each, split_search
from harness.evidence.statistics import StandardError, WelchComparison
from harness.evidence.studies import Study, Summary
from harness.evidence.system_pairs import SystemComparison, TaskName, differences_json, headlines
from tests.harness.report.made_judged import printed
from tests.harness.report.made_results import result

ABOUT = {"system": "a@b", "kind": "re-run", "source": "x/y"}
SCOPE = Scope(
    groups={"toy": Group(papers=["toy"], sources=["toy/code"])}, same={"alias": "a"}, searched=["a@b"]
)


def study(score: object = 75.0, **more: Any) -> Study:
    return Study.model_validate({**ABOUT, "scores": {"Avg": score}, **more})


def ledger_of(*studies: Study) -> Ledger:
    return Ledger(studies, SCOPE)


OF_AUTHORS: dict[str, Any] = {"source": "toy/code"}


@pytest.mark.parametrize(
    ("score", "is_report"),
    [(75.0, True), (75.25, True), (74.75, True), (75.26, False), (74.74, False), ([75.0, 75.0], False)],
)
def test_a_single_run_of_its_authors_that_rounds_to_a_number_is_the_number(
    score: object, is_report: bool
) -> None:
    """Rounded by a quarter at most."""
    number = printed(75.0, None)
    number = replace(number, rounding=0.25)
    others = others_of(ledger_of(study(score, **OF_AUTHORS)), number)
    assert (not others.pools["same authors"].studies) is is_report
    by_others = others_of(ledger_of(study(score)), number)
    assert by_others.independent.studies, "another group may have the same score"


def test_a_mean_of_its_authors_that_rounds_to_a_number_is_no_evidence_either() -> None:
    summary = {"mean": 75.0, "n": 5}
    assert not others_of(ledger_of(study(summary, **OF_AUTHORS)), printed(75.0)).studies
    assert others_of(ledger_of(study({"mean": 76.0, "n": 5}, **OF_AUTHORS)), printed(75.0)).studies


KINDS: dict[str, tuple[dict[str, Any], str, str]] = {
    "re-run": ({}, "independent", "others"),
    "evaluation": ({"kind": "evaluation"}, "independent", "others"),
    "checkpoint": ({"kind": "checkpoint"}, "checkpoint", "authors"),
    "other recipe": ({"kind": "other-recipe", "differs": "d"}, "other recipe", "nobody"),
    "authors": (OF_AUTHORS, "same authors", "authors"),
    "by name": ({"by": "toy"}, "same authors", "authors"),
    "checkpoint of authors": ({"kind": "checkpoint", **OF_AUTHORS}, "checkpoint", "authors"),
    "alias": ({"system": "alias@b"}, "independent", "others"),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_study_is_in_the_pool_of_its_kind_and_the_verdict_is_by_those_who_measured(name: str) -> None:
    more, pool, by = KINDS[name]
    ledger = replace(ledger_of(study(70.0, **more)), scope=SCOPE.model_copy(update={"searched": []}))
    others = others_of(ledger, printed(75.0))
    assert [kind for kind, each in others.pools.items() if each.studies] == [pool]
    assert judge_number(printed(75.0), others).verdict.by == by
    searched = others_of(ledger_of(study(70.0, **more)), printed(75.0))
    assert judge_number(printed(75.0), searched).verdict.by == ("authors" if by == "nobody" else by)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"doubt": "a doubt"}, "a doubt"),
        ({"kind": "quoted"}, "quoted"),
        ({"repeats": ["Avg"]}, "counted in another study"),
        ({"settings": {"sick_r_pairs": 9927}}, "SICK-R of 9,927 pairs"),
    ],
)
def test_a_study_that_does_not_count_is_listed_with_its_reason(more: dict[str, Any], reason: str) -> None:
    others = others_of(ledger_of(study(70.0, **more)), printed(75.0))
    assert not others.studies
    assert [each.not_counted_in("Avg") for each in others.uncounted] == [reason]
    ten = [70.0 + n for n in range(10)]
    assert known_sd(ledger_of(study(ten, **more)), "a@b", "Avg") is None


def test_the_standard_deviation_is_of_ten_seeds_or_more_of_a_re_run() -> None:
    """0, 1, ..., 8 have a sample variance of 7.5, and 0, 1, ..., 9 one of 55 / 6."""
    nine, ten = ([70.0 + n for n in range(count)] for count in (9, 10))
    assert known_sd(ledger_of(study(nine)), "a@b", "Avg") is None
    assert known_sd(ledger_of(study(ten)), "a@b", "Avg") == pytest.approx(((55 / 6) ** 0.5, 10))
    assert known_sd(ledger_of(study(ten)), "a@b", "STSB") is None
    assert known_sd(ledger_of(study(ten, kind="checkpoint")), "a@b", "Avg") is None
    other = ledger_of(study(ten, system="c@b"), study([*ten, 80.0], system="c@d"))
    assert known_sd(other, "a@b", "Avg") is None
    assert backbone_sd(other, "b", "Avg") == pytest.approx(((55 / 6) ** 0.5, 10))
    longer = ledger_of(study(ten), study([*ten, 80.0], source="x/z"))
    assert known_sd(longer, "a@b", "Avg") == pytest.approx((11**0.5, 11))


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({"low": 70.0, "high": 70.0}, False),
        ({"low": 70.0, "high": 70.1}, True),
        ({"low": 70.0}, False),
        ({"mean": 70.0, "n": 1}, False),
        ({"mean": 70.0, "n": 2}, True),
        ({"mean": 100.0, "n": 2}, True),
        ({"mean": 100.1, "n": 2}, False),
        ({"sd": 50.0, "n": 2}, True),
        ({"sd": 50.1, "n": 2}, False),
        ({"sd": 0.0, "n": 2}, False),
        ({"n": 2}, False),
        ({"mean": 70.0}, False),
    ],
)
def test_a_summary_is_of_two_runs_or_a_range(given: dict[str, Any], taken: bool) -> None:
    if taken:
        assert Summary.model_validate(given)
    else:
        with pytest.raises(ValueError, match="Summary"):
            Summary.model_validate(given)


def test_an_untrained_run_has_no_seed_noise() -> None:
    """With other weights 0.3 points are within noise after a training, not where weights are only read."""

    def state(value: float, weights: str, last_step: int) -> ResultFile:
        return result("s", 0, {("STSB", "all"): value}, last_step=last_step, encoder_sha256=weights)

    for last_step, outcome in ((0, "moved"), (1, "within seed noise")):
        old, new = state(0.5, "a", last_step), state(0.503, "b", last_step)
        assert [move.outcome for move in moves_between([old], [new])] == [outcome]
        assert [*answers_of_runs([(old, new)], changes_of([(old, new)])).values()] == [outcome]


@pytest.mark.parametrize(
    ("low", "high", "margin", "answer"),
    [
        (0.0, 1.0, 0.0, "inconclusive"),
        (0.01, 1.0, 0.0, "supported"),
        (-1.0, 0.0, 0.0, "inconclusive"),
        (-1.0, -0.01, 0.0, "contradicted"),
        (-1.0, 1.0, 1.0, "supported"),
        (-1.0, 1.01, 1.0, "inconclusive"),
        (-1.01, 1.0, 1.0, "inconclusive"),
        (1.0, 2.0, 1.0, "inconclusive"),
        (1.01, 2.0, 1.0, "contradicted"),
        (-2.0, -1.0, 1.0, "inconclusive"),
        (-2.0, -1.01, 1.0, "contradicted"),
    ],
)
def test_an_interval_that_touches_zero_or_the_margin_answers_nothing_but_equality(
    low: float, high: float, margin: float, answer: str
) -> None:
    comparison = WelchComparison((low + high) / 2, low, high, 0.01)
    assert claimed(comparison, margin=margin) == answer
    assert claimed(None, margin=margin) == "inconclusive"


NAMES = [TaskName(task, "spearman", "all", "senteval") for task in ("A", "B")]


def test_test_sets_are_tested_by_holms_steps_only_if_the_mean_is_won_or_lost() -> None:
    """Ten standard errors: both are below their steps of 0.025 and 0.05."""
    far, near = StandardError(0.01, 10), StandardError(1.0, 10)
    tasks = {name: Difference(0.6, 0.5, (3, 3), far) for name in NAMES}
    for mean, levels in (
        (Difference(0.6, 0.5, (3, 3), far), [0.025, 0.05]),
        (Difference(0.5, 0.6, (3, 3), far), [0.025, 0.05]),
        (Difference(0.6, 0.5, (3, 3), near), [None, None]),
        (Difference(0.6, 0.5, (3, 3), None), [0.025, 0.05]),
        (None, [0.025, 0.05]),
    ):
        made = mean_first(mean, tasks)
        assert [difference.level for difference in made.values()] == levels
        assert [difference.outcome for difference in made.values()] == [
            "won" if level else "inconclusive" for level in levels
        ]
        assert all(difference.first == 0.6 for difference in made.values())


def test_the_error_over_pairs_of_a_mean_is_that_of_independent_test_sets() -> None:
    """3 and 4 on two sets: 5 / 2. A set without an error leaves none."""
    three, four = StandardError(3.0, math.inf), StandardError(4.0, math.inf)
    assert pairs_of_mean([three, four]) == StandardError(2.5, math.inf)
    assert pairs_of_mean([three, None]) is pairs_of_mean([]) is None


def test_a_comparison_as_json_has_each_value_under_its_name() -> None:
    """Over seeds t(0.975, 4) = 2.776 times 0.02, over pairs 1.96 times 0.01."""
    seeds, pairs = StandardError(0.02, 4), StandardError(0.01, math.inf)
    made = Difference(0.8, 0.7, (3, 4), seeds, pairs, paired=True)
    comparison = SystemComparison("one", "two", {NAMES[0]: made}, Difference(0.5, 0.25, (5, 6), None))
    found = differences_json(comparison)
    assert {name: found[name] for name in ("first", "second", "won", "lost", "inconclusive", "equal")} == {
        "first": "one", "second": "two", "won": 1, "lost": 0, "inconclusive": 0, "equal": 0,
    }  # fmt: skip
    (task,) = found["tasks"]
    intervals = {
        "over_seeds": [0.1 - 2.776445 * 0.02, 0.1 + 2.776445 * 0.02],
        "over_pairs": [0.1 - 0.0195996, 0.1 + 0.0195996],
    }
    assert {name: task.pop(name) for name in intervals} == {
        name: pytest.approx(ends, abs=1e-6) for name, ends in intervals.items()
    }
    jointly, detectable = task.pop("over_seeds_and_pairs"), task.pop("detectable")
    assert made.intervals[2] is not None
    assert jointly == [*made.intervals[2]]
    assert 0.06 < detectable < 0.12
    assert task == {
        "task": "A", "metric": "spearman", "setting": "all", "text": "senteval", "first": 0.8, "second": 0.7,
        "difference": pytest.approx(0.1), "seeds": [3, 4], "paired": True, "level": 0.05, "outcome": "won",
        "reason": "over paired seeds and pairs jointly",
    }  # fmt: skip
    assert found["mean"] == {
        "first": 0.5, "second": 0.25, "difference": 0.25, "seeds": [5, 6], "paired": False, "level": 0.05,
        "over_seeds": None, "over_pairs": None, "over_seeds_and_pairs": None, "detectable": None,
        "outcome": "inconclusive", "reason": "inconclusive over seeds, of which each trained side needs two",
    }  # fmt: skip


def test_the_headline_of_a_task_is_its_first_of_the_selected_weights() -> None:
    made = result(
        "s", 0, {("STSB", "mean"): 0.1, ("STSB", "all"): 0.5, ("STSB-dev", "all"): 0.6, ("A:b", "all"): 0.7}
    )
    scores = [
        *made.scores,
        *(score.model_copy(update={"selection": "last", "value": 0.9}) for score in made.scores),
    ]
    scores.append(made.scores[1].model_copy(update={"metric": "accuracy", "setting": "any", "value": 0.8}))
    scores.append(made.scores[1].model_copy(update={"metric": "pearson", "value": 0.3}))
    assert [(*name[:3], value) for name, value in headlines(scores, "raw")] == [
        ("STSB", "spearman", "all", 0.5), ("STSB", "accuracy", "any", 0.8),
    ]  # fmt: skip
    assert {name.text for name, _ in headlines(scores, "raw")} == {"raw"}


@pytest.mark.parametrize(
    ("text", "words", "value"),
    [
        ("PCL 78.42", ["pcl"], "78.42"),
        ("SimCSE = 76.25", ["simcse"], "76.25"),
        ("78,42%", [], "78.42"),
        ("SimCSE 2 base: 76.25", ["simcse", "2", "base"], "76.25"),
        ("Una, (base);", ["una", "base"], ""),
        ("-0.5", [], "-0.5"),
    ],
)
def test_a_search_has_words_and_the_last_number(text: str, words: list[str], value: str) -> None:
    assert split_search(text) == (words, value)


def test_cells_that_report_one_thing_are_a_group_with_the_number_of_its_own_paper_first() -> None:
    rows = ("m/v@b", "m@b", "m@c", "n@b")
    cells = [printed(75.0, row=row, origin="cited") for row in rows]
    own = printed(75.0, row="m/w@b", table="own/t")
    other = printed(75.0, row="m@b", column="STSB")
    groups = one_of_each([*cells, own, other])
    assert [[number.row for number in group] for group in groups] == [
        ["m/w@b", "m/v@b", "m@b"], ["m@c"], ["n@b"], ["m@b"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("stated", "middle"),
    [
        ({"mean": 75.0, "n": 3, "low": 74.0, "high": 77.0}, 75.0),
        ({"low": 74.0, "high": 77.0}, 75.5),
        ({"mean": 75.0, "n": 3, "low": 74.0}, 75.0),
        ({"sd": 0.3, "n": 3, "high": 77.0}, None),
    ],
)
def test_a_stated_mean_is_the_middle_of_a_summary_and_a_range_only_without_one(
    stated: dict[str, float], middle: float | None
) -> None:
    assert Summary.model_validate(stated).middle == middle
