"""What recipes may say, key by key, and what a plan makes of shared corpora, seeds and links."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from harness.errors import InputError
from harness.plan import identity, params_file, resolve
from harness.plan.entries import SourceLink, Teacher
from harness.plan.inputs import _teachers_of, add_corpus
from harness.plan.params_file import read_params
from harness.plan.recipes import (
    DeclaredBackbone,
    DeclaredCorpus,
    Parent,
    SelectedSystem,
    System,
    _check_names,
    load_recipes,
)
from tests.harness.plan.test_borders import KEY

ROOT = Path(__file__).parents[3]
SYSTEM = load_recipes(ROOT / "recipes")["small"].systems["simcse-small"]


@pytest.mark.parametrize(
    ("keys", "taken"),
    [
        ({}, False),
        ({"teacher": "a"}, True),
        ({"run": "a"}, True),
        ({"backbone": "a"}, True),
        ({"run": "a", "backbone": "b"}, True),
        ({"teacher": "a", "run": "b"}, False),
        ({"teacher": "a", "backbone": "b"}, False),
    ],
)
def test_a_parent_is_a_teacher_a_run_or_a_backbone(keys: dict[str, str], taken: bool) -> None:
    if taken:
        Parent(**keys)
    else:
        with pytest.raises(ValidationError, match="expected one of the keys"):
            Parent(**keys)


SHAPE = {
    "vocabulary": 9, "copies": 1, "layers": 1, "heads": 1, "inner": 4, "positions": 8, "dropout": 0.0,
    "start": "mean", "pooling": "mean", "seed": 0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "taken"),
    [
        ({"source": "a"}, True),
        ({"source": "a", "pooling": "cls"}, True),
        ({"cut": "a", "layers": 2}, True),
        ({"words": "a", "shape": SHAPE}, True),
        ({"words": "a", "shape": SHAPE, "centre": "b"}, True),
        ({}, False),
        ({"cut": "a"}, False),
        ({"words": "a"}, False),
        ({"source": "a", "layers": 2}, False),
        ({"source": "a", "shape": SHAPE}, False),
        ({"source": "a", "centre": "b"}, False),
        ({"cut": "a", "layers": 2, "centre": "b"}, False),
        ({"source": "a", "cut": "b", "layers": 2}, False),
        ({"source": "a", "words": "b", "shape": SHAPE}, False),
    ],
)
def test_a_backbone_has_one_origin_with_its_own_keys(keys: dict[str, Any], taken: bool) -> None:
    if taken:
        DeclaredBackbone.model_validate(keys)
    else:
        with pytest.raises(ValidationError, match=r"expected `source`|`centre` needs"):
            DeclaredBackbone.model_validate(keys)


@pytest.mark.parametrize("field", ["seeds", "backbones", "tasks"])
def test_nothing_is_listed_twice(field: str) -> None:
    values = SYSTEM.model_dump()
    values[field] = [*values[field], values[field][0]]
    with pytest.raises(ValidationError, match=f"{field} has .* twice"):
        System.model_validate(values)


@pytest.mark.parametrize(
    ("declared", "wanted", "seeds"),
    [
        ([5, 3], None, [5, 3]),
        ([5, 3], 1, [5]),
        ([5, 3], 2, [5, 3]),
        ([5, 3], 5, [5, 3, 0, 1, 2]),
        ([5, 0], 3, [5, 0, 1]),
        ([42, 0, 1], 5, [42, 0, 1, 2, 3]),
        ([42, 43], 4, [42, 43, 0, 1]),
        ([2, 1, 0], 3, [2, 1, 0]),
        ([7], 3, [7, 0, 1]),
        ([7], None, [7]),
    ],
)
def test_declared_seeds_come_first_and_then_the_smallest_unused(
    declared: list[int], wanted: int | None, seeds: list[int]
) -> None:
    assert SYSTEM.model_copy(update={"seeds": declared}).seeds_wanted(wanted) == seeds


@pytest.mark.parametrize("wanted", [None, 1, 3])
def test_a_system_without_training_keeps_its_single_seed(wanted: int | None) -> None:
    untrained = SYSTEM.model_copy(update={"seeds": [7], "train": {**SYSTEM.train, "steps": 0}})
    assert untrained.seeds_wanted(wanted) == [7]


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["native"], "native"),
        (["portable"], "portable"),
        (["native", "portable"], "portable"),
        (["portable", "native"], "portable"),
    ],
)
def test_what_any_portable_run_reads_is_portable(kinds: list[Any], expected: str) -> None:
    """A derived corpus, the corpus that it is made from, and a teacher."""
    copy = [{"kind": "copy", "source": "origin", "column": 0}]
    inner = DeclaredCorpus(origin="wiki1m", seed=0, views=copy)
    derived = {"outer": DeclaredCorpus(origin="inner", seed=3, views=copy), "inner": inner}
    corpora: dict[str, Any] = {}
    for arithmetic in kinds:
        add_corpus(corpora, "corpora/outer", derived, arithmetic)
        add_corpus(corpora, "data/wiki1m", derived, arithmetic)
    assert {name: entry["arithmetic"] for name, entry in corpora.items()} == {
        "inner": expected,
        "outer": expected,
    }
    assert (corpora["outer"]["origin"], corpora["outer"]["tool"]) == ("corpora/inner", "corpora/inner")
    assert (corpora["inner"]["origin"], corpora["outer"]["seed"]) == ("data/wiki1m", 3)
    runs: list[Any] = [
        SimpleNamespace(parent="teachers/bert__words", corpus="data/words", arithmetic=arithmetic)
        for arithmetic in kinds
    ]
    taught = _teachers_of(runs, {"bert": DeclaredBackbone(source="bert", pooling="cls")})
    assert taught == {
        "bert__words": {
            "encoder": "backbones/bert", "corpus": "data/words", "pooling": "cls", "arithmetic": expected,
        }
    }  # fmt: skip
    assert _teachers_of(runs, {})["bert__words"]["pooling"] is None


def test_a_derived_corpus_has_no_name_of_a_source_and_a_tool_exactly_if_a_view_uses_it() -> None:
    copy = [{"kind": "copy", "source": "origin", "column": 0}]
    tool = [{"kind": "copy", "source": "tool", "column": 0}]
    for name, entry in {
        "wiki1m": DeclaredCorpus(origin="stsb", seed=0, views=copy),
        "own": DeclaredCorpus(origin="wiki1m", tool="stsb", seed=0, views=copy),
        "mine": DeclaredCorpus(origin="wiki1m", seed=0, views=tool),
    }.items():
        with pytest.raises(InputError, match=r"has the name of a source|`tool` is required exactly if"):
            add_corpus({}, f"corpora/{name}", {name: entry}, "native")
    add_corpus(
        {}, "corpora/a", {"a": DeclaredCorpus(origin="wiki1m", tool="b", seed=0, views=tool)}, "native"
    )


def test_a_reader_reads_the_folders_of_all_links_sorted() -> None:
    params = read_params(ROOT / "params.yaml")
    links = {
        "all": SourceLink(source="data/a", after=".fingerprints/data/all-2.txt"),
        "all-2": SourceLink(source="data/c", after=".fingerprints/data/all-1.txt"),
        "all-1": SourceLink(source="data/b", after="data/b"),
    }
    assert params.model_copy(update={"reads": links}).folders_read("all") == ["data/a", "data/b", "data/c"]
    del links["all-1"]
    with pytest.raises(InputError, match="'all-1' is not in `reads`, and all needs it"):
        params.model_copy(update={"reads": links}).folders_read("all")


def test_a_run_names_its_needs_its_parent_and_its_backbone() -> None:
    run = read_params(ROOT / "params.yaml").runs[KEY]
    assert (run.needs(), run.parent_folder, run.is_first) == (set(), None, True)
    start, taught = "artefacts/first__bert__s3", "artefacts/second__mini__s0"
    made = run.model_copy(update={"backbone": start, "parent": taught, "outputs": ".further/x__y"})
    assert made.needs() == {"first__bert__s3", "second__mini__s0"}
    assert (made.backbone_name, made.is_first) == ("bert", False)
    assert made.folders() == {
        "backbone": Path(start), "corpus": Path(run.corpus), "parent": Path(taught),
    }  # fmt: skip
    assert run.folders() == {"backbone": Path(run.backbone), "corpus": Path(run.corpus)}
    described = made.described("own")
    assert {name: described[name] for name in ("key", "backbone", "recipe", "seed")} == {
        "key": "own", "backbone": "bert", "recipe": made.recipe_hash(), "seed": 0,
    }  # fmt: skip
    assert {*described} == {
        "id", "method", "variant", "seed", "text", "config", "train", "key", "backbone", "recipe",
    }  # fmt: skip
    assert Teacher(encoder="backbones/a", corpus="data/b").stated()["pooling"] == "as its folder states"


def test_the_precision_of_a_plan_is_that_of_trainings(tmp_path: Path) -> None:
    assert resolve.in_precision(SYSTEM, "bf16").train == {**SYSTEM.train, "precision": "bf16"}
    untrained = SYSTEM.model_copy(update={"train": {**SYSTEM.train, "steps": 0}})
    assert resolve.in_precision(untrained, "bf16") is untrained


def test_the_providers_of_a_plan_are_those_of_its_recipes_in_their_order() -> None:
    own = SimpleNamespace
    recipes: Any = {"a": own(providers=["hub", "embedded"]), "b": own(providers=["mirror"])}
    assert resolve._providers(recipes, ["a/x", "b"]) == ["embedded", "mirror", "hub"]
    assert resolve._providers(recipes, ["b/group"]) == ["mirror"]
    assert resolve._providers(recipes, ["pcl/table2"]) == ["embedded", "system", "mirror", "hub"]


def test_a_setting_that_a_method_and_the_training_have_is_the_methods(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    field = SimpleNamespace(is_required=lambda: False)
    needed = SimpleNamespace(is_required=lambda: True)
    config = SimpleNamespace(
        model_fields={"max_length": field, "steps": field, "size": needed, "width": needed}
    )
    monkeypatch.setattr("harness.plan.method_class.load_method", lambda name: SimpleNamespace(Config=config))

    def made(**settings: Any) -> System:
        return resolve.in_setting_of(
            SYSTEM, "own", method="simcse", settings=settings, seeds=range(3), backbone="bert"
        )

    own = made(steps=3, size=1, width=2, batch_size=7)
    assert own.config == {"max_length": SYSTEM.config["max_length"], "steps": 3, "size": 1, "width": 2}
    assert own.train == {**SYSTEM.train, "batch_size": 7}
    assert (own.id, own.method, own.variant, own.backbones, own.seeds) == (
        *("own", "simcse", "own", ["bert"], [0, 1, 2]),
    )
    assert own.preset is None
    with pytest.raises(
        InputError, match="simcse: no value of size, width; give defaults, or --set size=VALUE"
    ):
        made()
    with pytest.raises(InputError, match=r"--set sizes: expected one of max_length.*did you mean size"):
        made(sizes=1)


@pytest.mark.parametrize(("line", "found"), [(0, True), (4, True), (5, False)])
def test_the_digest_is_read_from_the_first_five_lines(line: int, found: bool, tmp_path: Path) -> None:
    lines = ["# a line"] * 9
    lines[line] = f"{params_file.DIGEST_LINE}0123"
    (tmp_path / "params.yaml").write_text("\n".join(lines))
    assert params_file.written_digest(tmp_path / "params.yaml") == ("0123" if found else None)


@pytest.mark.parametrize("backbones", [["nope"], ["bert-base-uncased", "nope"], ["words-50d"]])
def test_a_backbone_without_runs_is_refused_with_those_of_the_plan(backbones: list[str]) -> None:
    recipes = load_recipes(ROOT / "recipes")
    line = f"--backbone {backbones[-1]}: plan baselines/simcse has no runs on it, expected some of bert-base"
    with pytest.raises(InputError, match=line):
        resolve.resolve(recipes, ["baselines/simcse"], backbones=backbones, folder=ROOT / "recipes")


def test_an_identity_does_not_depend_on_the_order_of_settings() -> None:
    """YAML and DVC may write the keys of an entry in any order."""
    one = {"code": "1", "entry": {"a": 1, "b": {"c": 2, "d": 3}}}
    two = {"entry": {"b": {"d": 3, "c": 2}, "a": 1}, "code": "1"}
    assert identity._sha256(one) == identity._sha256(two)
    run = read_params(ROOT / "params.yaml").runs[KEY]
    config = dict(reversed([*run.train.items()]))
    assert run.model_copy(update={"train": config}).recipe_hash() == run.recipe_hash()


def test_every_named_part_of_a_recipe_is_declared(tmp_path: Path) -> None:
    """A group's members, and the systems that a recipe takes on their backbones."""
    recipes = load_recipes(ROOT / "recipes")
    home = recipes["small"]
    group = home.model_copy(update={"groups": {"g": ["simcse-small", "nope"]}})
    with pytest.raises(InputError, match="group small/g names 'nope', which no recipe declares"):
        _check_names({**recipes, "small": group})
    for system, backbone in (("nope", "words-50d"), ("simcse-small", "nope")):
        taken = SelectedSystem(system=system, backbones=[backbone])
        with pytest.raises(InputError, match=f"recipe small takes {system}@{backbone}, which no recipe"):
            _check_names({**recipes, "small": home.model_copy(update={"takes": [taken]})})
