"""A plan name is a recipe, a run, a table, a figure or all of them; a union asks for nothing twice."""

from __future__ import annotations

from typing import Any

import pytest

from harness.data.sources import ProviderName
from harness.errors import InputError
from harness.facts.spec import TableSpec
from harness.plan.names import select
from harness.plan.recipes import Recipe, System

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
        table("pcl/table9", "pcl-k9@bert"),
        table("pcl/table8", "pcl-k1@roberta"),
        table("pcl/table1"),
    )
}


def chosen(*names: str) -> dict[str, list[str]]:
    return {key: entry.backbones for key, entry in select(RECIPES, names, TABLES).items()}


def test_a_table_takes_the_systems_of_any_recipe_with_only_the_backbones_it_shows() -> None:
    assert chosen("pcl/table2") == {"simcse": ["bert"], "pcl": ["roberta"]}


def test_a_figure_goes_by_the_name_of_its_spec_or_written_out() -> None:
    assert chosen("pcl/fig3") == chosen("pcl/figure3") == {"pcl": ["bert"], "pcl-k1": ["bert"]}


def test_a_group_a_run_and_a_recipe_are_names_too() -> None:
    assert chosen("pcl/audit") == {"pcl-k1": ["bert"], "simcse": ["bert", "roberta"]}
    assert chosen("pcl/pcl-k1") == {"pcl-k1": ["bert"]}
    assert chosen("pcl") == {"pcl": ["bert", "roberta"], "pcl-k1": ["bert"]}


def test_a_union_has_every_system_once_with_all_backbones_asked_for() -> None:
    assert chosen("pcl/table2", "pcl/fig3")["pcl"] == ["roberta", "bert"]
    assert chosen("pcl/table2", "base", "pcl/table2")["simcse"] == ["bert", "roberta"]


def test_all_leaves_out_what_is_small_scale() -> None:
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
        ("ablation/simcs", "did you mean ablation/simcse"),
        ("ablation", "plan 'ablation' is not known"),
        ("pcl/pcl-k2", "did you mean pcl/pcl-k1"),
        ("plc/table2", "did you mean pcl/table2"),
        (
            "pcl/table9",
            r"shows pcl-k9@bert, which no recipe declares .did you mean pcl-k1@bert",
        ),
        ("pcl/table8", "shows pcl-k1@roberta, which no recipe declares"),
        ("pcl/table1", "plan pcl/table1 has no runs: no cell of it shows a system"),
        ("pcl/", "plan 'pcl/' is not known"),
        ("", "plan '' is not known"),
    ],
)
def test_an_unknown_name_is_one_line_with_near_matches(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        chosen(name)
    assert "\n" not in str(caught.value)
