"""Clauses of docstrings with numbers for which the near miss differs: plans, their files, records."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.data.augmentation.edits import crop_words
from harness.data.own_pairs import Entry, read_own_pairs, scored_pairs_of
from harness.errors import InputError
from harness.io.records import rounded
from harness.plan import estimate
from harness.plan.hours import Cost, is_included
from harness.plan.inputs import narrowed
from harness.plan.params_file import merge, write_params
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from harness.plan.stale import stale
from harness.tasks.logistic import SENTEVAL, WITHOUT_SEARCH, ClassifierProtocol
from methods.registry import METHODS
from tests.harness.plan.test_estimate import row, some_params, times

RECIPES = load_recipes()


def test_ten_digits_of_numbers_are_kept_and_other_values_stay() -> None:
    value = {"a": [2 / 3, 7, True], "b": (1234567.891234, "0.66666666666"), "c": None, "d": 2e-7 / 3}
    assert rounded(value) == {
        "a": [0.6666666667, 7, True],
        "b": [1234567.891, "0.66666666666"],
        "c": None,
        "d": 6.666666667e-08,
    }
    assert rounded(value)["a"][2] is True


@pytest.mark.parametrize(
    ("method", "place", "ratio"),
    [("own", "elsewhere.own", 1.0), ("own", "elsewhere.deep.own", 1.0), ("own", "methods.own", None)],
)
def test_a_step_of_a_method_from_outside_counts_like_simcses(
    monkeypatch: pytest.MonkeyPatch, method: str, place: str, ratio: float | None
) -> None:
    """It cannot have been measured; a method of the project that was not measured has no cost."""
    monkeypatch.setitem(METHODS, method, place)
    monkeypatch.setattr("harness.plan.hours.MODULES", {"elsewhere": Path(), "elsewhere.deep": Path()})
    run = some_params().runs["a__minilm-l2__s0"].model_copy(update={"method": method})
    assert is_included(method) is (ratio is not None)
    assert times(row()).relative(run, "cpu") == ratio


def test_a_run_without_a_task_of_the_shown_ones_keeps_its_tasks() -> None:
    (run,) = resolve(RECIPES, ["baselines/simcse"], seeds=1, backbones=["bert-base-uncased"]).runs.values()
    alone = run.model_copy(update={"tasks": ["TREC", "MR"]})
    assert narrowed({"run": alone}, ["STS12"], ["embedded", "hub"])["run"].tasks == ["TREC", "MR"]
    both = run.model_copy(update={"tasks": ["TREC", "STS12"]})
    assert narrowed({"run": both}, ["STS12"], ["embedded", "hub"])["run"].tasks == ["STS12"]


def test_the_command_that_plans_again_has_the_largest_number_of_seeds(tmp_path: Path) -> None:
    """A system without random numbers has one seed in every plan."""
    systems = RECIPES["baselines"].systems
    single = next(name for name, system in systems.items() if len(system.seeds) == 1)
    names = [f"baselines/{single}", "baselines/simcse"]
    params = resolve(RECIPES, names, seeds=3)
    assert {
        len({run.seed for run in params.runs.values() if run.id == name}) for name in (single, "simcse")
    } == {
        1,
        3,
    }
    write_params(params, tmp_path / "params.yaml")
    assert stale(tmp_path / "params.yaml") is None


@pytest.mark.parametrize(
    ("hours", "slots", "least"), [([1, 2, 3], 2, 3.0), ([3, 3, 3], 2, 4.5), ([], 2, 0.0)]
)
def test_jobs_take_the_longest_one_or_the_mean_of_the_slots(
    hours: list[float], slots: int, least: float
) -> None:
    assert estimate.hours_at_once(hours, slots) == least


def test_costs_are_added_by_their_kind_and_none_cost_nothing() -> None:
    assert Cost.total([Cost(1.0, 20.0, 300.0), Cost(4.0, 50.0, 600.0)]) == Cost(5.0, 70.0, 900.0)
    assert Cost.total([]) == Cost(0.0, 0.0, 0.0)


def test_a_later_setting_replaces_an_earlier_one_and_mappings_are_merged_at_every_depth() -> None:
    first = {"a": {"b": {"c": 1, "d": 2}, "e": [1]}, "f": {"g": 1}}
    second = {"a": {"b": {"d": 3}, "e": [2, 3]}, "f": 4}
    assert merge(first, second) == {"a": {"b": {"c": 1, "d": 3}, "e": [2, 3]}, "f": 4}
    assert merge(second, first) == {"a": {"b": {"c": 1, "d": 2}, "e": [1]}, "f": {"g": 1}}
    assert first["a"]["b"] == {"c": 1, "d": 2}  # type: ignore[index]


@pytest.mark.parametrize(
    ("score", "said"),
    [
        ("x" * 28, f"is '{'x' * 28}', expected a finite number"),
        ("9" * 400, f"is '{'9' * 12}...{'9' * 13}', expected a finite number"),  # thirty characters
        pytest.param(10**5000, "has over 300 digits, expected a finite number", id="digits"),
        (float("inf"), "is inf, expected a finite number"),
    ],
)
def test_a_score_that_is_no_number_is_shown_in_short(score: object, said: str) -> None:
    entries: list[Any] = [Entry("line 1", None, ("a", "b", score))]
    with pytest.raises(InputError, match=f"line 1: the score {re.escape(said)}$"):
        scored_pairs_of(entries, "file")


@pytest.mark.parametrize(("words", "share", "kept"), [(7, 0.25, 5), (7, 0.2, 6), (10, 0.25, 8), (2, 0.9, 1)])
def test_a_crop_keeps_what_the_rounded_share_leaves_and_at_least_one_word(
    words: int, share: float, kept: int
) -> None:
    """A quarter of 7 is 1.75, rounded 2; of 10 it is 2.5, rounded to the even 2."""
    text = [str(number) for number in range(words)]
    begins = set()
    for seed in range(60):
        made = crop_words(text, np.random.default_rng(seed), share=share)
        assert len(made) == kept
        assert made == text[int(made[0]) : int(made[0]) + kept]
        begins.add(made[0])
    assert begins == {str(number) for number in range(words - kept + 1)}


@pytest.mark.parametrize(
    ("head", "first"),
    [
        ('"a; b",c d,1', "a; b"),
        ("a; b,c d,1", "a; b"),
        ('"a, b";c d;1', "a, b"),
        ("a b;c d;1,5", "a b"),
    ],
)
def test_the_sign_between_columns_is_a_comma_unless_the_first_line_has_none_outside_of_quotes_and_numbers(
    tmp_path: Path, head: str, first: str
) -> None:
    sign = "," if head.count(",") > 1 else ";"
    (tmp_path / "pairs.csv").write_text(f"{head}\ne{sign}f{sign}3\n")
    assert read_own_pairs(tmp_path / "pairs.csv")[0].first == first


def test_the_classifiers_have_sentevals_numbers() -> None:
    grid = (1e-5, 1e-4, 1e-3, 1e-2)
    assert ClassifierProtocol(10, grid, 1e-3, 64, 5, 4, 200, 1111) == SENTEVAL
    assert ClassifierProtocol(10, (1e-9,), 1e-3, 64, 5, 1, 15, 1111) == WITHOUT_SEARCH
