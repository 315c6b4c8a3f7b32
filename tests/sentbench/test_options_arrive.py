"""Every keyword of every public function with an unusual value arrives where it is used, or is refused."""

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import sentbench
from sentbench import InputError
from tests.support.recording import Calls, Reached

PAIRS = [("a dog", "a", 1.0), ("two", "a a a", 2.0), ("b", "cat", 3.0), ("dogs", "aa", 4.0)]


class Recording:
    """A model that keeps the options of every call."""

    def __init__(self, shift: int) -> None:
        self.shift = shift
        self.seen: list[dict[str, Any]] = []

    def encode(self, texts: list[str], **options: Any) -> np.ndarray:
        self.seen.append(options)
        return np.array([[len(text) + self.shift, 1 + text.count("a")] for text in texts], np.float32)


@pytest.fixture
def own() -> Any:
    return sentbench.pairs(PAIRS, name="own")


@pytest.mark.parametrize(("given", "arrives"), [({"batch_size": 7}, {"batch_size": 7}), ({}, {})])
def test_an_option_arrives_at_the_model_of_evaluate(own: Any, given: Any, arrives: Any) -> None:
    model = Recording(0)
    sentbench.evaluate(model, [own], **given)
    assert [{key: options[key] for key in arrives} for options in model.seen] == [arrives]
    assert ("batch_size" in model.seen[0]) == bool(given)


@pytest.mark.parametrize("given", [{"batch_size": 7}, {}])
def test_an_option_arrives_at_both_models_of_compare(own: Any, given: Any) -> None:
    both = Recording(0), Recording(3)
    sentbench.compare(*both, [own], names=("a", "b"), **given)
    for model in both:
        assert model.seen
        assert all(options.get("batch_size") == given.get("batch_size") for options in model.seen)


class Way(NamedTuple):
    """Arguments of a call, its stubs (None ends the call), and for each keyword where a value arrives."""

    given: Mapping[str, Any]
    stubs: Mapping[str, Callable[..., Any] | None]
    rows: Mapping[str, tuple[Any, list[str]]]


def nothing(*given: Any, **options: Any) -> None:
    """A step without an effect."""


API = "sentbench.encoders"
ENCODER = SimpleNamespace(to=nothing)
MODELS: Mapping[str, Any] = {
    f"{API}:include_folders": nothing,
    f"{API}:encoded_by": nothing,
    "harness.tasks.registry:tasks_named": lambda names, *, text: [],
    "harness.report.assembly.pairs:score_lines": None,
}
COMPARED = {key.replace(API, "sentbench.comparison"): value for key, value in MODELS.items()} | {
    "harness.report.assembly.pairs:compare_models": None,
    "sentbench.comparison:load": lambda folder, **options: "model",
    "sentbench.comparison:recorded": lambda side: None,
}
WAYS: dict[str, Way] = {
    "load": Way(
        {"folder": "there"},
        {
            "harness.models.hub:model_folder": lambda named: Path(),
            f"{API}:folder_of": lambda value, of: Path(),
            "harness.process:resolve_device": lambda wanted: wanted,
            "harness.models.read:read_encoder": lambda folder, **options: ENCODER,
        },
        {
            "folder": ("where", ["model_folder.named"]),
            "pooling": ("cls", ["read_encoder.pooling"]),
            "device": ("cuda", ["resolve_device.wanted"]),
        },
    ),
    "encode": Way(
        {"model": len, "texts": ["a"]},
        {
            f"{API}:_function_of": nothing,
            "harness.tasks.evaluation:encode_unique": None,
        },
        {
            "model": (max, ["_function_of.model"]),
            "texts": (["b", "c"], ["encode_unique.texts"]),
            "progress": (True, ["_function_of.progress"]),
        },
    ),
    "evaluate": Way(
        {"model": len},
        MODELS,
        {
            "model": (max, ["encoded_by.model"]),
            "tasks": ("STSB, sts", ["tasks_named.names"]),
            "text": ("raw", ["tasks_named.text"]),
            "intervals": (True, ["score_lines.intervals"]),
            "averages": (True, []),
            "include": (["a", "b"], ["include_folders.folders"]),
            "batch_size": (7, ["encoded_by.batch_size"]),
            "progress": (True, ["encoded_by.progress"]),
        },
    ),
    "pairs": Way(
        {"source": "a.tsv"},
        {"harness.tasks.own_pairs:own_pairs_task": None},
        {"source": ("b.csv", ["own_pairs_task.pairs"]), "name": ("mine", ["own_pairs_task.name"])},
    ),
    "compare": Way(
        {"first": "a", "second": "b"},
        COMPARED,
        {
            "first": ("c", []),
            "second": ("c", []),
            "tasks": ("STSB, sts", ["tasks_named.names"]),
            "text": ("raw", ["tasks_named.text", "compare_models.text"]),
            "names": (("x", "y"), ["compare_models.names"]),
            "include": (["a", "b"], ["include_folders.folders"]),
            "batch_size": (7, ["encoded_by.batch_size"]),
            "pooling": ("pooler", ["load.pooling"]),
            "progress": (True, ["encoded_by.progress"]),
        },
    ),
    "published": Way(
        {"table": "una/table1"},
        {"harness.evidence.published:known_name": None},
        {"table": ("pcl/table2", ["known_name.name"])},
    ),
    "evidence": Way(
        {"system": "simcse@bert-base-uncased"},
        {
            "harness.evidence.ledger:load_ledger": lambda *given: SimpleNamespace(studies=[]),
            "harness.evidence.published:known_name": None,
        },
        {"system": ("una@bert-base-uncased", ["known_name.name"])},
    ),
    "results": Way(
        {"folder": "a"},
        {
            "sentbench.numbers:folder_of": lambda value, of: Path(value),
            "harness.evidence.store:read_results": None,
        },
        {"folder": ("b", ["folder_of.value"])},
    ),
    "verify": Way(
        {"table": "a", "row": "b", "column": "c"},
        {"harness.report.assembly.tables:judged_in": None},
        {name: ("other", [f"judged_in.{name}"]) for name in ("table", "row", "column")},
    ),
    "describe": Way({"judged": None}, {}, {"judged": (None, [])}),
}
WORKED = {
    ("evaluate", "averages"): "test_encoders.py: adds rows",
    ("compare", "first"): "see the two models above",
    ("compare", "second"): "see the two models above",
    ("describe", "judged"): "the only argument: test_numbers.py",
}
"""Keywords without a parameter to record -> the test that has them."""
READ = {"tasks_named.names": ["STSB", "sts"], "own_pairs_task.pairs": Path("b.csv"), "folder_of.value": "b"}
"""Values that arrive in another form."""
KEYWORDS = [
    (name, keyword)
    for name in sentbench.__all__
    if inspect.isfunction(getattr(sentbench, name))
    for keyword in inspect.signature(getattr(sentbench, name)).parameters
]


@pytest.mark.parametrize(("function", "keyword"), KEYWORDS)
def test_a_keyword_arrives_at_every_call(
    function: str, keyword: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A new keyword without a row fails here."""
    way = WAYS[function]
    value, places = way.rows[keyword]
    assert bool(places) is ((function, keyword) not in WORKED)

    def calls(**given: Any) -> Calls:
        with monkeypatch.context() as patch:
            seen = Calls(patch)
            for target, answer in way.stubs.items():
                seen.replace(target, answer)
            with suppress(Reached):
                getattr(sentbench, function)(**{**way.given, **given})
            return seen

    for place in places:
        arrives = READ.get(place, value)
        values = calls(**{keyword: value}).values(place)
        assert values
        assert all(found == arrives for found in values), values
        if place.startswith(("encoded_by.", "load.")) and function == "compare":
            assert len(values) == 2
        assert all(found != arrives for found in calls().values(place))


TEXTS = [
    ("load", {"folder": "there"}, "folder"),
    ("load", {"folder": "."}, "pooling"),
    ("load", {"folder": "."}, "device"),
    ("evaluate", {"model": Recording(0)}, "tasks"),
    ("evaluate", {"model": Recording(0)}, "text"),
    ("evaluate", {"model": Recording(0)}, "include"),
    ("pairs", {"source": PAIRS}, "name"),
    ("pairs", {}, "source"),
    ("compare", {"first": Recording(0), "second": Recording(1)}, "tasks"),
    ("compare", {"first": Recording(0), "second": Recording(1)}, "text"),
    ("compare", {"first": Recording(0), "second": Recording(1)}, "include"),
    ("compare", {"first": Recording(0), "second": Recording(1)}, "pooling"),
    ("compare", {"first": Recording(0), "second": Recording(1)}, "names"),
    ("published", {}, "table"),
    ("evidence", {}, "system"),
    ("results", {}, "folder"),
]


@pytest.mark.parametrize(("function", "given", "keyword"), TEXTS)
def test_an_empty_text_is_not_a_missing_one(function: str, given: Any, keyword: str) -> None:
    words = {"tasks": "^no tasks", "include": "^'' is not a path", "source": "the name of a file of pairs"}
    with pytest.raises(InputError, match=words.get(keyword, rf"\b{keyword}\b.*''|''.*\b{keyword}\b")):
        getattr(sentbench, function)(**{**given, keyword: ""})


@pytest.mark.parametrize(
    "option",
    [
        {"tasks": "STSB"},
        {"text": "raw"},
        {"names": ("a", "b")},
        {"include": "a"},
        {"batch_size": 7},
        {"pooling": "cls"},
        {"progress": True},
    ],
)
def test_results_take_no_option_of_models(option: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sentbench.comparison.recorded", lambda side: side)
    with pytest.raises(InputError, match=f"{next(iter(option))} is .*, which is for models; both sides are"):
        sentbench.compare("a", "b", **option)


def test_a_pooling_without_a_folder_is_refused(own: Any) -> None:
    with pytest.raises(InputError, match="pooling is 'cls', which is for folders; neither model is one"):
        sentbench.compare(len, max, [own], pooling="cls")
