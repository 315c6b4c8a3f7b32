"""`verify`: one number with its answers, plan and sources, as text and as JSON."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.evidence.judged import Judged
from harness.evidence.ledger import Ledger
from harness.evidence.number_tests import MARGIN, Origin
from harness.evidence.numbers import PublishedNumber
from harness.evidence.others import Others, Relation, known_sd, others_of
from harness.evidence.published import Published
from harness.evidence.settling import Price, error_at, plan_for
from harness.evidence.statistics import KnownSd
from harness.evidence.studies import Study
from harness.evidence.verdicts import judge
from harness.evidence.words import Verdict
from harness.report.formats.judged import judged_json, judged_text
from harness.report.pages.cells import evidence_facts
from harness.report.pages.first_screen import basis_of
from harness.report.sentences import next_look_words
from tests.harness.report.made_judged import alone, judged, measured, printed

STUDY = KnownSd(0.84, 50)


@pytest.fixture(scope="module")
def simcse(ledger: Ledger, published: Published) -> tuple[PublishedNumber, Others]:
    number = published.number("pcl/table2", "simcse@bert-base-uncased", "Avg")
    assert number is not None
    return number, others_of(ledger, number)


def test_without_our_seeds_others_speak_and_the_plan_rests_on_their_difference(
    ledger: Ledger, simcse: tuple[PublishedNumber, Others]
) -> None:
    """The level is off and the number inside: 5 of the runs are above it."""
    spread = known_sd(ledger, "simcse@bert-base-uncased", "Avg")
    assert spread is not None
    verification = judged(*simcse, known=spread, price=Price("sentbench plan pcl/simcse", {"run": 0.5}, {}))
    assert verification.text == "independent mean is lower; single runs reach it"
    assert verification.verdict == Verdict("others", "lower", "inside")
    assert verification.percentile is not None
    assert (verification.percentile.above, verification.percentile.runs) == (5, 61)
    assert verification.ours is None
    assert verification.plan is not None
    assert (verification.plan.seeds, verification.plan.more, verification.plan.gpu_hours) == (
        20,
        20,
        0.5 * 20,
    )
    assert verification.plan.why.endswith("sd 0.84 by a study of 50 seeds")


def test_outside_of_a_clone_the_command_of_a_look_says_where_it_runs(
    simcse: tuple[PublishedNumber, Others], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    planned = judged(*simcse, known=STUDY, price=Price("sentbench plan pcl/simcse", {"run": 0.5}, {}))
    command = "run        sentbench plan pcl/simcse --seeds 20 && sentbench launch"
    assert command in judged_text(planned).splitlines()
    monkeypatch.chdir(tmp_path)
    assert f"{command} (in a clone of the project)" in judged_text(planned).splitlines()


def test_our_seeds_join_the_draw_and_decide_the_verdict(simcse: tuple[PublishedNumber, Others]) -> None:
    """Ten seeds near 75.2 with an sd of 0.2; the best of ten on dev reaches some 0.6 more."""
    ours = [75.0, 75.4] * 5
    before, after = judged(*simcse, known=STUDY), judged(*simcse, values=ours, known=STUDY)
    assert before.percentile is not None
    assert after.percentile is not None
    assert (after.percentile.runs, after.percentile.sources) == (
        before.percentile.runs + 10,
        before.percentile.sources + 1,
    )
    assert after.text == "does not replicate (lower)"
    assert after.plan is None


def test_inconclusive_seeds_lead_to_the_next_of_the_declared_looks(
    simcse: tuple[PublishedNumber, Others],
) -> None:
    verification = judged(*simcse, values=[75.1, 75.3, 75.5], known=STUDY, price=Price("", {"run": 2.0}, {}))
    assert verification.text == "not settled"
    assert verification.plan is not None
    assert (verification.plan.seeds, verification.plan.more, verification.plan.gpu_hours) == (40, 37, 74.0)
    early = judged(*alone(1), price=Price("", {"run": 3.0}, {})).plan
    assert early is not None
    assert (early.seeds, early.more, early.gpu_hours) == (5, 5, 15.0)
    missing = judged(
        *alone(1), values=[75.0, 75.4, 76.0, 74.2, 75.1], in_order=3, price=Price("", {"run": 3.0}, {})
    )
    assert missing.text == "not settled"
    assert missing.plan is not None
    assert (missing.plan.seeds, missing.plan.more) == (40, 37), "two of the first five declared are missing"


def test_no_look_is_advised_if_none_is_likely_to_settle_the_level() -> None:
    """t(0.984, 39) 1.74 / sqrt(40) = 0.612: no mean is shown to be within half a point, one 2 off is."""
    wide = KnownSd(1.74, 50)
    plan = judged(*alone(1), known=wide).plan
    assert plan is not None
    assert (plan.seeds, plan.why) == (None, "cannot be settled by 40 seeds: sd 1.74 by a study of 50 seeds")
    far = plan_for(alone(1)[0], (), others=-2.0, known=wide, planned=None, price=None)
    assert (far.seeds, far.more) == (20, 20)


def test_the_means_that_settle_a_look_are_those_that_the_rules_settle() -> None:
    """Of five seeds with an sd of 0.3, at the ends that the plan states and just beyond them."""
    error = error_at(5, 0.3)
    shape = [0.3 * step * 0.4**0.5 for step in (-2, -1, 0, 1, 2)]
    for off, level in (
        (MARGIN - error - 0.001, "within half a point"),
        (MARGIN - error + 0.001, "not known"),
        (MARGIN + error - 0.001, "not known"),
        (MARGIN + error + 0.001, "higher"),
    ):
        assert judge([75 + off + step for step in shape], 75.0, origin=Origin()).verdict.level == level


def test_after_the_last_look_no_run_is_planned(simcse: tuple[PublishedNumber, Others]) -> None:
    """Forty seeds 0.45 below, sd 1: neither within half a point nor off by more."""
    verification = judged(*simcse, values=[74.8, 76.8] * 20, known=STUDY, price=Price("", {"run": 2.0}, {}))
    assert verification.text == "not settled"
    assert verification.plan is not None
    assert (verification.plan.seeds, verification.plan.more, verification.plan.gpu_hours) == (
        None,
        None,
        None,
    )
    assert "no verdict after 40 seeds" in judged_text(verification)


def test_a_deterministic_system_needs_one_run() -> None:
    exact = KnownSd(0.0, 0)
    unrun = judged(*alone(None), known=exact)
    assert unrun.plan is not None
    assert unrun.plan.seeds == 1
    assert next_look_words(unrun.plan) == "1 seed in all, 1 more (no seed changes its score)"
    assert judged(*alone(None), values=[75.0], known=exact).text == "replicates"


@pytest.mark.parametrize("reported", [None, 1])
def test_the_best_by_dev_is_picked_of_all_our_seeds(reported: int | None) -> None:
    """The runs behind a print are not the seeds that it was chosen from: of our three the pick is 76."""
    values, dev = [74.0, 76.0, 77.0], [80.0, 81.0, 79.0]
    verification = judged(*alone(reported), values=values, dev=dev)
    assert verification.best_by_dev == 76.0
    assert "selection  of our 3 seeds the best on dev has 76.00 on test" in judged_text(verification)
    assert judged(*alone(3), values=values, dev=dev).best_by_dev is None, "a mean was chosen from nothing"


@pytest.mark.parametrize(
    ("seeds", "picked", "words"),
    [
        (None, None, "seeds not stated"),
        (1, None, "one run"),
        (1, 1, "one run"),
        (5, 1, "mean of 5 seeds"),
        (5, None, "mean of 5 seeds"),
        (1, 2, "best of 2 on dev"),
        (None, 10, "best of 10 on dev"),
    ],
)
def test_a_reported_number_is_shown_with_its_authors_statement_on_runs(
    seeds: int | None, picked: int | None, words: str
) -> None:
    number, others = alone(seeds)
    line = judged_text(judged(replace(number, picked=picked), others)).splitlines()[1]
    assert line == f"reported   75.00 ({words}, by toy)"


@pytest.mark.parametrize(("best", "below"), [(74.9, True), (75.0, False), (75.1, False)])
def test_json_says_whether_the_best_of_our_seeds_on_dev_is_below_the_number(best: float, below: bool) -> None:
    """The number is 75; the best on dev is neither the best on test nor the last seed."""
    shown = judged_json(judged(*alone(1), values=[80.0, best, 70.0], dev=[60.0, 62.0, 61.0]))
    assert shown["best_by_dev"] == {"expected": best, "below_reported": below}
    assert judged_json(judged(*alone(1), values=[80.0]))["best_by_dev"] is None


@pytest.mark.parametrize(
    ("ours", "sources", "words"),
    [
        ([], {}, "no independent run found"),
        ([75.0], {"a": (74.0,)}, "1 run of ours"),
        ([75.0, 76.0], {}, "2 runs of ours"),
        ([], {"a": (74.0,)}, "1 independent source, 1 single run"),
        ([], {"a": (74.0, 75.0), "b": ()}, "2 independent sources, 2 single runs"),
        ([], {"b": ()}, "1 independent source, 0 single runs"),
    ],
)
def test_a_verdict_rests_on_our_runs_or_else_on_the_sources_and_their_single_runs(
    ours: list[float], sources: dict[str, tuple[float, ...]], words: str
) -> None:
    """Source `b` reports a mean without its runs."""
    reported, others = alone(1)
    pool = replace(
        others.independent,
        sources=dict.fromkeys(sources, 74.5),
        runs={name: runs for name, runs in sources.items() if runs},
    )
    known = replace(others, pools={**others.pools, "independent": pool})
    assert basis_of(judged(reported, known, values=ours)) == words


def test_of_seeds_with_equal_dev_scores_the_first_declared_one_is_the_best() -> None:
    """The second has the higher test score, which selects nothing."""
    number, others = alone(1)
    for dev, best in (([80.0, 80.0, 79.0], 75.0), ([80.0, 80.1, 79.0], 76.0)):
        assert judged(number, others, values=[75.0, 76.0, 77.0], dev=dev).best_by_dev == best


@pytest.mark.parametrize("relation", ["same authors", "checkpoint", "other recipe"])
def test_a_second_measurement_counts_as_one_unless_another_recipe_made_it(relation: Relation) -> None:
    """Nobody has searched; the authors' own numbers or weights were measured again, or something else was."""
    number, others = alone(1)
    study = Study.model_validate(
        {"system": "a@b", "kind": "re-run", "source": "x/y", "scores": {"Avg": 75.0}}
    )
    pools = {**others.pools, relation: replace(others.pools[relation], studies=(study,))}
    expected = "no independent result" if relation == "other recipe" else "authors only"
    assert judged(number, replace(others, pools=pools)).text == expected


def test_a_cell_states_the_median_of_others_to_a_hundredth() -> None:
    number, others = alone(1)
    sources = {"a": 75.21, "b": 75.43, "c": 75.48}
    pool = replace(others.independent, sources=sources)
    known = judged(number, replace(others, pools={**others.pools, "independent": pool}))
    assert dict(evidence_facts(known))["Others"] == "75.43, median of 3 sources"


def by_one_lab(other: float) -> Judged:
    """A number 2 above twenty runs of one source around 75, next to one run of another source."""
    runs = tuple(75.0 + 0.3 * sign for sign in (-1, 1)) * 10
    others = measured({"lab/a": 75.0, "lab/b": other}, {"lab/a": runs, "lab/b": (other,)})
    pool = replace(others.independent, counts={"lab/a": 20, "lab/b": 1})
    return judged(printed(77.0), replace(others, pools={**others.pools, "independent": pool}))


def test_a_verdict_by_one_lab_says_so_wherever_it_stands_with_what_it_does_not_cover() -> None:
    known = by_one_lab(75.2)
    assert known.verdict.fails
    assert known.text == "independent runs score lower (one lab)"
    assert known.says.endswith(" (one lab)")
    text, facts = judged_text(known), dict(evidence_facts(known))
    for shown in (text, facts["Level"]):
        assert "the mean of 20 runs of one lab, lab/a, is 2.00 lower" in shown
    for shown in (text, facts["Assumes"]):
        assert "an offset between the two labs, and the best of many runs on the test set" in shown
    assert basis_of(known) == "20 single runs of one lab"


def test_labs_that_differ_by_more_than_seeds_do_settle_nothing_and_are_named() -> None:
    known = by_one_lab(76.8)
    assert known.text == "not settled"
    assert "lab/a and lab/b differ by more than seeds do" in judged_text(known)
    assert "Assumes" not in dict(evidence_facts(known))


@pytest.mark.parametrize(
    ("values", "sources", "limits"),
    [
        ([74.0, 74.1, 73.9, 74.2, 73.8], {}, ["an offset between the labs", "on the test set"]),
        (
            [],
            {"a": 72.0, "b": 72.1, "c": 71.9},
            ["depend on one another", "labs that differ", "on the test set"],
        ),
    ],
)
def test_the_limits_of_a_verdict_are_told_in_its_cell_and_by_verify(
    values: list[float], sources: dict[str, float], limits: list[str]
) -> None:
    known = judged(printed(75.0), measured(sources) if sources else alone(1)[1], values=values)
    assert known.verdict.is_settled
    for shown in (judged_text(known), dict(evidence_facts(known))["Assumes"]):
        assert all(limit in shown for limit in limits), shown
