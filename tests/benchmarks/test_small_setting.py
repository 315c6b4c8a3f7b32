"""The sections of docs/small-setting.md: arithmetic by hand on made-up scores, and the conclusions."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchmarks import small_trainings
from benchmarks.small_attention import Word, mean_weights, rank_correlation
from benchmarks.small_choice import SIZES, Size, measure_sizes, to_sizes
from benchmarks.small_controls import (
    CONTROLS,
    SIMCSE,
    UNTRAINED,
    WHITENED,
    Scores,
    conclusion,
    to_controls,
)
from benchmarks.small_facts import FACTS, Difference, Fact, Shown, Side, difference, measure
from benchmarks.small_setting import PAGE, RATES
from benchmarks.small_text import to_attention, to_facts, to_rates
from benchmarks.small_trainings import TEST, Trainings, of_system
from harness.errors import InputError
from harness.evidence.schema import ResultFile
from harness.evidence.statistics import Interval
from harness.plan.entries import Params
from harness.plan.params_file import read_params
from tests.benchmarks.words import word_backbone

ROOT = Path(__file__).parents[2]
UP, DOWN, OPEN = (Difference(mid, Interval(mid - 1, mid + 1)) for mid in (2.0, -2.0, 0.5))


@pytest.fixture(scope="module")
def params() -> Params:
    return read_params(ROOT / "params.yaml")


def shown(*differences: Difference, agreed: bool = True) -> Shown:
    fact = Fact("one, other", Side("one"), Side("other"), "says so", agreed)
    return Shown(fact, dict(zip(("dev", "test", "parts"), differences, strict=True)))


def result(system: str, seed: int, score: float, backbone: str = "words-50d") -> ResultFile:
    """A result with one score on dev and on every test set, in [0, 1]."""
    scores = [SimpleNamespace(task=task, metric="spearman", setting="all", value=score) for task in TEST]
    wrong = SimpleNamespace(task="STSB", metric="pearson", setting="all", value=0.0)
    run = SimpleNamespace(id=system, backbone=backbone, seed=seed)
    made = SimpleNamespace(run=run, scores=[*scores, wrong], selection=SimpleNamespace(best_dev=score))
    return cast(ResultFile, made)


def test_a_difference_of_seeds_that_move_together_has_students_interval_over_pairs() -> None:
    fact = Fact("one, other", Side("one"), Side("other"), "")
    scores = {
        repr(fact.first): [Scores(50, 0, 0), Scores(60, 0, 0), Scores(70, 0, 0)],
        repr(fact.second): [Scores(49, 0, 0), Scores(58, 0, 0), Scores(67, 0, 0)],
    }
    actual = difference(scores, fact, "dev")
    assert actual.value == pytest.approx(2.0)
    assert actual.interval is not None
    half = 4.302653 / 3**0.5  # t with 2 degrees of freedom, standard deviation 1
    assert actual.interval == pytest.approx((2 - half, 2 + half), abs=1e-5)


def test_a_system_without_seeds_is_compared_with_every_seed_of_the_other() -> None:
    fact = Fact("one, other", Side("one"), Side("other", drawn=False), "")
    scores = {
        repr(fact.first): [Scores(0, 0, 4), Scores(0, 0, 6)],
        repr(fact.second): [Scores(0, 0, 1)],
    }
    actual = difference(scores, fact, "parts")
    assert actual.value == pytest.approx(4.0)
    assert actual.interval == pytest.approx(
        (4 - 12.7062, 4 + 12.7062), abs=1e-4
    )  # t with 1 degree of freedom
    alone = {repr(side): values[:1] for side, values in zip(fact[1:3], scores.values(), strict=True)}
    assert difference(alone, fact, "parts") == Difference(3.0, None)


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [
        ((UP, UP, UP), "yes"),
        ((UP, UP, OPEN), "on 2 of 3 measures"),
        ((OPEN, OPEN, OPEN), "no clear difference"),
        ((DOWN, OPEN, DOWN), "no, the opposite on 2 of 3"),
        ((UP, OPEN, DOWN), "depends on the measure"),
    ],
)
def test_a_fact_is_shown_if_every_interval_is_above_zero(differences: Any, verdict: str) -> None:
    assert shown(*differences).verdict == verdict


def test_a_fact_on_which_the_literature_is_divided_is_not_counted() -> None:
    divided = [shown(*each, agreed=False) for each in ((UP, UP, UP), (DOWN, DOWN, DOWN), (UP, OPEN, UP))]
    assert [row.verdict for row in divided] == ["higher", "lower", "depends on the measure"]
    rows = [shown(UP, UP, UP), shown(OPEN, OPEN, OPEN), *divided]
    text = to_facts(rows, 5, 30, "command").replace("\n", " ")
    assert "It shows 1 of 2 facts on which the literature agrees." in text
    assert "one, other (no clear difference)" in text
    assert "with 5 seeds" in text
    assert "All trainings have 30 steps" in text
    assert "| +2.0 (+1.0 to +3.0) |" in text


def test_every_side_is_trained_once_a_seed_and_without_seeds_once() -> None:
    asked: list[tuple[str, int]] = []

    def all_scores(runs: list[Any]) -> list[Scores]:
        asked.extend((f"{run.id}{run.config}{run.train}", run.seed) for run in runs)
        return [Scores(1.0, 1.0, 1.0)] * len(runs)

    params = read_params(ROOT / "params.yaml")
    trainings = cast(Trainings, SimpleNamespace(params=params, all_scores=all_scores))
    rows = measure(trainings, FACTS, 3, lambda message: None)
    assert len(asked) == len(set(asked))
    assert len(rows) == len(FACTS)
    assert sum(seed == 2 for _, seed in asked) == len({name for name, _ in asked}) - 2


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.name)
def test_both_sides_of_a_fact_are_runs_of_the_plan_that_differ(fact: Fact, params: Params) -> None:
    first, second = (of_system(params, side.system, 3, side.config, side.train) for side in fact[1:3])
    assert first.seed == second.seed == 3
    assert (first.config, first.train, first.method) != (second.config, second.train, second.method)
    first.read_settings()
    second.read_settings()


def test_controls_are_compared_by_their_intervals() -> None:
    def made(control: tuple[float, float], white: float) -> dict[str, list[Scores]]:
        each = {system: [Scores(v, v, v) for v in control] for system in CONTROLS.values()}
        ours = [Scores(50, 50, 50), Scores(50.2, 50.2, 50.2)]
        return {**each, SIMCSE: ours, WHITENED: [Scores(white, white, 40)]}

    assert conclusion(made((40.0, 40.2), 45)) == (
        "SimCSE is above each of its controls on all three, with intervals that do not overlap."
    )
    overlap = conclusion(made((45.0, 49.0), 55))
    assert "uniformity on none; uniformity at its rate on none; permuted on none; negated on none" in overlap
    assert overlap.endswith("above SimCSE on STS-B dev and STS-B test.")


def test_the_table_of_controls_has_means_and_intervals_of_this_encoder_alone() -> None:
    systems = (SIMCSE, *CONTROLS.values())
    results = [result(system, seed, 0.4 + 0.02 * seed) for system in systems for seed in (0, 1)]
    results += [result(UNTRAINED, 0, 0.3), result(SIMCSE, 2, 0.9, "other"), result(WHITENED, 0, 0.5)]
    lines = to_controls(results).splitlines()
    assert "| SimCSE | 2 | 41.0 (28.3 to 53.7) | 41.0 (28.3 to 53.7) | 41.0 (28.3 to 53.7) |" in lines
    assert "| untrained | 1 | 30.0 | 30.0 | 30.0 |" in lines
    with pytest.raises(InputError, match=r"^no result of whitening-small on words-50d"):
        to_controls(results[:-1])


def test_the_chosen_rate_is_bold_and_a_rate_that_was_not_tried_is_empty() -> None:
    rows = [("pcl", 2e-3, {2e-3: 60.04, 5e-3: 61.0}), ("ct", 1e-3, {1e-3: 53.0})]
    text = to_rates(rows, RATES, 2, "command")
    assert "the best of 2 evaluations" in text
    assert "| | 0.00025 | 0.001 | 0.002 | 0.0025 | 0.005 |" in text
    assert "| pcl |  |  | **60.0** |  | 61.0 |" in text
    assert "| ct |  | **53.0** |  |  |  |" in text


def test_the_sizes_have_spread_cost_and_controls_and_the_recipes_is_bold() -> None:
    """50, 52 and 54 have the standard deviation 2; 4 times 30 x 64 sentences is 7.7 thousand."""
    sizes = [
        Size(30, 64, 2e-3, [50.0, 52.0, 54.0], [45.0, 30.0, 10.0]),
        Size(48, 128, 1e-3, [60.0, 61.0], [1.0, 2.0, 3.0]),
    ]
    text = to_sizes(sizes, (48, 128, 1e-3), "command")
    assert "| 30 of 64, 0.002 | 52.0 | 2.00 | 7.7 | 45.0 | 30.0 | 10.0 |" in text
    assert "| **48 of 128, 0.001** | 60.5 | 0.71 | 3.1 | 1.0 | 2.0 | 3.0 |" in text


def test_every_size_is_trained_with_its_steps_batch_and_rate_and_gets_its_own_scores(params: Params) -> None:
    asked: list[Any] = []

    def all_dev(runs: list[Any]) -> list[float]:
        asked.extend(runs)
        return [run.train["batch_size"] + run.seed / 10 for run in runs]

    sizes = measure_sizes(cast(Trainings, SimpleNamespace(all_dev=all_dev)), params)
    assert [size[:3] for size in sizes] == [*SIZES]
    for size in sizes:
        assert size.simcse == [size.batch_size + seed / 10 for seed in range(10)]
        assert size.controls == pytest.approx([size.batch_size + 0.15] * 3)
    assert {(run.train["steps"], run.train["batch_size"], run.train["learning_rate"]) for run in asked} == {
        *SIZES
    }
    assert all(run.train["eval_every"] == run.train["steps"] // 2 for run in asked)


def test_attention_weights_are_ones_at_the_mean_and_count_words_of_the_texts(tmp_path: Path) -> None:
    """An encoder that starts as the mean, whose [CLS] is zero, gives every token the same weight."""
    folder = word_backbone(tmp_path / "encoder", ["cat", "dog", "sat"], start="mean")
    counts, weights = mean_weights(folder, ["cat sat", "cat dog sat cat"])
    assert counts == {"cat": 3, "sat": 2, "dog": 1}
    assert weights == pytest.approx(dict.fromkeys(counts, 1.0))


def test_the_section_on_attention_tells_the_ratio_of_rare_to_frequent_words() -> None:
    words = [Word(f"w{rank}", 200 - rank, 1.0, 0.5 if rank < 10 else 1.5) for rank in range(100)]
    text = to_attention(words, 30, Path("f.svg"), "c").replace("\n", " ")
    assert "After SimCSE's 30 steps" in text
    assert "has 3.0 times the weight" in text
    assert rank_correlation(words) < -0.4


def test_a_training_is_kept_by_its_identity(
    params: Params, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted: list[Any] = []

    def trained(self: Trainings, run: Any) -> Scores:
        fitted.append(run)
        return Scores(float(run.seed), 2.0, 3.0)

    identity: Callable[..., str] = lambda params, run, arithmetic: f"seed-{run.seed}"  # noqa: E731
    monkeypatch.setattr(small_trainings, "run_identity", identity)
    monkeypatch.setattr(small_trainings, "cache", lambda: tmp_path)
    monkeypatch.setattr(Trainings, "_trained", trained)
    trainings = Trainings(params)
    runs = [of_system(params, SIMCSE, seed) for seed in (7, 8, 7)]
    assert [trainings.scores(run).dev for run in runs] == [7.0, 8.0, 7.0]
    assert [run.seed for run in fitted] == [7, 8]
    trainings.committed["seed-9"] = result(SIMCSE, 9, 0.5)
    assert trainings.scores(of_system(params, SIMCSE, 9)) == pytest.approx((50.0, 50.0, 50.0))
    assert trainings.dev(of_system(params, SIMCSE, 9)) == pytest.approx(50.0)


def test_the_page_has_every_section_that_the_commands_write() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    for heading in ("Controls", "What training changes", "What it shows", "Learning rates"):
        assert page.count(f"\n## {heading}\n") == 1
