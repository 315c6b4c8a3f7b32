"""params.yaml states a value once: a run is the defaults, its id's settings, then its own entry."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import InputError
from harness.evidence.spec import load_specs
from harness.plan.entries import Params
from harness.plan.entry_files import write_entries
from harness.plan.params_file import (
    STATED_BY_ENTRY,
    file_schema,
    layered,
    merge,
    read_params,
    resolved,
    write_params,
)
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from tests.support.plan import small_plan
from tests.support.yaml_files import dump_yaml, load_yaml

ROOT = Path(__file__).parents[3]
RECIPES, TABLES = load_recipes(ROOT / "recipes"), load_specs()
STATE = {
    "method": "m",
    "backbone": "backbones/b",
    "corpus": "data/c",
    "parent": "data/c",
    "text": "raw",
    "outputs": "reports",
}
RUN = "simcse-small__words-50d__s0"


def run(name: str, seed: int, **values: Any) -> dict[str, Any]:
    return {"id": name, "seed": seed, **STATE, **values}


FILE = {
    "plan": ["p"],
    "defaults": {"pooling": "cls", "tasks": ["A", "B"], "config": {"k": 1}, "train": {"steps": 9}},
    "settings": {
        "x": {"train": {"rate": 0.5}, "config": {"noise": {"share": 0.1, "steps": 4}}},
        "y": {"pooling": None, "tasks": ["C"], "train": {"rate": 0.7, "steps": 0}},
    },
    "runs": {
        "x0": run("x", 0),
        "x1": run("x", 1, train={"rate": 0.6}, config={"noise": {"share": 0.2}}),
        "y0": run("y", 0),
        "z0": run("z", 0, pooling="mean"),
    },
}
"""Two ids with settings, a run that changes two of them, and an id without settings."""


def test_a_later_value_wins_and_a_list_is_one_value() -> None:
    """By hand: x1 changes one of two values of `noise`; y replaces the list and says null; z has defaults."""
    assert resolved(FILE) == {
        "plan": ["p"],
        "runs": {
            "x0": run(
                "x", 0, pooling="cls", tasks=["A", "B"],
                config={"k": 1, "noise": {"share": 0.1, "steps": 4}}, train={"steps": 9, "rate": 0.5},
            ),
            "x1": run(
                "x", 1, pooling="cls", tasks=["A", "B"],
                config={"k": 1, "noise": {"share": 0.2, "steps": 4}}, train={"steps": 9, "rate": 0.6},
            ),
            "y0": run("y", 0, pooling=None, tasks=["C"], config={"k": 1}, train={"steps": 0, "rate": 0.7}),
            "z0": run("z", 0, pooling="mean", tasks=["A", "B"], config={"k": 1}, train={"steps": 9}),
        },
    }  # fmt: skip


def test_the_file_is_not_changed_by_reading_it() -> None:
    before = deepcopy(FILE)
    resolved(FILE)
    assert before == FILE


def test_the_written_form_by_hand() -> None:
    """Four runs of three ids: all share k; two of three share tasks; rates differ, so each id states its own;
    seeds of x differ in the parent, which every entry states, and in steps, which entries then state.
    """
    train = {"x": {"rate": 1.0}, "y": {"rate": 1.0}, "z": {"rate": 2.0}}
    plan = {
        "runs": {
            "x0": run("x", 0, tasks=["A"], config={"k": 1}, train={**train["x"], "steps": 5}),
            "x1": run("x", 1, tasks=["A"], config={"k": 1}, train={**train["x"], "steps": 6}),
            "y0": run("y", 0, tasks=["A"], config={"k": 1, "only": True}, train={**train["y"], "steps": 5}),
            "z0": run("z", 0, tasks=["B"], config={"k": 1}, train={**train["z"], "steps": 5}),
        }
    }
    assert layered(plan) == {
        "defaults": {"tasks": ["A"], "config": {"k": 1}},
        "settings": {
            "x": {"train": {"rate": 1.0}},
            "y": {"config": {"only": True}, "train": {"rate": 1.0, "steps": 5}},
            "z": {"tasks": ["B"], "train": {"rate": 2.0, "steps": 5}},
        },
        "runs": {
            "x0": run("x", 0, train={"steps": 5}),
            "x1": run("x", 1, train={"steps": 6}),
            "y0": run("y", 0),
            "z0": run("z", 0),
        },
    }


def test_a_number_a_fraction_and_a_truth_value_are_not_the_same_value() -> None:
    """Two of four have the number 1, which becomes the default of `share`; the others state theirs."""
    values = {"a": 1, "b": 1, "c": 1.0, "d": True}
    plan = {"runs": {key: run(key, 0, share=value, config={"v": value}) for key, value in values.items()}}
    file = layered(plan)
    assert type(file["defaults"]["share"]) is int
    again = resolved(file)["runs"]
    for key, value in values.items():
        assert type(again[key]["share"]) is type(again[key]["config"]["v"]) is type(value)


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([None, True, 0, 1, 1.0, "a", [], [1, "b"], {}]),
    lambda inner: st.dictionaries(st.sampled_from("pqr"), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("xyz"), st.dictionaries(st.sampled_from(["config", "train", "w"]), VALUES)),
        max_size=6,
    )
)
def test_any_runs_are_given_back_by_their_written_form(runs: list[tuple[str, dict[str, Any]]]) -> None:
    """Also where one run has a value and another one more keys, or none, at the same path."""
    plan = {"runs": {f"k{seed}": run(name, seed, **values) for seed, (name, values) in enumerate(runs)}}
    assert repr_of(resolved(layered(plan))) == repr_of(plan)


def repr_of(value: Any) -> Any:
    """Returns a value whose numbers and truth values are texts, and whose keys are sorted."""
    if isinstance(value, dict):
        return {key: repr_of(value[key]) for key in sorted(value)}
    return [repr_of(part) for part in value] if isinstance(value, list) else repr(value)


@pytest.mark.parametrize(
    "name",
    [
        "all",
        "small",
        "pcl/table2",
        *(pytest.param(name, marks=pytest.mark.thorough) for name in RECIPES if name != "small"),
    ],
)
def test_the_file_of_every_recipe_gives_the_entries_of_the_recipe(name: str, tmp_path: Path) -> None:
    names = list(RECIPES) if name == "all" else [name]
    plan = resolve(RECIPES, names, folder=ROOT / "recipes", tables=TABLES)
    path = tmp_path / "params.yaml"
    assert write_params(plan, path)
    assert not write_params(plan, path)
    assert read_params(path) == plan
    assert read_params(path).digest() == plan.digest()
    text = path.read_text()
    complete = dump_yaml(plan.model_dump(), sort_keys=False, width=110)
    assert not {"&", "*"} & set(text)
    assert len(plan.runs) < 3 or text.count("\n") < complete.count("\n") / 1.9


def test_an_entry_states_what_the_pipeline_inserts() -> None:
    """`${item.NAME}` of dvc.yaml is read from the file as it is written, without defaults and settings."""
    stages = (ROOT / "dvc.yaml").read_text().partition("\n  train:")[2]
    inserted = {part.partition("}")[0] for part in stages.split("${item.")[1:]}
    assert inserted == {"method", "text", "backbone", "corpus", "parent", "outputs"}
    assert {"id", "seed"} | inserted == set(STATED_BY_ENTRY)
    entries = load_yaml((ROOT / "params.yaml").read_text())["runs"]
    assert all(set(entry) >= set(STATED_BY_ENTRY) for entry in entries.values())


def test_the_small_plan_is_readable_by_hand(tmp_path: Path) -> None:
    """Each run adds three lines."""
    lines = (ROOT / "params.yaml").read_text().splitlines()
    entries = lines[lines.index("runs:") + 1 :]
    assert len(entries) <= 3 * len(small_plan()["runs"])
    assert len(lines) - len(entries) < 1200
    assert max(map(len, lines)) <= 160


@pytest.mark.parametrize(
    ("change", "seeds"),
    [
        ({"settings": {"simcse-small": {"train": {"learning_rate": 0.002}}}}, set(range(20))),
        ({"runs": {RUN: {"train": {"learning_rate": 0.002}}}}, {0}),
    ],
)
def test_a_changed_setting_changes_the_entries_of_its_runs_and_of_no_other(
    change: dict[str, Any], seeds: set[int], tmp_path: Path
) -> None:
    """As `dvc exp run -S` changes it: for a system, or for one run."""
    file = load_yaml((ROOT / "params.yaml").read_text())
    path = tmp_path / "params.yaml"
    path.write_text(dump_yaml(merge(file, change)))
    before, after = Params.model_validate(small_plan()), read_params(path)
    for folder, plan in (("before", before), ("after", after)):
        write_entries(plan, tmp_path / folder)
    changed = {
        str(file.relative_to(tmp_path / "after"))
        for file in (tmp_path / "after").rglob("*/*.json")
        if file.read_bytes() != (tmp_path / "before" / file.relative_to(tmp_path / "after")).read_bytes()
    }
    assert changed == {f"runs/simcse-small__words-50d__s{seed}.json" for seed in seeds}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"defaults": 5}, "defaults: expected keys with values"),
        ({"settings": ["x"]}, "settings: expected keys with values"),
        ({"settings": {"simcse-small": None}}, "settings.simcse-small: expected keys with values"),
        (
            {"settings": {"simcse-smal": {}}},
            "settings.simcse-smal: no run has this id (did you mean simcse-small",
        ),
        ({"runs": {RUN: 3}}, f"runs.{RUN}: expected keys with values"),
        ({"runs": {RUN: {"id": ["simcse-small"]}}}, f'runs.{RUN}.id is ["simcse-small"]'),
        ({"defaults": {"stepz": 1}}, ".stepz"),
    ],
)
def test_a_damaged_part_is_one_line(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(dump_yaml(merge(load_yaml((ROOT / "params.yaml").read_text()), change), sort_keys=False))
    with pytest.raises(InputError) as caught:
        read_params(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value).splitlines()) == 1


def test_a_file_without_runs_says_so(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(dump_yaml({key: part for key, part in small_plan().items() if key != "runs"}))
    with pytest.raises(InputError, match="runs: missing required key"):
        read_params(path)


def test_the_schema_for_editors_has_every_key_of_the_file() -> None:
    file, schema = load_yaml((ROOT / "params.yaml").read_text()), file_schema()
    assert file.keys() == schema["properties"].keys()
    part, run = schema["$defs"]["RunPart"], schema["$defs"]["Run"]
    assert schema["properties"]["settings"]["additionalProperties"] == {"$ref": "#/$defs/RunPart"}
    for values in (file["defaults"], *file["settings"].values()):
        assert values.keys() <= part["properties"].keys()
    assert "required" not in part
    assert all(
        set(run["required"]) <= entry.keys() <= part["properties"].keys() for entry in file["runs"].values()
    )
    assert not part["additionalProperties"]


def test_a_plan_that_was_edited_to_the_same_size_is_read_again(tmp_path: Path) -> None:
    """In one process, in one moment."""
    text = (ROOT / "params.yaml").read_text(encoding="utf-8")
    path = tmp_path / "params.yaml"
    path.write_text(text, encoding="utf-8")
    first = read_params(path)
    assert "plan: [small]" in text or "- small" in text
    edited = text.replace("[small]", "[smell]").replace("- small\n", "- smell\n")
    assert len(edited) == len(text)
    path.write_text(edited, encoding="utf-8")
    assert (first.plan, read_params(path).plan) == (["small"], ["smell"])
