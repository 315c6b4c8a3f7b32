"""Recipes become the resolved plan; bad declarations and bad params.yaml are one-line errors."""

import copy
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.plan.checks import check_runs
from harness.plan.entries import Params
from harness.plan.names import select
from harness.plan.params_file import read_params
from harness.plan.recipes import Recipe, load_recipes
from harness.plan.resolve import in_setting_of, resolve
from tests.support.yaml_files import dump_yaml

ROOT = Path(__file__).parents[3]
TRAIN = {"steps": 10, "batch_size": 4, "save_every": 5}


def recipe(**changes: Any) -> dict[str, Any]:
    base = {
        "corpus": "wiki-small",
        "pooling": "mean",
        "variant": "released",
        "seeds": [0, 1],
        "tasks": ["STSB"],
        "config": {"max_length": 32},
        "train": TRAIN,
    }
    simcse = {"method": "simcse", "use": ["base"], "backbones": ["minilm-l2"]}
    return {
        "name": "paper",
        "providers": ["embedded"],
        "blocks": {"base": base, "hot": {"config": {"temperature": 0.1}}},
        "runs": [
            {"id": "a", **simcse},
            {"id": "b", **simcse, "use": ["base", "hot"], "backbones": ["minilm-l2", "minilm-l6"]},
            {"id": "c", **simcse, "parent": {"run": "a"}},
            {"id": "d", **simcse, "method": "distill", "parent": {"teacher": "minilm-l6"}},
            {"id": "e", **simcse, "start": {"run": "a"}, "parent": {"teacher": "minilm-l6"}},
        ],
        "groups": {"pair": ["a", "b"]},
        **changes,
    }


def write(folder: Path, *recipes: dict[str, Any]) -> dict[str, Recipe]:
    for entry in recipes:
        (folder / f"{entry['name']}.yaml").write_text(dump_yaml(entry))
    return load_recipes(folder)


def resolved(folder: Path, *names: str, **given: Any) -> Params:
    return resolve(write(folder, recipe()), names, folder=ROOT / "recipes", **given)


def test_a_system_expands_over_backbones_and_seeds(tmp_path: Path) -> None:
    params = resolved(tmp_path, "paper/b")
    assert sorted(params.runs) == [
        "b__minilm-l2__s0",
        "b__minilm-l2__s1",
        "b__minilm-l6__s0",
        "b__minilm-l6__s1",
    ]
    run = params.runs["b__minilm-l6__s1"]
    assert (run.seed, run.backbone, run.corpus) == (1, "backbones/minilm-l6", "data/wiki-small")
    assert run.config == {"max_length": 32, "temperature": 0.1}


def test_a_block_uses_others_and_blocks_yaml_has_those_of_all_recipes(tmp_path: Path) -> None:
    """The shared block gives a batch of 8, the block that uses it a rate, the run its own schedule."""
    shared = {"blocks": {"shared": {"train": {**TRAIN, "batch_size": 8}}}}
    (tmp_path / "blocks.yaml").write_text(dump_yaml(shared))
    entry = recipe()
    del entry["blocks"]["base"]["train"]
    entry["blocks"]["base"] |= {"use": ["shared"], "train": {"learning_rate": 0.5}}
    entry["runs"][0]["train"] = {"schedule": "constant"}
    system = write(tmp_path, entry)["paper"].systems["a"]
    assert system.train == {**TRAIN, "batch_size": 8, "learning_rate": 0.5, "schedule": "constant"}
    entry["blocks"]["shared"] = {}
    with pytest.raises(InputError, match=r"paper\.yaml: blocks\.yaml has a block 'shared' too"):
        write(tmp_path, entry)


def test_a_parent_of_a_named_backbone_is_the_run_of_the_same_seed(tmp_path: Path) -> None:
    """The start of a run is found in the same way."""
    entry = recipe()
    entry["runs"][4]["start"] = {"run": "b", "backbone": "minilm-l6"}
    params = resolve(write(tmp_path, entry), ["paper/c", "paper/e"], folder=ROOT / "recipes")
    for seed in (0, 1):
        assert params.runs[f"c__minilm-l2__s{seed}"].parent == f"artefacts/a__minilm-l2__s{seed}"
        assert params.runs[f"e__minilm-l2__s{seed}"].backbone == f"artefacts/b__minilm-l6__s{seed}"
        assert params.runs[f"a__minilm-l2__s{seed}"].seed == seed


def test_a_teacher_without_pooling_has_the_pooling_of_its_backbone(tmp_path: Path) -> None:
    public = {**recipe()["runs"][3], "id": "f", "parent": {"teacher": "unsup-simcse-bert-large"}}
    params = resolve(
        write(tmp_path, recipe(runs=[*recipe()["runs"], public])),
        ["paper/d", "paper/f"],
        folder=ROOT / "recipes",
    )
    assert params.teachers["unsup-simcse-bert-large__wiki-small"].pooling == "mean"
    assert "pooling" not in params.model_dump()["teachers"]["minilm-l6__wiki-small"]
    assert params.backbones["unsup-simcse-bert-large"].origin == "data/unsup-simcse-bert-large-uncased"
    assert Params.model_validate(params.model_dump()) == params


def test_a_teacher_and_the_backbones_it_needs_come_along(tmp_path: Path) -> None:
    params = resolved(tmp_path, "paper/d")
    assert params.runs["d__minilm-l2__s0"].parent == "teachers/minilm-l6__wiki-small"
    assert params.teachers["minilm-l6__wiki-small"].encoder == "backbones/minilm-l6"
    assert params.backbones["minilm-l2"].origin == "backbones/minilm-l6"
    assert params.backbones["minilm-l6"].layers is None
    assert {"minilm-l6", "wiki-small"} <= set(params.sources)


def test_a_run_with_a_teacher_may_start_from_another_runs_artefact(tmp_path: Path) -> None:
    """The first stage comes along with the same seed; backbone and recipe hash are as of one system."""
    params = resolved(tmp_path, "paper/e")
    runs = [params.runs[f"e__minilm-l2__s{seed}"] for seed in (0, 1)]
    assert [run.backbone for run in runs] == [f"artefacts/a__minilm-l2__s{seed}" for seed in (0, 1)]
    assert {run.parent for run in runs} == {"teachers/minilm-l6__wiki-small"}
    assert {run.backbone_name for run in runs} == {"minilm-l2"}
    assert runs[0].recipe_hash() == runs[1].recipe_hash()
    assert "a__minilm-l2__s1" in params.runs
    assert set(params.backbones) == {"minilm-l2", "minilm-l6"}


def test_groups_unions_and_seeds_select_runs(tmp_path: Path) -> None:
    assert {run.id for run in resolved(tmp_path, "paper/pair").runs.values()} == {"a", "b"}
    assert len(resolved(tmp_path, "paper/a", "paper/d", seeds=5).runs) == 10
    assert len(resolved(tmp_path, "paper/b", backbones=["minilm-l6"]).runs) == 2


@pytest.mark.parametrize(
    ("declared", "wanted", "seeds"),
    [
        ([42, 0, 1], None, [42, 0, 1]),
        ([42, 0, 1], 2, [42, 0]),
        ([42, 0, 1], 5, [42, 0, 1, 2, 3]),
        ([0], 5, [0, 1, 2, 3, 4]),
    ],
)
def test_seeds_are_the_first_declared_and_then_new_ones(
    tmp_path: Path, declared: list[int], wanted: int | None, seeds: list[int]
) -> None:
    entry = recipe()
    entry["runs"][0]["seeds"] = declared
    params = resolve(write(tmp_path, entry), ["paper/a"], seeds=wanted, folder=ROOT / "recipes")
    assert [run.seed for run in params.runs.values()] == seeds


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r["runs"][0].update(use=["bse"]), "uses block 'bse'"),
        (lambda r: r["runs"][0].update(use=[["base"]]), r"uses block \['base'\], expected one of"),
        (lambda r: r["runs"].append(r["runs"][0]), "run id 'a' is also in paper.yaml"),
        (lambda r: r["runs"][0].update(parent={"run": "z", "teacher": "y"}), "one of the keys teacher, run"),
        (lambda r: r["runs"][0].update(parent={"run": "a"}), "run of recipes/: a <- a: depends on itself"),
        (lambda r: r["runs"][0].update(seeds=[0, 0]), "seeds has 0 twice"),
        (lambda r: r["blocks"]["hot"].update(use=["hot"]), "run b: block 'hot' uses itself through hot"),
        (lambda r: r["groups"].update(more=["x"]), "group paper/more names 'x', which no recipe declares"),
    ],
)
def test_bad_declarations_are_refused_in_one_line(tmp_path: Path, change: Any, message: str) -> None:
    entry = copy.deepcopy(recipe())
    change(entry)
    with pytest.raises(InputError, match=message) as caught:
        resolve(write(tmp_path, entry), ["paper"], folder=ROOT / "recipes")
    assert "\n" not in str(caught.value)


def test_two_recipes_share_no_name_and_no_run_id(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="run id 'a' is also in"):
        write(tmp_path, recipe(), recipe(name="second"))
    (tmp_path / "second.yaml").write_text(dump_yaml(recipe()))
    with pytest.raises(InputError, match=r"second\.yaml: another recipe is called 'paper'"):
        load_recipes(tmp_path)


def test_every_recipe_of_the_project_resolves_with_valid_configs() -> None:
    recipes = load_recipes(ROOT / "recipes")
    assert {"small", "baselines"} <= set(recipes)
    for name in recipes:
        check_runs(resolve(recipes, [name], folder=ROOT / "recipes"))
        for group in recipes[name].groups:
            assert select(recipes, [f"{name}/{group}"], {})


def test_the_committed_params_are_the_small_plan() -> None:
    fresh = resolve(load_recipes(ROOT / "recipes"), ["small"], folder=ROOT / "recipes")
    assert read_params(ROOT / "params.yaml") == fresh, "run `sentbench plan small` and commit params.yaml"


def test_a_method_in_the_setting_of_a_system_has_its_training_but_for_the_given_settings() -> None:
    template = load_recipes()["baselines"].systems["simcse"]
    own = {name: value for name, value in template.config.items() if name != "max_length"}
    settings = {**own, "temperature": 0.5, "learning_rate": 0.125}
    made = in_setting_of(
        template, "mine", method="simcse", settings=settings, seeds=[3], backbone="bert-tiny"
    )
    assert made.train == {**template.train, "learning_rate": 0.125}
    assert made.config == {**template.config, "temperature": 0.5}
    assert (made.seeds, made.backbones) == ([3], ["bert-tiny"])


@pytest.mark.parametrize("name", load_recipes()["baselines"].systems["simcse"].config)
def test_every_given_setting_of_a_method_is_its_setting(name: str) -> None:
    template = load_recipes()["baselines"].systems["simcse"]
    settings = {**template.config, name: "given"}
    made = in_setting_of(
        template, "mine", method="simcse", settings=settings, seeds=[3], backbone="bert-tiny"
    )
    assert made.config == {**template.config, name: "given"}
    assert made.train == template.train
