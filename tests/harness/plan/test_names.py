"""A plan name is a recipe, a run, a table, a figure or all; a union has no duplicates."""

from pathlib import Path
from typing import Any

import pytest

from harness.data.sources import ProviderName
from harness.errors import InputError
from harness.evidence.spec import TableSpec
from harness.plan.names import select
from harness.plan.recipes import Recipe, System, declared_systems, load_recipes

FULL: list[ProviderName] = ["embedded", "hub"]
SMALL: list[ProviderName] = ["embedded"]


def system(key: str, method: str, variant: str, *backbones: str) -> System:
    given: dict[str, Any] = {"pooling": None, "corpus": "c", "seeds": [0], "tasks": ["STSB"]}
    given |= {"id": key, "method": method, "variant": variant, "backbones": list(backbones)}
    return System(**given, config={}, train={})


def recipe(name: str, providers: list[ProviderName], *systems: System, **groups: list[str]) -> Recipe:
    return Recipe(
        name=name,
        presets=[],
        providers=providers,
        systems={entry.id: entry for entry in systems},
        groups=groups,
    )


RECIPES = {
    "base": recipe("base", FULL, system("simcse", "simcse", "released", "bert", "roberta")),
    "pcl": recipe(
        "pcl",
        FULL,
        system("pcl", "pcl", "released", "bert", "roberta"),
        system("pcl-k1", "pcl", "k1", "bert"),
        audit=["pcl-k1", "simcse"],
    ),
    "small": recipe("small", SMALL, system("tiny", "simcse", "released", "minilm")),
    "small-paper": recipe("small-paper", SMALL, system("tiny-paper", "simcse", "tiny", "minilm")),
}


def table(key: str, *runs: str) -> TableSpec:
    rows = [{"title": run, "run": run} for run in runs]
    columns = [{"key": "Avg", "task": "STSB"}]
    return TableSpec.model_validate({"key": key, "title": key, "columns": columns, "rows": rows})


TABLES = {
    spec.key: spec
    for spec in (
        table("pcl/table2", "pcl@roberta", "simcse@bert"),
        table("pcl/fig3", "pcl@bert", "pcl-k1@bert"),
        table("pcl/table8", "pcl-k1@roberta"),
        table("pcl/table1"),
    )
}


def chosen(*names: str) -> dict[str, list[str]]:
    return {key: entry.backbones for key, entry in select(RECIPES, names, TABLES).items()}


FIGURE = {"pcl": ["bert"], "pcl-k1": ["bert"]}
CHOSEN = {
    "a table has the backbones it shows": (["pcl/table2"], {"simcse": ["bert"], "pcl": ["roberta"]}),
    "a figure by its spec": (["pcl/fig3"], FIGURE),
    "a figure written out": (["pcl/figure3"], FIGURE),
    "a group": (["pcl/audit"], {"pcl-k1": ["bert"], "simcse": ["bert", "roberta"]}),
    "a run": (["pcl/pcl-k1"], {"pcl-k1": ["bert"]}),
    "a recipe": (["pcl"], {"pcl": ["bert", "roberta"], "pcl-k1": ["bert"]}),
    "a union has a system once": (
        ["pcl/table2", "base", "pcl/table2"],
        {"simcse": ["bert", "roberta"], "pcl": ["roberta"]},
    ),
}


@pytest.mark.parametrize("case", CHOSEN)
def test_a_name_chooses_systems_and_their_backbones(case: str) -> None:
    names, systems = CHOSEN[case]
    assert chosen(*names) == systems


def test_all_leaves_out_small_scale_runs() -> None:
    assert set(chosen("all")) == {"simcse", "pcl", "pcl-k1"}
    assert set(chosen("all", "small-paper")) == {"simcse", "pcl", "pcl-k1", "tiny-paper"}


def test_selecting_leaves_the_recipes_as_they_were() -> None:
    select(RECIPES, ["pcl/table2"], TABLES)["pcl"].backbones.append("x")
    assert RECIPES["pcl"].systems["pcl"].backbones == ["bert", "roberta"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pcll", "did you mean pcl"),
        ("pcl/tabel2", "did you mean pcl/table2"),
        ("pcl/pcl-k2", "did you mean pcl/pcl-k1"),
        ("pcl/table8", "shows pcl-k1@roberta, which no recipe declares"),
        ("pcl/table1", "plan pcl/table1 has no runs: its cells show only reported"),
        ("", "plan '' is not known"),
    ],
)
def test_an_unknown_name_is_one_line_with_near_matches(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        chosen(name)
    assert "\n" not in str(caught.value)


ROOT = Path(__file__).parents[3]


def test_a_system_that_a_recipe_takes_has_as_many_seeds_as_it_takes() -> None:
    """Two instead of all, or all if it states no number."""
    recipes = load_recipes()
    (taken, *_) = (
        part for part in recipes["laptop"].takes if len(declared_systems(recipes)[part.system].seeds) > 2
    )
    every = declared_systems(recipes)[taken.system].seeds
    for wanted, seeds in ((2, every[:2]), (None, every)):
        changed = recipes["laptop"].model_copy(update={"takes": [taken.model_copy(update={"seeds": wanted})]})
        chosen = select({**recipes, "laptop": changed}, ["laptop"], {})
        assert chosen[taken.system].seeds == seeds
