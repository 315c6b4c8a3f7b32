"""`verify`: one number with its answers, plan and sources, as text and as JSON."""

import pytest

from harness.facts.evidence.ledger import Ledger
from harness.facts.evidence.others import (
    Others,
    ReportedNumber,
    known_sd,
    nothing_known,
    others_of,
    reported_number,
)
from harness.facts.published import Published
from harness.facts.settling import Price
from harness.facts.statistics import KnownSd
from harness.report.verification import next_look_words, to_text, verify

STUDY = KnownSd(0.84, 50)


@pytest.fixture(scope="module")
def simcse(ledger: Ledger, published: Published) -> tuple[ReportedNumber, Others]:
    reported = reported_number(
        published, ledger, table="pcl/table2", row="simcse@bert-base-uncased", column="Avg"
    )
    assert reported is not None
    return reported, others_of(ledger, reported)


def test_without_our_seeds_others_speak_and_the_plan_rests_on_their_difference(
    ledger: Ledger, simcse: tuple[ReportedNumber, Others]
) -> None:
    spread = known_sd(ledger, "simcse@bert-base-uncased", "Avg")
    assert spread is not None
    found = verify(*simcse, known=spread, price=Price("sentbench plan pcl/simcse", {"run": 0.5}, {}))
    assert found.verdict == "independent runs score lower"
    assert found.ours is None
    assert found.plan is not None
    assert (found.plan.seeds, found.plan.more, found.plan.gpu_hours) == (20, 20, 0.5 * 20)
    assert found.plan.chance is not None
    assert 0.5 <= found.plan.chance < 0.7


def test_our_seeds_join_the_draw_and_decide_the_verdict(simcse: tuple[ReportedNumber, Others]) -> None:
    """Ten seeds near 75.2 with an sd of 0.2; the best of ten on dev reaches some 0.6 more."""
    ours = [75.0, 75.4] * 5
    before, after = verify(*simcse, known=STUDY), verify(*simcse, values=ours, known=STUDY)
    assert before.draw is not None
    assert after.draw is not None
    assert (after.draw.runs, after.draw.sources) == (before.draw.runs + 10, before.draw.sources + 1)
    assert after.verdict == "does not replicate (lower)"
    assert after.plan is None


def test_inconclusive_seeds_lead_to_a_look_with_a_verdict_more_likely_than_not(
    simcse: tuple[ReportedNumber, Others],
) -> None:
    found = verify(*simcse, values=[75.1, 75.3, 75.5], known=STUDY, price=Price("", {"run": 2.0}, {}))
    assert found.verdict == "inconclusive"
    assert found.plan is not None
    assert (found.plan.seeds, found.plan.more, found.plan.gpu_hours) == (20, 17, 34.0)
    early = verify(*alone(1), price=Price("", {"run": 3.0}, {})).plan
    assert early is not None
    assert (early.seeds, early.more, early.gpu_hours, early.chance) == (5, 5, 15.0, None)


def test_after_the_last_look_nothing_is_planned(simcse: tuple[ReportedNumber, Others]) -> None:
    """Forty seeds 0.45 below, sd 1: neither within half a point nor off by more."""
    found = verify(*simcse, values=[74.8, 76.8] * 20, known=STUDY, price=Price("", {"run": 2.0}, {}))
    assert found.verdict == "inconclusive"
    assert found.plan is not None
    assert (found.plan.seeds, found.plan.more, found.plan.gpu_hours) == (None, None, None)
    assert "no verdict after 40 seeds" in to_text(found)


def alone(seeds: int | None) -> tuple[ReportedNumber, Others]:
    """A number that nobody measured again."""
    return ReportedNumber("toy/table1", "a@b", "Avg", 75.0, "toy", seeds, 0.005), nothing_known()


def test_a_deterministic_system_needs_one_run() -> None:
    exact = KnownSd(0.0, 0)
    unrun = verify(*alone(None), known=exact)
    assert unrun.plan is not None
    assert (unrun.plan.seeds, unrun.plan.chance) == (1, 1.0)
    assert next_look_words(unrun.plan).endswith("(chance of a verdict 100%, no seed changes its score)")
    assert verify(*alone(None), values=[75.0], known=exact).verdict == "replicates"


@pytest.mark.parametrize("reported", [None, 1])
def test_the_best_by_dev_is_picked_of_all_our_seeds(reported: int | None) -> None:
    """The runs behind a print are not the seeds that it was chosen from: of our three the pick is 76."""
    values, dev = [74.0, 76.0, 77.0], [80.0, 81.0, 79.0]
    found = verify(*alone(reported), values=values, dev=dev)
    assert found.best_by_dev == 76.0
    assert "selection  of our 3 seeds the best on dev has 76.00 on test" in to_text(found)
    assert verify(*alone(3), values=values, dev=dev).best_by_dev is None, "a mean was chosen from nothing"
