"""Seeds that a comparison needs: against published worked cases, by hand, and by simulation."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from harness.facts.spec import load_specs
from harness.facts.statistics import KnownSd
from harness.plan.power import (
    Pool,
    mean_correlation,
    pooled_sd,
    pooled_spreads,
    propose_seeds,
    seed_scores,
    seeds_for,
    shrunk,
)
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from harness.results.schema import ResultFile
from harness.results.store import read_results

ROOT = Path(__file__).parents[3]
RECORDED = ROOT / "tests/harness/report/recorded/scores"


@pytest.mark.parametrize(("effect", "seeds"), [(0.2, 394), (0.5, 64), (0.8, 26), (1.0, 17), (1.2, 12)])
def test_seeds_are_those_of_the_standard_table_for_two_samples(effect: float, seeds: int) -> None:
    """80 % power, two-sided 5 %, as textbooks list it; the effect is the difference in units of the sd."""
    assert seeds_for(1.0, power=0.8, delta=effect) == seeds
    assert seeds_for(0.84, power=0.8, delta=0.84 * effect) == seeds


def test_power_is_that_of_the_noncentral_t_and_one_seed_less_is_too_few() -> None:
    """n a side: 2 (n - 1) degrees of freedom, shift delta / sd sqrt(n / 2)."""

    def power(n: int) -> float:
        freedom, shift = 2 * (n - 1), 0.5 / 0.84 * math.sqrt(n / 2)
        critical = stats.t.ppf(0.975, freedom)
        return float(stats.nct.sf(critical, freedom, shift) + stats.nct.cdf(-critical, freedom, shift))

    needed = seeds_for(0.84, power=0.8, delta=0.5)
    assert power(needed) >= 0.8 > power(needed - 1)


def test_that_many_seeds_show_the_difference_in_four_of_five_simulated_welch_tests() -> None:
    rng = np.random.default_rng(0)
    n = seeds_for(0.84, power=0.8, delta=0.5)
    ours, theirs = rng.normal(0.5, 0.84, (4000, n)), rng.normal(0.0, 0.84, (4000, n))
    found = stats.ttest_ind(ours, theirs, axis=1, equal_var=False).pvalue < 0.05
    assert abs(found.mean() - 0.8) < 0.03


def test_more_power_a_smaller_difference_and_more_spread_need_more_seeds() -> None:
    base = seeds_for(1.0, power=0.8, delta=0.5)
    assert seeds_for(1.0, power=0.9, delta=0.5) > base
    assert seeds_for(1.0, power=0.8, delta=0.4) > base
    assert seeds_for(1.2, power=0.8, delta=0.5) > base
    assert seeds_for(0.0, power=0.8, delta=0.5) == 1


def test_the_pooled_sd_weights_variances_by_their_degrees_of_freedom() -> None:
    """Variances 4 (three seeds) and 1 (two seeds): (2 * 4 + 1 * 0.5) / 3; a single seed tells nothing."""
    assert pooled_sd([[70, 72, 74], [60, 61], [50]]) == (math.sqrt(8.5 / 3), 5)
    assert pooled_sd([[50], []]) is None


@pytest.fixture
def recorded() -> list[ResultFile]:
    return read_results(RECORDED.glob("*.json"))


def test_the_spread_is_that_of_the_mean_test_correlation_of_trained_runs(recorded: list[ResultFile]) -> None:
    """SimCSE's three seeds average 60, 60.667 and 63.333: sd 1.764; whitening has one seed."""
    assert [mean_correlation(result) for result in recorded[:3]] == pytest.approx(
        [0.6, 0.60667, 0.63333], abs=1e-5
    )
    pool = pooled_spreads(seed_scores(recorded), {})["toy"]
    assert pool.sd == pytest.approx(1.764, abs=1e-3)
    assert pool.source == "pooled over 3 seeds of ours"


def test_the_mean_correlation_is_that_of_the_selected_weights_on_test_sets(
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
        assert mean_correlation(changed) == mean_correlation(result), change


def test_the_sd_of_a_system_is_shrunk_to_its_backbone_by_degrees_of_freedom() -> None:
    """Own variance 4 with 2 degrees of freedom, the pool's 1 with 4: (2 * 4 + 4 * 1) / 6 = 2."""
    pool = Pool(1.0, "of a study")
    found = shrunk([70, 72, 74], pool)
    assert found is not None
    assert found.sd == pytest.approx(math.sqrt(2))
    assert shrunk([70], pool) == shrunk([], pool) == pool
    alone = shrunk([70, 72, 74], None)
    assert alone is not None
    assert alone.sd == pytest.approx(2.0)
    assert shrunk([70], None) is None


def study(sd: float, backbone: str = "toy") -> dict[str, KnownSd]:
    return {backbone: KnownSd(sd, 50)}


def test_a_study_of_many_seeds_is_a_floor_for_a_few_of_ours(recorded: list[ResultFile]) -> None:
    assert pooled_spreads(seed_scores(recorded), study(2.5))["toy"].sd == pytest.approx(2.5)
    assert pooled_spreads(seed_scores(recorded), study(1.0))["toy"].sd == pytest.approx(1.764, abs=1e-3)
    assert pooled_spreads({}, study(2.5, "other"))["other"].source == "in a public study of 50 seeds"


def test_a_proposal_names_every_system_its_seeds_and_its_basis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BERT-base has a study with an sd of 0.84, RoBERTa-base one that did not converge, glove none."""
    monkeypatch.chdir(ROOT)
    params = resolve(load_recipes(), ["pcl/table2"], tables=load_specs())
    lines = propose_seeds(params, tmp_path, power=0.8, delta=0.5).splitlines()
    rows = {tuple(line.split()[:2]): line.split()[2:] for line in lines[2:-1]}
    assert rows["simcse", "bert-base-uncased"][:3] == ["5", "46", "0.84"]
    assert rows["pcl-new-pooler", "roberta-base"][1] == "?"
    assert rows["glove", "glove-6b-300d"][:2] == ["1", "1"]
    assert len(rows) == len({(run.id, run.backbone) for run in params.runs.values()})
