"""Every task that is declared with its suite and sources, and tasks of included folders and modules."""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from harness import paths
from harness.errors import InputError
from harness.tasks import declared, registry
from harness.tasks.interface import Declaration
from harness.tasks.own_pairs import is_own_pairs
from harness.tasks.registry import (
    SELECTION,
    SUITES,
    TASKS,
    build_tasks,
    declaring_modules,
    members,
    reread,
    sources_of,
    tasks_named,
)

YEARS = ("STS12", "STS13", "STS14", "STS15", "STS16")
DECLARED: dict[str, tuple[str | None, str, str, str]] = {
    # task: suite, source in each text form from the mirror, module
    "batch-cosines": (None, "wiki1m", "wiki1m", "geometry"),
    "geometry-dev": ("geometry", "stsb-senteval", "stsb-raw", "geometry"),
    "geometry-test": ("geometry", "stsb-senteval", "stsb-raw", "geometry"),
    "geometry-whole": (None, "stsb-senteval", "stsb-raw", "geometry"),
    "SICK-E": ("nli", "sickr", "sickr", "nli"),
    "SNLI": ("nli", "snli", "snli", "nli"),
    "AskUbuntu": ("reranking", "askubuntu", "askubuntu", "reranking"),
    "SciDocs": ("reranking", "scidocs", "scidocs", "reranking"),
    "TRECQA": ("reranking", "trecqa", "trecqa", "reranking"),
    **{year: ("sts", year.lower(), f"{year.lower()}-raw", "sts") for year in YEARS},
    **{f"{year}-hard-length": (None, year.lower(), f"{year.lower()}-raw", "sts") for year in YEARS},
    "STSB": ("sts", "stsb-senteval", "stsb-raw", "sts"),
    "SICKR": ("sts", "sickr", "sickr", "sts"),
    "SICKR-mteb": (None, "sickr-raw", "sickr-raw", "sts"),
    "STSB-dev": (None, "stsb-senteval", "stsb-raw", "sts"),
    **{f"{year}-part": ("sts-part", "stsb-senteval", "stsb", "sts") for year in YEARS},
    **{f"{year}-part-hard-length": (None, "stsb-senteval", "stsb", "sts") for year in YEARS},
    "MR": ("transfer", "mr", "mr", "transfer"),
    "CR": ("transfer", "cr", "cr", "transfer"),
    "SUBJ": ("transfer", "subj", "subj", "transfer"),
    "MPQA": ("transfer", "mpqa", "mpqa", "transfer"),
    "SST": ("transfer", "sst", "sst", "transfer"),
    "TREC": ("transfer", "trec", "trec", "transfer"),
    "MRPC": ("transfer", "mrpc", "mrpc", "transfer"),
}


def test_every_task_has_its_suite_its_sources_and_its_module() -> None:
    actual = {
        name: (
            task.suite,
            task.source_for("senteval", ["mirror"]),
            task.source_for("raw", ["mirror"]),
            registry.MODULES[name].removeprefix(f"{declared.__name__}."),
        )
        for name, task in TASKS.items()
    }
    assert actual == DECLARED
    assert {name for name, task in TASKS.items() if task.arguments} == {
        name for name in DECLARED if name.endswith("-hard-length")
    }
    assert SELECTION == ("STSB-dev",)


def test_suites_have_their_tasks_in_the_order_of_their_declaration() -> None:
    assert {
        "geometry": ("geometry-dev", "geometry-test"),
        "nli": ("SICK-E", "SNLI"),
        "reranking": ("AskUbuntu", "SciDocs", "TRECQA"),
        "sts": (*YEARS, "STSB", "SICKR"),
        "sts-part": tuple(f"{year}-part" for year in YEARS),
        "transfer": ("MR", "CR", "SUBJ", "MPQA", "SST", "TREC", "MRPC"),
    } == SUITES
    assert members("nli") == ("SICK-E", "SNLI")
    assert members("SNLI") == ("SNLI",)
    assert declaring_modules(["sts", "STSB", "nli"]) == [
        "harness.tasks.declared.nli",
        "harness.tasks.declared.sts",
    ]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["STSX"], r"task 'STSX' is not known, expected .* or a suite: geometry, nli, .*did you mean STS"),
        (["MR:positive=4"], "task 'MR:positive=4': MR takes no arguments"),
        (["sts-prat"], r"task 'sts-prat' is not known, .*did you mean sts-part"),
    ],
)
def test_a_name_of_no_task_is_refused(names: list[str], words: str) -> None:
    for read in (build_tasks, sources_of):
        with pytest.raises(InputError, match=words):
            read(names, text="raw")
    with pytest.raises(InputError, match=r"text form 'senteva' is not known, expected senteval or raw \(did"):
        build_tasks(["MR"], text="senteva")
    with pytest.raises(InputError, match="no tasks; see `sentbench list tasks`"):
        tasks_named([], text="raw")
    assert [task.name for task in tasks_named(["nli"], text="raw")] == ["SICK-E", "SNLI"]


@pytest.fixture
def included(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A folder with pairs; the tasks are read again, and once more at the end."""
    (tmp_path / "pairs").mkdir()
    monkeypatch.setattr(paths, "FOLDERS", [tmp_path])
    yield tmp_path
    monkeypatch.undo()
    reread()
    assert "news" not in TASKS


def test_pairs_of_a_folder_that_was_included_later_are_tasks_by_their_names(included: Path) -> None:
    for name in ("news.tsv", "_draft.tsv"):
        (included / "pairs" / name).write_text("One\tTwo\t1\nThree\tFour\t2\n")
    assert "news" not in TASKS
    before = dict(SUITES)
    reread()
    assert before == SUITES
    assert {name for name in TASKS if name not in DECLARED} == {"news"}
    task: Any = TASKS["news"]
    assert (task.suite, task.arguments, registry.MODULES["news"]) == (
        None,
        False,
        "harness.tasks.declared.own",
    )
    (built,) = build_tasks(["news"], text="senteval")
    assert is_own_pairs(built)
    pairs: Any = built.read(included / "pairs")  # type: ignore[attr-defined]
    assert [pair[:3] for pair in pairs["all"]] == [("One", "Two", 1.0), ("Three", "Four", 2.0)]


def included_module(tasks: Any) -> ModuleType:
    module = ModuleType("further_tasks")
    if tasks is not None:
        module.TASKS = tasks  # type: ignore[attr-defined]
    return module


@pytest.mark.parametrize(
    ("tasks", "words"),
    [
        (None, "missing TASKS, the list of its declarations"),
        ({"a": 1}, "TASKS is {'a': 1}, expected a list of Declaration"),
        ([1], r"TASKS is \[1\], expected a list of Declaration"),
        ((), None),
        ([Declaration("own-task", "mr", lambda text, source: None)], None),  # type: ignore[arg-type, return-value]
    ],
)
def test_an_included_module_declares_its_tasks(
    tasks: Any, words: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "TASK_MODULES", ["further_tasks"])
    found = registry.import_module
    monkeypatch.setattr(
        registry, "import_module", lambda name: included_module(tasks) if "further" in name else found(name)
    )
    if words is None:
        names, modules = registry.read_tasks()
        assert names.keys() - DECLARED.keys() == {task.name for task in tasks}
        assert {modules[task.name] for task in tasks} <= {"further_tasks"}
    else:
        with pytest.raises(InputError, match=f"^further_tasks: {words}"):
            registry.read_tasks()


@pytest.mark.parametrize("error", [RuntimeError("broken"), SystemExit(0), InputError("one line")])
def test_an_error_of_a_module_is_told_as_its_owner_needs_it(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An included module: one line with its place. One of this project: the error itself."""

    def fail(name: str) -> Any:
        raise error

    monkeypatch.setattr(registry, "import_module", fail)
    with pytest.raises(type(error)):
        registry._tasks_of("harness.tasks.declared.nli")
    monkeypatch.setattr(registry, "TASK_MODULES", ["further_tasks"])
    line = "^one line$" if isinstance(error, InputError) else f"^further_tasks: {type(error).__name__}: "
    with pytest.raises(InputError, match=line):
        registry._tasks_of("further_tasks")
