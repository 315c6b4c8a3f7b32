"""The look that is advised: the chance that it settles the level, and the mean that it is asked for."""

import numpy as np
import pytest

from harness.evidence import settling
from harness.evidence.chances import chances
from harness.evidence.judged import judge_number
from harness.evidence.ledger import Ledger
from harness.evidence.number_tests import LOOKS, Origin
from harness.evidence.others import others_of
from harness.evidence.published import Published
from harness.evidence.statistics import KnownSd
from harness.evidence.verdicts import judge
from tests.harness.report.made_judged import printed


def test_chances_equal_those_of_judged_studies() -> None:
    """2,000 studies with a mean 1.1 off and an sd of 0.84, judged look by look by the rules of verdicts."""
    rng, settled = np.random.default_rng(3), dict.fromkeys(LOOKS, 0)
    for _ in range(2_000):
        seeds = (75 + rng.normal(-1.1, 0.84, LOOKS[-1])).tolist()
        met = False
        for look in LOOKS:
            met |= judge(seeds[:look], 75.0, origin=Origin()).verdict.is_settled
            settled[look] += met
    for look, chance in chances(-1.1, 0.84).items():
        assert chance == pytest.approx(settled[look] / 2_000, abs=0.03)


def test_the_advised_look_is_the_first_with_a_chance_of_four_in_five_and_says_it() -> None:
    """SimCSE on BERT-base by its fifty seeds: 17, 46, 82 and 99 % by the looks."""
    study = KnownSd(0.84, 50)
    plan = settling.plan_for(printed(76.25), (), others=-1.10, known=study, planned=None, price=None)
    assert (plan.seeds, plan.more) == (20, 20)
    assert "a chance of 82 % if it is 1.10 off, 17 % by 5 seeds" in plan.why
    alone = settling.plan_for(printed(76.25), (), others=None, known=study, planned=None, price=None)
    assert alone.seeds == 40
    assert "a chance of 88 % if it equals the number, 1 % by 5 seeds" in alone.why


def test_no_look_at_any_published_number_is_advised_without_its_chance(
    ledger: Ledger, published: Published
) -> None:
    advised = 0
    for number in published.numbers.values():
        plan = judge_number(number, others_of(ledger, number)).plan
        if plan is not None and plan.seeds is not None:
            advised += 1
            assert "chance" in plan.why, number
    assert advised > 100


@pytest.mark.parametrize(
    ("values", "others", "seeds"),
    [
        ([74.9, 75.1], -0.5, 5),
        ([74.4, 74.6], 0.0, None),
        ([], 0.0, 5),
        ([], -0.5, None),
    ],
)
def test_our_mean_decides_whether_more_seeds_help_and_without_seeds_that_of_others(
    values: list[float], others: float, seeds: int | None
) -> None:
    """The reported number is 75, the margin 0.5: a mean of 74.5 is on it, so no look will settle it.

    The standard deviation is 0.1 to 0.15, with an error of 0.2 at five seeds; a mean of 75 is 0.5 away.
    """
    plan = settling.plan_for(
        printed(75.0), values, others=others, known=None, planned=KnownSd(0.1, 50), price=None
    )
    assert plan.seeds == seeds
    assert ("cannot be settled by 40 seeds" in plan.why) is (seeds is None)
