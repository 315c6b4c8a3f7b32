"""First and further seeds of a plan: which runs `launch --first-seeds` leaves out."""

from pathlib import Path

from harness.plan.entries import Params
from harness.plan.recipes import Recipe, load_recipes
from harness.plan.resolve import planned, resolve

ROOT = Path(__file__).parents[3]
RECIPES = load_recipes(ROOT / "recipes")
SMALL = RECIPES["small"]


def plan_of(**first_seeds: int | None) -> Params:
    """Returns the plan of SimCSE and DCLR, which learns from SimCSE's run of its seed; four seeds each."""
    systems = {
        f"{name}-small": SMALL.systems[f"{name}-small"].model_copy(
            update={"seeds": [0, 1, 2, 3], "first_seeds": first}
        )
        for name, first in first_seeds.items()
    }
    recipe = Recipe(name="two", providers=SMALL.providers, systems=systems)
    others = {name: other for name, other in RECIPES.items() if name != "small"}
    return resolve({**others, "two": recipe}, ["two"], folder=ROOT / "recipes")


def first_of(params: Params) -> dict[str, list[int]]:
    seeds: dict[str, list[int]] = {}
    for run in params.runs.values():
        if run.is_first:
            seeds.setdefault(run.id, []).append(run.seed)
    return seeds


def test_the_first_seeds_keep_their_outputs_in_reports_and_the_others_by_system() -> None:
    params = plan_of(simcse=2)
    assert first_of(params) == {"simcse-small": [0, 1]}
    assert params.further == {"simcse-small__words-50d": [2, 3]}
    key = "simcse-small__words-50d__s3"
    assert params.runs[key].scores(key) == Path(f".further/simcse-small__words-50d/scores/{key}.json")
    key = "simcse-small__words-50d__s1"
    assert params.runs[key].scores(key) == Path(f"reports/scores/{key}.json")


def test_a_run_that_first_seeds_of_another_system_need_is_a_first_one() -> None:
    """In either order: DCLR's seeds 0 to 2 learn from SimCSE's."""
    for names in (("simcse", "dclr"), ("dclr", "simcse")):
        params = plan_of(**{name: {"simcse": 1, "dclr": 3}[name] for name in names})
        assert first_of(params) == {"simcse-small": [0, 1, 2], "dclr-small": [0, 1, 2]}
        assert params.further == {"simcse-small__words-50d": [3], "dclr-small__words-50d": [3]}


def test_without_a_number_all_seeds_are_first_ones_and_in_a_trial_too() -> None:
    assert not plan_of(simcse=None).further
    own = SMALL.systems["simcse-small"].model_copy(update={"id": "own", "variant": "own"})
    params = planned(RECIPES, [own], SMALL.providers)
    assert own.first_seeds == 3
    assert len(first_of(params)["own"]) == len(own.seeds)
    assert not params.further
