"""Number of seeds for a comparison: published cases, arithmetic by hand, and simulation."""

import math
from pathlib import Path

import pytest

from harness.evidence.schema import ResultFile
from harness.evidence.spec import load_specs
from harness.evidence.statistics import KnownSd
from harness.evidence.store import read_results
from harness.plan.power import PlannedSd, pool_of, propose_seeds, seed_scores, shrunk
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve

ROOT = Path(__file__).parents[3]
RECORDED = ROOT / "tests/harness/report/recorded/scores"


def test_the_pooled_sd_weights_variances_by_their_degrees_of_freedom() -> None:
    """Variances 4 (three seeds) and 1 (two seeds): (2 * 4 + 1 * 0.5) / 3; a single seed tells nothing."""
    actual = pool_of([[70, 72, 74], [60, 61], [50]], None)
    assert actual == PlannedSd(math.sqrt(8.5 / 3), "pooled over 5 of our seeds")
    assert pool_of([[50], []], None) is None


@pytest.fixture
def recorded() -> list[ResultFile]:
    return read_results(RECORDED.glob("*.json"))


def test_the_spread_is_that_of_the_mean_test_correlation_of_trained_runs(recorded: list[ResultFile]) -> None:
    """SimCSE's three seeds average 60, 60.667 and 63.333: sd 1.764; whitening has one seed."""
    actual = seed_scores(recorded)
    assert next(iter(actual.values())) == pytest.approx([60.0, 60.667, 63.333], abs=1e-3)
    pool = pool_of(actual.values(), None)
    assert pool is not None
    assert pool.sd == pytest.approx(1.764, abs=1e-3)


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
    assert pool_of(few, KnownSd(1.0, 50)) == pool_of(few, None)
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
