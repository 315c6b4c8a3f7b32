"""Values of declarations at their borders, and each folder that an entry of the plan is made from."""

import re
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from harness.data.augmentation import views
from harness.plan import entries, hours, recipes, stale
from harness.plan.chains import LONGEST_CHAIN, check_chains, check_portable
from harness.plan.entries import Backbone, Corpus, Params, Run, WordShape
from harness.plan.params_file import read_params
from harness.plan.recipes import DeclaredBackbone, DeclaredCorpus, System

ROOT = Path(__file__).parents[3]
TINY = 1e-300
COUNT = ([1, 2], [0, -1])
"""Taken and refused values of a number of something."""
NATURAL = ([0, 1], [-1])
SHARE = ([TINY, 0.5, 1.0], [0.0, 1.001, float("nan")])
POSITIVE = ([TINY, 5.0], [0.0, -1.0, float("inf")])
BELOW_ONE = ([0.0, 0.999], [1.0, -0.001])
INSIDE = ([TINY, 0.999], [0.0, 1.0])
SOME = ([["a"], ["a", "b"]], [[]])
VIEWS = ([[{"kind": "copy"}]], [[]])
BORDERS: Mapping[Any, Mapping[str, tuple[list[Any], list[Any]]]] = {
    Run: {"corpus_share": SHARE, "seed": NATURAL, "tasks": SOME},
    WordShape: dict.fromkeys(("vocabulary", "copies", "heads", "inner", "positions"), COUNT)
    | {"layers": NATURAL, "seed": NATURAL, "dropout": BELOW_ONE},
    Backbone: {"layers": COUNT},
    Corpus: {"seed": NATURAL, "rows": COUNT, "views": VIEWS},
    Params: {"plan": SOME},
    System: {
        "backbones": SOME,
        "tasks": SOME,
        "seeds": ([[0], [3, 1]], [[], [-1]]),
        "first_seeds": COUNT,
        "corpus_share": SHARE,
    },
    recipes.SelectedSystem: {"backbones": SOME, "seeds": COUNT},
    recipes.RecipeFile: {"providers": ([["hub"]], [[], ["nope"]])},
    DeclaredBackbone: {"layers": COUNT},
    DeclaredCorpus: {"seed": NATURAL, "rows": COUNT, "views": VIEWS},
    hours.BackboneShape: dict.fromkeys(("layers", "inner", "positions"), NATURAL)
    | dict.fromkeys(("width", "vocabulary"), COUNT),
    hours.GuessedGpu: {"operations_per_second": POSITIVE, "share": SHARE},
    hours.StepTime: dict.fromkeys(("threads", "batch", "length"), COUNT) | {"seconds": POSITIVE},
    hours.StatedTime: {"gpu_hours": POSITIVE},
    views.Copy: {"column": NATURAL},
    views.Generate: {
        "column": NATURAL,
        "beams": COUNT,
        "max_input": ([2], [1]),
        "max_new_tokens": COUNT,
        "longest_ratio": POSITIVE,
        "fallback_limit": ([0.0, 1.0], [-0.001, 1.001]),
        "batch_tokens": COUNT,
    },
    views.Fill: {"column": NATURAL, "share": INSIDE, "max_input": ([3], [2]), "batch_tokens": COUNT},
    views.Edit: {"column": NATURAL, "share": BELOW_ONE, "at_least": NATURAL},
}
CASES = [(kind, name) for kind, fields in BORDERS.items() for name in fields]


@pytest.mark.parametrize(("kind", "name"), CASES, ids=[f"{kind.__name__}.{name}" for kind, name in CASES])
def test_a_value_is_taken_up_to_its_border_and_not_beyond(kind: Any, name: str) -> None:
    """A share of the corpus, a number of layers, a probability: each bound is part of what it means."""
    kind.model_rebuild()
    field = kind.model_fields[name]
    one: TypeAdapter[Any] = TypeAdapter(
        Annotated[field.annotation, *field.metadata],  # type: ignore[name-defined]
        config={"strict": True, "allow_inf_nan": False},
    )
    taken, refused = BORDERS[kind][name]
    for value in taken:
        assert one.validate_python(value) == value
    for value in refused:
        with pytest.raises(ValidationError):
            one.validate_python(value)


def test_every_bounded_number_of_these_declarations_is_tried() -> None:
    for kind, tried in BORDERS.items():
        kind.model_rebuild()
        bounded = {
            name
            for name, field in kind.model_fields.items()
            if any(type(bound).__name__ in ("Ge", "Gt", "Le", "Lt", "MinLen") for bound in field.metadata)
        }
        assert bounded <= {*tried}, kind.__name__


@pytest.mark.parametrize(
    ("folder", "taken"),
    [
        ("reports", True),
        (".further/own__bert", True),
        ("reports/", False),
        ("reports2", False),
        ("my-reports", False),
        ("reports/scores", False),
        (".further", False),
        (".further/", False),
        (".further/a/b", False),
        ("xfurther/a", False),
    ],
)
def test_outputs_are_in_reports_or_below_further(folder: str, taken: bool) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(entries.OutputFolder)
    if taken:
        assert adapter.validate_python(folder) == folder
    else:
        with pytest.raises(ValidationError):
            adapter.validate_python(folder)


@pytest.fixture(scope="module")
def small() -> dict[str, Any]:
    """The values of the small plan with a corpus and without runs but one."""
    params = read_params(ROOT / "params.yaml")
    key = "simcse-small__words-50d__s0"
    return params.model_dump() | {"runs": {key: params.runs[key].model_dump()}, "further": {}}


KEY = "simcse-small__words-50d__s0"
pytestmark = pytest.mark.filterwarnings("ignore:Pydantic serializer")
COPY: dict[str, Any] = {
    "origin": "data/words", "tool": "data/words", "seed": 0, "rows": None, "views": [{"kind": "copy"}],
}  # fmt: skip
MADE_FROM = {
    "backbones": (
        {"origin": "data/model", "corpus": "data/model", "layers": 1},
        ("origin",),
        "backbones/own",
    ),
    "corpora": (COPY, ("origin", "tool"), "corpora/own"),
    "runs": ({}, ("backbone", "parent"), f"artefacts/{KEY}"),
}


@pytest.mark.parametrize(
    ("part", "need"), [(part, need) for part in MADE_FROM for need in MADE_FROM[part][1]]
)
def test_an_entry_may_not_be_made_from_itself_by_any_of_its_folders(
    part: str, need: str, small: dict[str, Any]
) -> None:
    entry, _, own = MADE_FROM[part]
    key = KEY if part == "runs" else "own"
    values = small[part][key] if part == "runs" else entry
    changed = {**small, part: {**small[part], key: values}}
    Params.model_validate(changed)
    with pytest.raises(ValidationError, match="depends on itself"):
        Params.model_validate({**small, part: {**small[part], key: {**values, need: own}}})


@pytest.mark.parametrize(
    ("user", "need"),
    [("run", "corpus"), ("run", "parent"), ("teacher", "corpus"), ("corpus", "origin"), ("corpus", "tool")],
)
def test_a_portable_entry_may_not_be_made_from_a_native_one_by_any_of_its_folders(
    user: str, need: str, small: dict[str, Any]
) -> None:
    def plan(arithmetic: str) -> Any:
        made = {"made": {**COPY, "arithmetic": arithmetic}}
        values = {**small, "corpora": {**small["corpora"], **made}}
        if user == "run":
            taught = {"encoder": "backbones/own", "corpus": "data/a"}
            made_of = {"arithmetic": "portable" if need == "corpus" else arithmetic}
            values["teachers"] = {"t": taught | made_of}
            run = {**small["runs"][KEY], "corpus": "data/words", "parent": "teachers/t"}
            run |= {"corpus": "corpora/made"} if need == "corpus" else {}
            return {**values, "runs": {KEY: run}}
        if user == "teacher":
            taught = {"encoder": "backbones/own", "corpus": "corpora/made", "arithmetic": "portable"}
            return {**values, "teachers": {"t": taught}}
        values["corpora"]["own"] = {**COPY, "arithmetic": "portable", need: "corpora/made"}
        return values

    Params.model_validate(plan("portable"))
    with pytest.raises(ValidationError, match=r"is portable and needs .*, which is native"):
        Params.model_validate(plan("native"))


def test_a_chain_may_have_a_hundred_entries() -> None:
    def chain(length: int) -> dict[str, set[str]]:
        return {str(number): {str(number + 1)} for number in range(length - 1)}

    assert LONGEST_CHAIN == 100
    check_chains(chain(100))
    with pytest.raises(ValueError, match="0 depends on more than 100 others"):
        check_chains(chain(101))
    check_portable(
        {"a": {"b"}, "b": set(), "c": {"d"}, "d": set()},
        {"a": "portable", "b": "portable", "c": "native", "d": "native"},
    )


def test_a_plans_digest_has_twelve_digits_and_sees_every_part(small: dict[str, Any]) -> None:
    params = Params.model_validate(small)
    digests = {params.digest()}
    for part in Params.model_fields:
        value = getattr(params, part)
        other = [*value, "other"] if isinstance(value, list) else {**value, "other": value}
        digests.add(Params.model_construct(**{**vars(params), part: other}).digest())
    assert len(digests) == 1 + len(Params.model_fields)
    assert all(len(digest) == 12 and int(digest, 16) >= 0 for digest in digests)
    assert Params.model_validate(dict(reversed([*small.items()]))).digest() == params.digest()


@pytest.mark.parametrize("part", stale.DETERMINED_PARTS)
def test_a_difference_of_any_part_is_named(part: str, small: dict[str, Any]) -> None:
    assert {*stale.DETERMINED_PARTS} == {"sources", "backbones", "corpora", "teachers", "runs"}
    filled = {**small, "corpora": {"own": COPY}}
    filled["teachers"] = {"own__stsb": {"encoder": "backbones/own", "corpus": "data/words"}}
    params = Params.model_validate(filled)
    key = next(iter(getattr(params, part)))
    name = re.sub("__s[0-9]+$", "", key) if part == "runs" else key
    fewer = params.model_copy(update={part: {k: v for k, v in getattr(params, part).items() if k != key}})
    assert [*stale.differences(params, fewer)] == [f"{name} is no longer planned"]
    assert [*stale.differences(fewer, params)] == [f"{name} is new"]
    assert [*stale.differences(params, params)] == []


@pytest.mark.parametrize(
    ("ours", "theirs", "change"),
    [
        ({"a": 1}, {"a": 1}, None),
        ({"a": 1}, {"a": 2}, ("a", 1, 2)),
        ({"a": {"b": {"c": 1}, "d": 2}}, {"a": {"b": {"c": 3}, "d": 4}}, ("a.b.c", 1, 3)),
        ({"a": {"b": 1}}, {"a": 5}, ("a", {"b": 1}, 5)),
        ({"a": 1}, {"a": 1, "b": 2}, ("b", None, 2)),
        ({"a": 1, "b": 2}, {"a": 1}, ("b", 2, None)),
    ],
)
def test_the_first_change_has_its_dotted_name_and_both_values(ours: Any, theirs: Any, change: Any) -> None:
    assert stale._first_change(ours, theirs) == change


def test_a_result_is_outdated_by_any_run_that_it_needs_at_any_depth() -> None:
    """c learns from b, which continues a; d is alone, and e has no result."""
    needs = {"c": {"b"}, "b": {"a"}, "a": set(), "d": set(), "e": {"a"}}
    runs: Any = {
        key: SimpleNamespace(recipe_hash=lambda: "now", needs=lambda key=key: needs[key]) for key in needs
    }
    params: Any = SimpleNamespace(runs=runs)
    recorded = dict.fromkeys("cbad", "now")
    assert stale.outdated(params, recorded) == []
    assert stale.outdated(params, {**recorded, "a": "before"}) == ["c", "b", "a"]
    assert stale.outdated(params, {**recorded, "b": "before"}) == ["c", "b"]
    assert stale.outdated(params, {**recorded, "d": "before"}) == ["d"]


def test_scores_are_not_kept_to_read_the_recipes_of_results(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []

    def read_recorded(*, kept: Any) -> Any:
        seen.append(kept("run", "score"))
        results = [SimpleNamespace(run=SimpleNamespace(key=key, recipe=f"of {key}")) for key in "ab"]
        return SimpleNamespace(results=results)

    monkeypatch.setattr(stale, "read_recorded", read_recorded)
    params: Any = SimpleNamespace(runs={"a": 1})
    assert stale.recorded_recipes(params) == {"a": "of a"}
    assert seen == [False]
