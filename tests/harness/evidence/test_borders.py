"""Values on a border of a rule, just inside of it and just outside: the rule says which side they are on."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.errors import InputError
from harness.evidence import comparisons, settling
from harness.evidence.cite import authors_mean, citation_of
from harness.evidence.comparisons import mean_differences, surviving
from harness.evidence.curves import EVALUATIONS, DevEvaluation, read_curve
from harness.evidence.differences import (
    Difference,
    difference_of,
    holm,
    move_together,
)
from harness.evidence.draws import clopper_pearson, percentile, placed
from harness.evidence.moved import FLOOR, ROUNDING_POINTS, Band, answer_of, band_of
from harness.evidence.number_tests import (
    AT_A_LOOK,
    LEVEL,
    LOOKS,
    MARGIN,
    Origin,
    PValues,
    borrows,
    collapsed_runs,
    look_of,
    next_look,
    over_looks,
)
from harness.evidence.resampling import percentile_interval, standard_error
from harness.evidence.schema import ScoreName
from harness.evidence.statistics import ROUNDING as EXACT
from harness.evidence.statistics import SMALL_SAMPLE, Interval, KnownSd, StandardError, half_width, student
from harness.evidence.verdicts import (
    AMONG_SOURCES,
    Judgement,
    Sources,
    answers_at_a_look,
    by_others,
    judge,
    on_record,
)
from harness.evidence.words import DRAWS, LEVELS, Verdict
from harness.io.files import write_record
from tests.harness.report.made_judged import measured, printed

EVEN = [74.0, 75.0, 76.0, 75.0, 75.0]


def levels(**p: float) -> tuple[str, str]:
    """Returns the level and the draw of p-values of 0.5 and the given ones, of a mean below the number."""
    tests = PValues(*(np.asarray(p.get(name, 0.5)) for name in PValues._fields))
    level, draw = answers_at_a_look(tests, -1.0)
    return LEVELS[int(level)], DRAWS[int(draw)]


def test_a_p_value_at_its_level_is_not_below_it() -> None:
    under = AT_A_LOOK * (1 - 1e-9)
    assert levels(same=AT_A_LOOK)[0] == levels(level_differs=AT_A_LOOK)[0] == "not known"
    assert levels(same=under)[0] == "within half a point"
    assert levels(level_differs=under)[0] == "lower"
    assert levels(plug_in=LEVEL)[1] == "inside"
    assert levels(plug_in=LEVEL * (1 - 1e-9), replicates=AT_A_LOOK)[1] == "at the edge"
    assert levels(plug_in=0.0, replicates=under)[1] == "outside"
    assert over_looks(AT_A_LOOK) == len(LOOKS) * AT_A_LOOK
    assert over_looks(under) == LEVEL
    assert surviving([LEVEL]) == [True]
    assert surviving([LEVEL * (1 + 1e-9)]) == [False]


def test_a_difference_of_zero_counts_as_higher() -> None:
    tests = PValues(*map(np.asarray, (0.5, 0.0, 0.5, 0.5)))
    assert LEVELS[int(answers_at_a_look(tests, 0.0)[0])] == "higher"


def test_a_p_value_on_a_step_of_holm_is_not_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two: 0.025 is at the first step, so the second one stays at it too."""
    assert holm([0.025, 0.04]) == [0.025, 0.025]
    assert holm([0.0249, 0.04]) == [0.025, 0.05]
    for p, apart in ((LEVEL, False), (LEVEL / 2, True)):
        monkeypatch.setattr(comparisons, "difference_of", lambda *sides, p=p, exact: SimpleNamespace(p=p))
        assert bool(mean_differences([[1.0, 2.0], [3.0, 4.0]], [False, False])[1][0, 1]) is apart


def test_exact_systems_are_apart_from_more_than_rounding() -> None:
    for difference, apart in ((EXACT, False), (2 * EXACT, True)):
        assert bool(mean_differences([[difference], [0.0]], [True, True])[1][0, 1]) is apart
    errors: dict[str, Any] = {"pairs": StandardError(EXACT, np.inf)}
    same = difference_of({0: EXACT}, {0: 0.0}, exact=(True, True), **errors)
    assert same.outcome == "equal"
    assert difference_of({0: 2 * EXACT}, {0: 0.0}, exact=(True, True), **errors).outcome != "equal"
    assert StandardError(0.0, np.inf).p(EXACT) == 1.0
    assert StandardError(0.0, np.inf).p(2 * EXACT) == 0.0


def test_a_small_difference_has_an_interval_inside_of_the_margin() -> None:
    """Raw units: half a point is 0.005. An exact difference has no error, so its interval is itself."""
    for size, small in ((0.00499, True), (0.005, False)):
        difference = Difference(size, 0.0, (2, 2), StandardError(0.0, np.inf), None)
        assert (difference.outcome, difference.is_small) == ("won", small)


def test_seeds_move_together_only_from_two_common_ones_and_by_their_sums() -> None:
    """Equal scores have differences without spread; opposite ones have sums without spread."""
    first = {0: 1.0, 1: 3.0}
    assert move_together(first, first)
    assert not move_together(first, {0: 3.0, 1: 1.0})
    assert not move_together({0: 1.0}, {0: 1.0})
    assert not move_together({0: 1.0, 1: 1.0}, {0: 2.0, 1: 2.0}), "nothing moves"


def test_the_looks_are_reached_at_their_seeds() -> None:
    assert [look_of(seeds) for seeds in (4, 5, 9, 10, 39, 40, 99)] == [0, 5, 5, 10, 20, 40, 40]
    assert [next_look(seeds) for seeds in (0, 4, 5, 10, 39, 40)] == [5, 5, 10, 20, 40, None]


def test_a_study_counts_for_less_than_a_small_sample() -> None:
    """At SMALL_SAMPLE own seeds, or sources, a larger spread of a study no longer counts."""
    study = KnownSd(100.0, 50)
    for count in (SMALL_SAMPLE - 1, SMALL_SAMPLE):
        values = [float(n) for n in range(count)]
        alone = half_width(values, known=None, confidence=0.9)
        assert (half_width(values, known=study, confidence=0.9) == alone) is (count == SMALL_SAMPLE)
        assert bool(borrows(count, study.sd, study)) is (count < SMALL_SAMPLE)
        sd, basis = settling._assumed_sd(values, study, None)
        assert (sd == 100.0) is (count < SMALL_SAMPLE), basis
    assert not borrows(3, 1.0, KnownSd(1.0, 1))
    assert borrows(3, 1.0, KnownSd(1.0, 2))
    # F with 2 and 4 degrees of freedom: 5 % lie above 6.944
    assert borrows(3, 6.94**0.5, KnownSd(1.0, 5))
    assert not borrows(3, 6.95**0.5, KnownSd(1.0, 5))


def test_a_study_of_one_seed_has_no_standard_deviation() -> None:
    assert settling._assumed_sd([], KnownSd(0.5, 2), None)[0] == 0.5
    assert settling._assumed_sd([], KnownSd(0.5, 1), None)[0] is None


def test_of_two_standard_deviations_ours_counts_if_the_study_has_no_more() -> None:
    assert settling._assumed_sd([1.0, 3.0], KnownSd(2.0**0.5, 50), None)[1] == "of our 2 seeds"
    assert settling._assumed_sd([1.0, 3.0], KnownSd(1.5, 50), None)[1] == "by a study of 50 seeds"


@pytest.mark.parametrize(
    ("hours", "shown"), [(9.94, "9.9"), (9.99, "10"), (10.04, "10.0"), (99.94, "99.9"), (100.0, "100")]
)
def test_hours_have_a_decimal_from_ten_to_a_hundred(hours: float, shown: str) -> None:
    assert settling.format_hours(hours) == f"{shown} GPU hours"


def test_ten_hours_and_a_hundred_are_of_the_larger_range() -> None:
    assert settling.format_hours(10.0) == "10.0 GPU hours"
    assert settling.format_hours(100.4) == "100 GPU hours"


@pytest.mark.parametrize(
    ("chance", "seeds"), [({5: 0.8, 40: 0.9}, 5), ({5: 0.79, 10: 0.8, 40: 0.9}, 10), ({40: 0.5}, 40)]
)
def test_a_look_with_a_chance_of_exactly_four_in_five_is_advised(
    chance: dict[int, float], seeds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a last look of exactly an even chance is not without hope."""
    monkeypatch.setattr(settling, "chances", lambda *given: dict.fromkeys(LOOKS, 0.5) | chance)
    number = printed(75.0)
    plan = settling.plan_for(number, (), others=-1.0, known=None, planned=KnownSd(1.0, 50), price=None)
    assert plan.seeds == seeds
    monkeypatch.setattr(settling, "chances", lambda *given: dict.fromkeys(LOOKS, 0.49))
    plan = settling.plan_for(number, (), others=-1.0, known=None, planned=KnownSd(1.0, 50), price=None)
    assert "cannot be settled by 40 seeds" in plan.why


@pytest.mark.parametrize(("error", "near"), [(MARGIN, False), (0.49, True)])
def test_a_mean_within_the_margin_gives_a_verdict_only_if_the_error_is_smaller(
    error: float, near: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling, "error_at", lambda look, sd: error)
    plan = settling.plan_for(printed(75.0), (), others=-2.0, known=None, planned=KnownSd(0.1, 50), price=None)
    assert ("within" in plan.why) is near


def test_our_mean_is_cited_from_the_first_look_and_others_from_three_sources() -> None:
    """Numbers far off, so that nothing replicates."""

    def kind(ours: int, sources: int) -> str:
        others = measured({str(n): 70.0 + n for n in range(sources)})
        from tests.harness.report.made_judged import judged

        known = KnownSd(0.0, 0) if ours == 1 else None
        return citation_of(judged(printed(80.0), others, values=EVEN[:ours], known=known)).kind

    assert [kind(ours, 0) for ours in (0, 1, 4, 5)] == ["reported", "ours", "reported", "ours"]
    assert [kind(0, sources) for sources in (2, 3)] == ["reported", "independent"]


def test_a_run_on_the_border_of_rounding_is_a_tie() -> None:
    """Reported 75.0 with a rounding of 0.25: runs from 74.75 to 75.25 are ties."""
    share = percentile([[74.75], [75.25], [74.5], [75.5]], 75.0, rounding=0.25)
    assert share.value == (1 + 3) / 2 / 4
    assert placed({"a": [75.25, 75.5]}, 75.0, rounding=0.25).above == 1
    assert clopper_pearson(4, 4).high == 1.0
    assert clopper_pearson(3, 4).high < 1.0
    assert clopper_pearson(0, 4).low == 0.0 < clopper_pearson(1, 4).low


@pytest.mark.parametrize(("run", "draw"), [(75.0, "inside"), (74.5, "inside as a best")])
def test_an_off_number_is_inside_if_a_run_reaches_it(run: float, draw: str) -> None:
    for level, sign in (("lower", 1), ("higher", -1)):
        reported, values = sign * 75.0, [sign * value for value in (73.0, run)]
        judgement = Judgement(Verdict("ours", level, "inside"), -1.0 * sign, None, 2)  # type: ignore[arg-type]
        actual = on_record(judgement, values, reported, origin=Origin(picked=10)).verdict.draw
        assert actual == (draw if level == "lower" or draw == "inside" else "at the edge")
        alone = on_record(judgement, values, reported, origin=Origin(picked=1)).verdict.draw
        assert alone == ("inside" if draw == "inside" else "at the edge")


@pytest.mark.parametrize(
    ("difference", "level"),
    [(0.5, "within half a point"), (0.5 + 1e-6, "higher"), (-0.5, "within half a point"), (-0.75, "lower")],
)
def test_an_exact_score_half_a_point_off_is_within_half_a_point(difference: float, level: str) -> None:
    assert judge([75 + difference], 75.0, origin=Origin(), known=KnownSd(0.0, 0)).verdict.level == level


@pytest.mark.parametrize(
    ("difference", "level"), [(0.625, "not known"), (0.75, "not known"), (0.875, "higher")]
)
def test_the_rounding_of_an_exact_score_may_reach_the_margin(difference: float, level: str) -> None:
    """Rounded to a quarter: 0.75 off may be 0.5 off, which is not outside yet."""
    for sign in (1, -1):
        known = KnownSd(0.0, 0)
        verdict = judge([75 + sign * difference], 75.0, origin=Origin(), known=known, rounding=0.25).verdict
        assert verdict.level == (level if sign > 0 or level == "not known" else "lower")


def test_equal_seeds_are_a_fault_from_the_first_look() -> None:
    assert "error in the data" in judge([75.0] * 5, 75.0, origin=Origin()).fault
    assert judge([75.0] * 4, 75.0, origin=Origin()).fault == ""


def test_three_sources_give_a_verdict_two_do_not_and_one_of_ten_runs_does() -> None:
    def known(counts: list[int]) -> bool:
        means = {str(n): 70.0 + n / 8 for n in range(len(counts))}
        runs = {
            name: [mean + (k % 3 - 1) / 8 for k in range(count)]
            for (name, mean), count in zip(means.items(), counts, strict=True)
        }
        sources = Sources(means, {name: len(values) for name, values in runs.items()}, runs)
        return by_others(
            sources, 80.0, origin=Origin(), same_authors=False, searched=False
        ).verdict.is_settled

    assert [known(counts) for counts in ([3, 3], [3, 3, 3], [9], [10], [10, 2])] == [
        *(False, True, False, True, True)
    ]
    assert AMONG_SOURCES < LEVEL


@pytest.mark.parametrize(("lowest", "collapsed"), [(-2.0, 1), (-1.875, 0)])
def test_a_run_two_points_below_the_others_has_collapsed(lowest: float, collapsed: int) -> None:
    assert len(collapsed_runs([lowest, -0.0078125, 0.0, 0.0, 0.0, 0.0078125])) == collapsed


def test_a_third_of_the_runs_may_collapse_and_no_more() -> None:
    rest = [-0.01, 0.0, 0.01, 0.02, -0.02]
    assert len(collapsed_runs([-9.0, -9.0, *rest[:4]])) == 2
    assert collapsed_runs([-9.0, -9.0, *rest[:3]]) == []


def test_a_change_on_its_tolerance_is_rounding_and_a_score_on_its_band_is_noise() -> None:
    def answer(name: str, after: float, band: Band | None = None) -> str:
        score = ScoreName("STSB", name, "all", "best-dev")
        return answer_of(score, 0.0, after, band=band, other_weights=band is not None)

    assert [answer("spearman", ROUNDING_POINTS * by) for by in (1, 1.01)] == ["equal to rounding", "moved"]
    assert [answer("accuracy", FLOOR * by) for by in (1, 1.01)] == ["equal to rounding", "moved"]
    band = Band(-2.0, 3.0)
    assert [answer("spearman", value, band) for value in (-2.0, 3.0)] == ["within seed noise"] * 2
    assert [answer("spearman", value, band) for value in (-2.01, 3.01)] == ["moved"] * 2
    assert band_of([70.0]) == (69.5, 70.5)
    assert band_of([70.0, 72.0]) == (round(71 - 5 * 2**0.5, 3), round(71 + 5 * 2**0.5, 3))


def test_alignment_and_uniformity_include_both_ends_of_their_ranges() -> None:
    """Squared distances of unit vectors are from 0 to 4, so uniformity is from -8 to 0."""
    for alignment, uniformity in ((0, -8), (4, 0)):
        DevEvaluation(step=1, score=0.0, alignment=alignment, uniformity=uniformity)
    for wrong in ({"alignment": -0.01}, {"alignment": 4.01}, {"uniformity": 0.01}, {"uniformity": -8.01}):
        with pytest.raises(ValueError, match="equal to"):
            DevEvaluation(step=1, score=0.0, **wrong)


@pytest.mark.parametrize(("steps", "ordered"), [([1, 2], True), ([2, 2], True), ([2, 1], False)])
def test_two_evaluations_of_one_step_are_in_order(steps: list[int], ordered: bool, tmp_path: Path) -> None:
    path = tmp_path / "curves.json"
    write_record(path, {EVALUATIONS: [{"step": step, "score": 0.5} for step in steps]})
    if ordered:
        assert [each.step for each in read_curve(path, again="again")] == steps
    else:
        with pytest.raises(InputError, match="step 1 comes after step 2"):
            read_curve(path, again="again")


@pytest.mark.parametrize("defined", [1, 2, 3])
def test_half_of_the_draws_have_to_be_defined(defined: int) -> None:
    draws = np.array([*np.arange(defined) / 8, *[np.nan] * (4 - defined)])
    assert (percentile_interval(draws) is None) is (standard_error(draws) is None) is (defined < 2)


def test_an_interval_includes_its_ends() -> None:
    interval = Interval(-1.0, 2.0)
    assert [interval.holds(value) for value in (-1.01, -1.0, 2.0, 2.01)] == [False, True, True, False]
    assert student(np.inf, 0.95) == pytest.approx(1.959964, abs=1e-6)


def test_authors_with_as_many_runs_as_the_number_do_not_replace_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number that is a mean of five seeds, and its authors' studies of five and of six runs."""
    from harness.evidence import cite

    for count, replaced in ((5, False), (6, True)):
        study = SimpleNamespace(supersedes=False)
        mean = cite.AuthorsMean(study, 74.0, count)  # type: ignore[arg-type]
        monkeypatch.setattr(cite, "_means_by_authors", lambda judged, mean=mean: [mean])
        judged: Any = SimpleNamespace(number=printed(75.0, seeds=5))
        assert (authors_mean(judged) is mean) is replaced


def test_a_published_number_is_found_by_its_value_on_a_scale_of_0_to_1() -> None:
    from harness.evidence.search import numbers_like

    known: Any = SimpleNamespace(
        numbers={
            n: SimpleNamespace(printed=n, value=n, row="a@b", table="t", column="Avg")
            for n in (77.67, 77.68, 0.78)
        }
    )
    assert [number.value for number in numbers_like(known, "0.7767", ["t"])] == [77.67]
    assert [number.value for number in numbers_like(known, "0.78", ["t"])] == [0.78]


def test_a_published_number_is_found_by_values_that_round_to_it() -> None:
    """One half a unit away rounds up or down."""
    from harness.evidence.search import numbers_like

    known: Any = SimpleNamespace(numbers={n: printed(n) for n in (75.0, 75.25, 75.5)})
    known.numbers = {
        key: SimpleNamespace(printed=key, value=key, row="a@b", table="t", column="Avg")
        for key in known.numbers
    }
    assert [number.value for number in numbers_like(known, "75", ["t"])] == [75.0, 75.25, 75.5]
    assert [number.value for number in numbers_like(known, "76", ["t"])] == [75.5]
    for value in ("74", "77", "75.4", "75.6", "75.49", "75.51"):
        with pytest.raises(InputError, match=f"no published number is {value}"):
            numbers_like(known, value, ["t"])


def test_every_published_number_is_found_by_both_of_its_roundings_to_one_decimal() -> None:
    from harness.evidence.search import numbers_like

    for hundredths in range(7005, 7995, 10):
        known: Any = SimpleNamespace(numbers={0: SimpleNamespace(
            printed=hundredths / 100, value=hundredths / 100, row="a@b", table="t", column="Avg"
        )})  # fmt: skip
        for value in (hundredths - 5, hundredths + 5):
            assert numbers_like(known, f"{value / 100:.1f}", ["t"]), hundredths


def test_the_means_of_a_value_are_found_before_the_numbers_of_one_test_set() -> None:
    from harness.evidence.search import numbers_like

    cells = (("STSB", "one@b"), ("Avg", "two@b"), ("SICKR", "one@b"), ("Avg", "three@b"))
    known: Any = SimpleNamespace(
        numbers={
            cell: SimpleNamespace(printed=77.2, value=77.2, row=cell[1], table="t", column=cell[0])
            for cell in cells
        }
    )
    found = [(number.column, number.row) for number in numbers_like(known, "77.2", ["t"])]
    assert found == [("Avg", "two@b"), ("Avg", "three@b"), ("STSB", "one@b"), ("SICKR", "one@b")]
