"""Chains of derived entries: every chain must end, within the limit."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.plan.chains import LONGEST_CHAIN
from harness.plan.params_file import read_params
from harness.plan.recipes import Parent, Recipe, load_recipes
from harness.plan.resolve import resolve
from tests.support.plan import small_plan
from tests.support.yaml_files import dump_yaml

ROOT = Path(__file__).parents[3]
PARAMS = small_plan()
RUN, OTHER = "simcse-small__words-50d__s0", "simcse-small__words-50d__s1"
CYCLES: dict[str, tuple[tuple[str, str, str, str], ...]] = {
    "reads": (("reads", "evaluation-senteval", "after", ".fingerprints/data/evaluation-senteval.txt"),),
    "a corpus is its tool": (("corpora", "wiki-small-views", "tool", "corpora/wiki-small-views"),),
    "a run starts from another one, which has it as parent": (
        ("runs", RUN, "backbone", f"artefacts/{OTHER}"),
        ("runs", OTHER, "parent", f"artefacts/{RUN}"),
    ),
    "two backbones": (
        ("backbones", "minilm-l2", "origin", "backbones/minilm-l6"),
        ("backbones", "minilm-l6", "origin", "backbones/minilm-l2"),
    ),
}


def written(folder: Path, params: dict[str, Any]) -> Path:
    path = folder / "params.yaml"
    path.write_text(dump_yaml(params, sort_keys=False))
    return path


@pytest.mark.parametrize("changes", CYCLES.values(), ids=CYCLES)
def test_a_plan_with_an_entry_that_depends_on_itself_is_one_line(
    tmp_path: Path, changes: tuple[tuple[str, str, str, str], ...]
) -> None:
    params = deepcopy(PARAMS)
    for kind, name, key, value in changes:
        params[kind][name][key] = value
    with pytest.raises(InputError, match="depends on itself") as caught:
        read_params(written(tmp_path, params))
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("field", "kind", "origin"),
    [
        ("parent", "artefacts", {"runs": OTHER}),
        ("backbone", "artefacts", {"runs": OTHER}),
        ("parent", "teachers", {"teachers": None}),
        ("corpus", "corpora", {"corpora": None}),
    ],
)
def test_a_portable_run_that_needs_something_native_is_one_line(
    tmp_path: Path, field: str, kind: str, origin: dict[str, str | None]
) -> None:
    params = deepcopy(PARAMS)
    ((part, name),) = origin.items()
    name = name or next(iter(params[part]))
    params["runs"][RUN][field] = f"{kind}/{name}"
    read_params(written(tmp_path, params))
    for entries in ("corpora", "teachers", "runs"):
        for entry in params[entries].values():
            entry["arithmetic"] = "native"
    params["runs"][RUN]["arithmetic"] = "portable"
    with pytest.raises(InputError) as caught:
        read_params(written(tmp_path, params))
    assert f"artefacts/{RUN} is portable and needs {kind}/{name}, which is native" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    params["runs"][RUN]["arithmetic"] = "native"
    read_params(written(tmp_path, params))


@pytest.mark.parametrize(("length", "message"), [(LONGEST_CHAIN, ""), (3000, "more than 100 others")])
def test_a_chain_of_backbones_in_the_plan_may_be_long_but_not_endless(
    tmp_path: Path, length: int, message: str
) -> None:
    params = deepcopy(PARAMS)
    for number in range(length - 1):
        origin = f"backbones/b{number - 1}" if number else "data/minilm-l6"
        params["backbones"][f"b{number}"] = {"origin": origin, "corpus": origin, "layers": None}
    path = written(tmp_path, params)
    if message:
        with pytest.raises(InputError, match=message):
            read_params(path)
    else:
        assert len(read_params(path).backbones) > length - 2


def declared(kind: str, folder: Path) -> dict[str, Recipe]:
    """Returns the recipes, with the other declarations in a folder; one kind has a chain of 3000."""
    recipes = load_recipes(ROOT / "recipes")
    for name in ("backbones.yaml", "corpora.yaml"):
        (folder / name).write_text((ROOT / "recipes" / name).read_text())
    views = [{"kind": "swap", "column": 0, "share": 0.1, "at_least": 1, "clean": False}]
    system = recipes["small"].systems["simcse-small"]
    chain: dict[str, Any] = {}
    for number in range(3000):
        before = f"c{number - 1}" if number else None
        chain[f"c{number}"] = {
            "backbones": {"cut": before or "minilm-l6", "layers": 1},
            "corpora": {"origin": before or "wiki-small", "seed": 0, "views": views},
            "runs": system.model_copy(update={"start": Parent(run=before) if before else None}),
        }[kind]
    if kind == "runs":
        return {"small": recipes["small"].model_copy(update={"systems": chain})}
    with (folder / f"{kind}.yaml").open("a") as file:
        file.write(dump_yaml(chain))
    return recipes


@pytest.mark.parametrize("kind", ["backbones", "corpora", "runs"])
def test_three_thousand_chained_declarations_are_one_line(kind: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="depends on more than 100 others") as caught:
        resolve(declared(kind, tmp_path), ["small"], folder=tmp_path)
    assert len(str(caught.value).splitlines()) == 1
