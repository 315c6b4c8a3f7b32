"""The registry of tasks: names, suites, and every unique text encoded once."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from harness.data.sources import SOURCES
from harness.errors import InputError
from harness.plan.identity import code_base
from harness.tasks import declared
from harness.tasks.evaluation import evaluate_tasks, unique_texts
from harness.tasks.registry import SUITES, TASKS, build_tasks, read_tasks, sources_of
from harness.tasks.text_forms import stsb_source
from tests.harness.tasks.test_sts import task_of

THRESHOLDS = ":positive=4:negative=2:longer=5:closer=2"
ORDER = ["embedded", "mirror", "hub"]


def test_every_file_of_declarations_is_found_and_no_name_is_declared_twice() -> None:
    files = sorted(
        path.stem for path in Path(declared.__file__).parent.glob("*.py") if path.stem != "__init__"
    )
    tasks = [task.name for file in files for task in import_module(f"{declared.__name__}.{file}").TASKS]
    assert tasks == list(TASKS)
    assert len(TASKS) == len(set(tasks)) >= 39


def test_a_name_that_is_declared_twice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.tasks.declared.nli.TASKS", (TASKS["MR"], TASKS["MR"]))
    with pytest.raises(InputError, match=r"declared\.nli: task 'MR' exists; rename it"):
        read_tasks()


@pytest.mark.parametrize("form", ["senteval", "raw"])
def test_tasks_have_the_name_they_are_asked_by_and_known_sources(form: str) -> None:
    names = [name + THRESHOLDS if name.endswith("hard-length") else name for name in TASKS]
    for task, name in zip(build_tasks(names, text=form, providers=ORDER), names, strict=True):
        assert task.name == name
        assert task.source in SOURCES
        assert [task.source] == sources_of([name], text=form, providers=ORDER)


def test_suites_follow_the_field_and_expand_in_order_and_once() -> None:
    assert SUITES["sts"] == ("STS12", "STS13", "STS14", "STS15", "STS16", "STSB", "SICKR")
    assert SUITES["transfer"] == ("MR", "CR", "SUBJ", "MPQA", "SST", "TREC", "MRPC")
    assert SUITES["nli"] == ("SICK-E", "SNLI")
    assert SUITES["geometry"] == ("geometry-dev", "geometry-test")
    names = [task.name for task in build_tasks(["STSB", "sts"], text="raw", providers=["embedded"])]
    assert names == ["STSB", "STS12", "STS13", "STS14", "STS15", "STS16", "SICKR"]


def test_sources_follow_text_form_and_providers() -> None:
    names = ["STSB", "STS12", "STS12-part", "geometry-dev"]
    assert sources_of(names, text="senteval", providers=["mirror"]) == ["sts12", "stsb-senteval"]
    assert sources_of(names, text="senteval", providers=["embedded"]) == ["sts12", "stsb"]
    assert sources_of(names, text="raw", providers=["mirror"]) == ["sts12-raw", "stsb", "stsb-raw"]


SINGLE = task_of(one=[("a", "b", 1.0), ("a", "c", 2.0), ("b", "c", 4.0)])
TWO = task_of(two=[("b", "a", 5.0), ("d", "a", 3.0), ("d", "b", 2.0)])


def letters(texts: Sequence[str]) -> np.ndarray:
    return np.stack([np.random.default_rng(ord(text)).normal(size=4) for text in texts]).astype(np.float32)


def test_every_unique_text_is_encoded_once_for_all_tasks() -> None:
    asked: list[list[str]] = []

    def encode(texts: Sequence[str]) -> np.ndarray:
        asked.append(list(texts))
        return letters(texts)

    together = evaluate_tasks([SINGLE, TWO], encode)
    assert asked == [["a", "b", "c", "d"]] == [unique_texts([SINGLE, TWO])]
    assert together == [*SINGLE.evaluate(letters), *TWO.evaluate(letters)]


def test_evaluating_together_keeps_double_precision() -> None:
    """Cosines differ in the ninth digit only; in single precision they would be equal and refused."""
    vectors = {"a": [1.0, 0.5], "b": [1.0, 0.5 + 1e-9], "c": [1.0, 0.5 + 3e-9], "d": [0.0, 1.0]}
    task = task_of(fine=[("d", "a", 1.0), ("d", "b", 2.0), ("d", "c", 3.0)])
    scores = evaluate_tasks([task], lambda texts: np.array([vectors[text] for text in texts]))
    assert scores[0].value == pytest.approx(1.0)


def test_selection_depends_on_sts_b_and_its_geometry() -> None:
    """A line in another task, or in the list of all tasks, leaves every training run as it is."""
    actual = code_base().closure(["harness.tasks.selection"])
    tasks = {path.stem for path in actual if path.parent.name == "tasks"} - {"__init__"}
    assert tasks == {"selection", "evaluation", "interface", "sts", "sts_sets", "geometry", "text_forms"}


@pytest.mark.parametrize(
    ("providers", "senteval", "raw"),
    [
        (["embedded", "mirror", "hub"], "stsb", "stsb"),
        (["mirror", "embedded"], "stsb-senteval", "stsb-raw"),
        (["system", "hub"], "stsb-senteval", "stsb-raw"),
        (["system"], "stsb-senteval", "stsb"),
    ],
)
def test_stsb_comes_from_the_first_provider_that_has_it_in_either_form(
    providers: list[str], senteval: str, raw: str
) -> None:
    """Without a provider of either, the message names the files of SentEval, or the published sentences."""
    assert [stsb_source(text, providers) for text in ("senteval", "raw")] == [senteval, raw]
