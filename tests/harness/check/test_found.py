"""What `sentbench check` says of results: each field of a comparison, and what has to be identical."""

from types import SimpleNamespace
from typing import Any

import pytest

from harness.commands.check_results import (
    Findings,
    not_identical,
    reproduction_json,
    upgraded_line,
)
from harness.evidence.moved import ScoreChange
from harness.evidence.reproduction import Averages, Reproduction
from harness.evidence.schema import ScoreName

CHANGE = ScoreChange("b__x__s0", ScoreName("STS12", "pearson", "mean", "last"), 50.0, 53.0, None, "moved")
COMPARED = Reproduction(
    systems={"a__x__s0": "a", "b__x__s0": "b", "c__x__s0": "c", "d__x__s0": "d", "e__x__s0": "e"},
    answers={"a__x__s0": "identical", "b__x__s0": "moved", "d__x__s0": "identical", "e__x__s0": "identical"},
    changes=[CHANGE],
    missing=["c__x__s0"],
    averages=Averages(4, 3, 3.0, "b@x STS12", None),
    reasons=["another processor"],
    not_evaluated=["a__x__s0"],
    outdated=["d__x__s0"],
    upgraded=["e__x__s0"],
    further={"f__x__s9": False},
)
"""A comparison in which no two fields are equal."""


def test_every_field_of_a_comparison_is_in_its_json() -> None:
    assert reproduction_json(COMPARED, ["dvc.lock"]) == {
        "agrees": False,
        "headline": COMPARED.headline,
        "runs": 5,
        "identical": 1,
        "answers": dict(COMPARED.answers),
        "moved": ["b"],
        "missing": ["c__x__s0"],
        "not_evaluated": ["a__x__s0"],
        "outdated": ["d__x__s0"],
        "upgraded": ["e__x__s0"],
        "further": {"f__x__s9": False},
        "reasons": ["another processor"],
        "changed_files": ["dvc.lock"],
        "changes": [
            {
                "task": "STS12",
                "metric": "pearson",
                "setting": "mean",
                "selection": "last",
                "run": "b__x__s0",
                "before": 50.0,
                "after": 53.0,
                "answer": "moved",
            }
        ],
    }


def test_the_packages_of_upgraded_results_are_named() -> None:
    line = upgraded_line(COMPARED, ["torch 2.0", "numpy 1.0"])
    assert line is not None
    assert line.startswith("1 of 5 results were computed with torch 2.0, numpy 1.0, and not measured again; ")
    assert upgraded_line(Reproduction({}, {}, [], [], None, []), ["torch 2.0"]) is None


@pytest.mark.parametrize(
    "line",
    [
        "not reproduced: 3 moved",
        "reproduced: 3 moved",
        "not compared: 3 moved",
        "compared: 3 moved",
        "3 moved",
    ],
)
def test_an_answer_with_problems_begins_with_their_number(line: str) -> None:
    assert Findings(lines=["before", line]).answer == line
    one, two = (Findings(["problem"] * count, ["before", line]).answer for count in (1, 2))
    assert one == "not reproduced: 1 problem above; 3 moved"
    assert two == "not reproduced: 2 problems above; 3 moved"


def result(arithmetic: str = "portable", *, trained: bool = True) -> Any:
    made = SimpleNamespace(arithmetic=arithmetic)
    return SimpleNamespace(provenance=made, selection=SimpleNamespace(last_step=9 * trained))


RUN, OTHER = "a__x__s0", "b__x__s0"


def lines(
    answer: str = "moved",
    *,
    losses: dict[str, Any] | None = None,
    before: Any = None,
    here: Any = None,
    other: str = "identical",
    changes: int = 1,
) -> list[str]:
    compared: Any = SimpleNamespace(
        answers={RUN: answer, OTHER: other},
        changes=[
            ScoreChange(key, ScoreName(f"T{number}", "spearman", "all", "best-dev"), 1.0, 2.0, None, "moved")
            for key in (RUN, OTHER)
            for number in range(changes)
        ],
    )
    formers = {RUN: before or result(), OTHER: result()}
    results = {RUN: here or result(), OTHER: result()}
    known = {RUN: "identical", OTHER: "moved"} if losses is None else losses
    return not_identical(compared, formers, results, known, {RUN: {OTHER, "unplanned"}})


def test_a_run_that_passes_its_first_losses_has_to_be_identical_unless_something_explains_it() -> None:
    (line,) = lines("within seed noise")
    assert line == (
        f"{RUN}: passes its first losses, and its result is not identical (within seed noise): "
        "1 other scores (T0 spearman)"
    )
    assert len(lines("equal to rounding")) == 1
    assert not lines("identical")
    assert not lines(losses={RUN: "equal to rounding"}), "its losses differ too"
    assert not lines(other="equal to rounding"), "it learns from a run that differs"
    assert not lines(before=result("native")), "bits of native arithmetic depend on the machine"
    assert not lines(here=result("native"))


def test_a_run_without_training_passes_if_any_losses_were_measured() -> None:
    assert len(lines(losses={"c__x__s0": "moved"}, here=result(trained=False))) == 1
    assert not lines(losses={"c__x__s0": "moved"})
    assert not lines(losses={}, here=result(trained=False))


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        (0, "0 other scores (none)"),
        (3, "3 other scores (T0 spearman, T1 spearman, T2 spearman)"),
        (4, "4 other scores (T0 spearman, T1 spearman, T2 spearman, ...)"),
    ],
)
def test_three_scores_that_differ_are_named(changes: int, shown: str) -> None:
    (line,) = lines(changes=changes)
    assert line.endswith(shown)
