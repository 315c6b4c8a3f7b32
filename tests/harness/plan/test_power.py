"""Number of seeds for a comparison: published cases, arithmetic by hand, and simulation."""

import math
import re
from pathlib import Path

import pytest
from scipy import stats

from harness.evidence.comparisons import look_that_shows
from harness.evidence.number_tests import LOOKS, TWO_SIDED_AT_A_LOOK
from harness.evidence.schema import ResultFile
from harness.evidence.spec import load_specs
from harness.evidence.statistics import KnownSd
from harness.evidence.store import read_results
from harness.plan.power import PlannedSd, pool_of, propose_seeds, seed_scores, shrunk
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from tests.harness.report.made_results import result

ROOT = Path(__file__).parents[3]
RECORDED = ROOT / "tests/harness/report/recorded/scores"


def test_the_pooled_sd_weights_variances_by_their_degrees_of_freedom() -> None:
    """Variances 4 (three seeds) and 1 (two seeds): (2 * 4 + 1 * 0.5) / 3; a single seed has no variance."""
    actual = pool_of([[70, 72, 74], [60, 61], [50]], None)
    assert actual == PlannedSd(math.sqrt(8.5 / 3), "pooled over 5 of our seeds")
    assert pool_of([[50], []], None) is None


@pytest.fixture
def recorded() -> list[ResultFile]:
    return read_results(RECORDED.glob("*.json"))


def test_the_standard_deviation_is_over_the_mean_test_correlations_of_trained_runs(
    recorded: list[ResultFile],
) -> None:
    """SimCSE's three seeds average 60, 60.667 and 63.333: sd 1.764; whitening has one seed."""
    actual = seed_scores(recorded)
    assert next(iter(actual.values())) == pytest.approx([60.0, 60.667, 63.333], abs=1e-3)
    pool = pool_of(actual.values(), None)
    assert pool is not None
    assert pool.sd == pytest.approx(1.764, abs=1e-3)


def test_the_mean_correlation_is_over_test_sets_by_the_selected_weights(
    recorded: list[ResultFile],
) -> None:
    """Neither the development set, nor the last weights, another setting or another metric changes it."""
    result = recorded[0]
    known = [score for score in result.scores if (score.metric, score.setting) == ("spearman", "all")]
    others = [
        {"task": "STSB-dev"}, {"task": "STS99", "selection": "last"},
        {"task": "STS99", "setting": "wmean"}, {"task": "STS99", "metric": "pearson"},
    ]  # fmt: skip
    for change in others:
        more = known[0].model_copy(update={**change, "value": 0.99})
        changed = result.model_copy(update={"scores": [*result.scores, more]})
        assert seed_scores([changed]) == seed_scores([result]), change
    untrained = result.selection.model_copy(update={"last_step": 0})
    assert seed_scores([result.model_copy(update={"selection": untrained})]) == {}


def test_the_sd_of_a_system_is_shrunk_to_its_backbone_by_degrees_of_freedom() -> None:
    """Own variance 4 with 2 degrees of freedom, the pool's 1 with 4: (2 * 4 + 4 * 1) / 6 = 2."""
    pool = PlannedSd(1.0, "of a study")
    actual = shrunk([70, 72, 74], pool)
    assert actual is not None
    assert actual.sd == pytest.approx(math.sqrt(2))
    assert shrunk([70], pool) == shrunk([], pool) == pool
    alone = shrunk([70, 72, 74], None)
    assert alone is not None
    assert alone.sd == pytest.approx(2.0)
    assert shrunk([70], None) is None


def test_a_study_of_many_seeds_is_a_floor_for_a_few_of_ours() -> None:
    """Three seeds with an sd of 2; ten that show less than the study speak for themselves."""
    few, many = [[70.0, 72.0, 74.0]], [[70.0, 72.0] * 5]
    assert pool_of(few, KnownSd(2.5, 50)) == PlannedSd(2.5, "in a public study of 50 seeds")
    for sd in (1.0, 2.0):  # not larger than ours
        assert pool_of(few, KnownSd(sd, 50)) == pool_of(few, None)
    assert pool_of(many, KnownSd(2.5, 50)) == pool_of(many, None)
    assert pool_of([], KnownSd(2.5, 50)) == PlannedSd(2.5, "in a public study of 50 seeds")


def test_a_proposal_names_every_system_its_seeds_and_its_basis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BERT-base has a study with an sd of 0.84, RoBERTa-base one that did not converge, glove none."""
    monkeypatch.chdir(ROOT)
    params = resolve(load_recipes(), ["pcl/table2"], tables=load_specs())
    lines = propose_seeds(params, tmp_path, power=0.8, delta=0.5).splitlines()
    rows = {tuple(line.split()[:2]): line.split()[2:] for line in lines[2:-1]}
    assert rows["simcse", "bert-base-uncased"][:3] == ["5", ">", "40"]
    assert rows["pcl-new-pooler", "roberta-base"][1] == "?"
    assert rows["glove", "glove-6b-300d"][:2] == ["1", "1"]
    assert len(rows) == len({(run.id, run.backbone) for run in params.runs.values()})


def test_a_run_of_one_step_is_trained_and_one_of_no_step_is_not() -> None:
    """Scores of 0.7 and 0.6 on two test sets are 65 points."""
    scores = {("STS12", "all"): 0.7, ("STS13", "all"): 0.6}
    assert seed_scores([result("a", 0, scores, last_step=0)]) == {}
    assert seed_scores([result("a", 0, scores, last_step=1)])["a", "b"] == pytest.approx([65.0])


def exact_power(difference: float, sd: float, seeds: int) -> float:
    """The power of a two-sided t test of two groups of `seeds`, from the noncentral t distribution."""
    freedom, shift = 2 * seeds - 2, difference / (sd * math.sqrt(2 / seeds))
    edge = stats.t.isf(TWO_SIDED_AT_A_LOOK / 2, freedom)
    return float(stats.nct.sf(edge, freedom, shift) + stats.nct.cdf(-edge, freedom, shift))


def test_the_seeds_needed_are_the_first_look_with_the_power_of_the_exact_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On BERT-base SimCSE has three seeds with an sd of 2, and PCL ten that are 0.5 from their mean.

    The pool has these 13 seeds; the two of RoBERTa-base, 18 points apart, are not in it.
    """
    monkeypatch.chdir(ROOT)
    ours = {
        ("simcse", "bert-base-uncased"): [70.0, 72.0, 74.0],
        ("pcl", "bert-base-uncased"): [75.0, 76.0] * 5,
        ("simcse", "roberta-base"): [60.0, 78.0],
    }
    for (system, backbone), scores in ours.items():
        for seed, score in enumerate(scores):
            made = result(system, seed, {("STS12", "all"): score / 100}, backbone=backbone)
            (tmp_path / f"{made.run.key}.json").write_text(made.model_dump_json(by_alias=True))
    params = resolve(load_recipes(), ["pcl/table2"], tables=load_specs())
    of_pcl = 10 * 0.25 / 9
    pooled = (2 * 4 + 9 * of_pcl) / 11
    for delta, power in ((3.5, 0.8), (2.4, 0.8), (1.6, 0.8), (1.6, 0.4), (1.0, 0.8), (0.7, 0.8)):
        lines = propose_seeds(params, tmp_path, power=power, delta=delta).splitlines()
        rows = {tuple(line.split()[:2]): line for line in lines[2:-1]}
        for system, variance, freedom in (("simcse", 4.0, 2), ("pcl", of_pcl, 9)):
            sd = math.sqrt((freedom * variance + 4 * pooled) / (freedom + 4))
            look = next((n for n in LOOKS if exact_power(delta, sd, n) >= power), None)
            needed = f"> {LOOKS[-1]}" if look is None else str(look)
            line = rows[system, "bert-base-uncased"]
            basis = f"{sd:.2f} {math.sqrt(variance):.2f} over its {freedom + 1} seeds, shrunk to "
            basis += f"{math.sqrt(pooled):.2f} pooled over 13 of our seeds"
            assert re.fullmatch(rf"\S+ +\S+ +\d+ +{needed}  {re.escape(basis)}", line), (delta, line)


@pytest.mark.parametrize("look", LOOKS)
def test_a_difference_is_shown_at_a_look_where_the_power_at_its_own_level_is_enough(look: int) -> None:
    """On both sides of the power at the level of a look; at the level of all looks it would be larger."""
    power = exact_power(1.0, math.sqrt(look) / 3, look)
    assert look_that_shows(1.0, math.sqrt(look) / 3, power - 1e-6) == look
    assert look_that_shows(1.0, math.sqrt(look) / 3, power + 1e-6) != look
