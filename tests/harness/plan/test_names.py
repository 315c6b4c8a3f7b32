"""A plan name is a recipe, a run, a table, a figure, an ablation or all; a union has no duplicates."""

from pathlib import Path
from typing import Any

import pytest

from harness.data.sources import ProviderName
from harness.errors import InputError
from harness.evidence.spec import TableSpec
from harness.io.names import check_name
from harness.plan.checks import check_runs
from harness.plan.names import MARK, ablation_systems, changes_of, select
from harness.plan.params_file import merge
from harness.plan.recipes import Recipe, System, declared_systems, load_recipes
from harness.plan.resolve import resolve

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
        ("ablation/simcs", "did you mean ablation/simcse"),
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
ENTRY: dict[str, Any] = {
    "id": "run", "backbones": ["minilm-l2"], "corpus": "wiki-small", "tasks": ["STSB"],
    "method": "simcse", "variant": "released", "pooling": "cls", "text": "senteval", "seeds": [0],
    "config": {"max_length": 32, "temperature": 0.05},
    "train": {
        "steps": 10, "weight_decay": 0.0, "max_grad_norm": 1.0, "precision": "fp32", "eval_every": 125,
        "drop_last": True,
    },
}  # fmt: skip


def leaves(entry: Any, prefix: str = "") -> dict[str, Any]:
    """Returns every value of nested settings by its dotted place."""
    if not isinstance(entry, dict):
        return {prefix: entry}
    return {
        key: value
        for name, inner in entry.items()
        for key, value in leaves(inner, f"{prefix}.{name}" if prefix else name).items()
    }


def changed(**settings: Any) -> System:
    return System.model_validate(merge(ENTRY, settings))


def test_each_step_changes_exactly_one_choice_and_is_named_in_id_and_variant() -> None:
    declared = leaves(changed().model_dump())
    actual = {}
    for system, entry in ablation_systems(changed()).items():
        actual[system] = {
            key: value for key, value in leaves(entry.model_dump()).items() if declared[key] != value
        }
        assert actual[system].pop("id", "run") == system
        assert actual[system].pop("variant", "released") == system.replace("run", "released", 1)
    assert {system.removeprefix("run-ablation-"): differences for system, differences in actual.items()} == {
        "run": {},
        "static-layer": {"pooling": "static-last-avg"},
        "first-layer": {"pooling": "first-last-avg"},
        "weight-decay": {"train.weight_decay": 0.01},
        "clipping": {"train.max_grad_norm": None},
        "precision": {"train.precision": "bf16"},
        "eval-interval": {"train.eval_every": 250},
        "drop-last": {"train.drop_last": False},
        "max-length": {"config.max_length": 64},
        "text": {"text": "raw"},
    }


@pytest.mark.parametrize(
    ("settings", "step", "value"),
    [
        ({"pooling": "static-last-avg"}, "first-layer", "first-last-avg"),
        ({"pooling": "static-last-avg"}, "static-layer", None),
        ({"train": {"weight_decay": 0.1}}, "weight-decay", 0.0),
        ({"train": {"max_grad_norm": None}}, "clipping", 1.0),
        ({"train": {"precision": "bf16"}}, "precision", "fp32"),
        ({"train": {"eval_every": 250}}, "eval-interval", 125),
        ({"train": {"eval_every": 20}}, "eval-interval", 40),
        ({"train": {"drop_last": False}}, "drop-last", True),
        ({"config": {"max_length": 128}}, "max-length", 32),
        ({"text": "raw"}, "text", "senteval"),
    ],
)
def test_a_choice_made_otherwise_is_turned_back(settings: dict[str, Any], step: str, value: Any) -> None:
    actual = {change.step: change.changed for change in changes_of(changed(**settings))}
    assert actual.get(step) == value


def test_untrained_word_vectors_have_the_text_rung_alone() -> None:
    bare = changed(pooling=None, train={"steps": 0})
    assert [change.step for change in changes_of(bare)] == ["text"]


def test_every_declared_run_has_an_ablation_that_resolves_and_validates() -> None:
    recipes = load_recipes(ROOT / "recipes")
    for system in ("dclr-small", "glove-small", "pcl"):
        params = resolve(recipes, [f"ablation/{system}"], seeds=1, folder=ROOT / "recipes")
        check_runs(params)
        declared = [run for run in params.runs.values() if run.id.split(MARK)[0] == system]
        assert len(declared) == len({(run.variant, run.backbone) for run in declared}) >= 2
        if system == "dclr-small":
            assert params.providers == ["embedded"]
            change = params.run("dclr-small-ablation-clipping__words-50d__s0")
            assert change.parent == "artefacts/simcse-small__words-50d__s0"
    for system, entry in declared_systems(recipes).items():
        for name, change_of in ablation_systems(entry).items():
            assert change_of.id == check_name(name)
            assert name.startswith(system)


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
