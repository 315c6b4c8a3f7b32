"""The value of a trial: a method must beat each of its controls with every seed."""

from harness.report.formats.trial import FOOT, Worth, worth_rows


def test_a_control_is_beaten_if_it_is_below_the_score_of_every_seed() -> None:
    """Equal to the lowest seed is not below it."""
    worth = Worth(own=[0.58, 0.62], controls={"negated": 0.12, "permuted": 0.58, "untrained": 0.6})
    assert worth.unbeaten == ["permuted", "untrained"]
    rows = worth_rows(worth, "mine")
    assert [row[0] for row in rows] == ["STS-B dev", "mine", "negated", "permuted", "untrained"]
    assert [row[-1] for row in rows[2:]] == ["below every seed", "not below", "not below"]
    assert rows[1][1].startswith("60.00 ± ")


def test_a_trial_states_the_results_that_hold_after_a_choice_on_dev() -> None:
    assert "for settings fixed before: after a choice on dev" in FOOT
