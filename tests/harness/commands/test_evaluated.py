"""`sentbench evaluate`: what is checked before any work, and the notes below the scores."""

import argparse
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.commands import evaluate, vectors
from harness.data.download import NotFetched
from harness.data.sts import ScoredPair
from harness.errors import InputError
from harness.process import DEVICE
from harness.report.assembly.pairs import FEWEST_PAIRS
from harness.report.formats.scores import ScoreLine
from harness.tasks.sts import StsTask
from tests.support.recording import Calls


def arguments(**changes: Any) -> argparse.Namespace:
    usual = {"tasks": None, "pairs": [], "text": "senteval", "pooling": None, "device": DEVICE["default"]}
    usual |= {"batch_size": None, "interval": False, "out": [], "json": False, "arithmetic": None}
    return argparse.Namespace(**{**usual, **changes})


def test_a_folder_of_the_name_bm25_is_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert evaluate.folders_of(["bm25"]) == {"bm25": None}
    Path("bm25").mkdir()
    Path("bm25/config.json").touch()
    assert evaluate.folders_of(["bm25"]) == {"bm25": Path("bm25")}
    with pytest.raises(InputError, match="bm25: named twice"):
        evaluate.folders_of(["bm25", "bm25"])


@pytest.mark.parametrize(("folders", "checked"), [(1, 0), (2, 2), (3, 3)])
def test_two_models_are_opened_before_a_text_is_encoded(
    folders: int, checked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the pooling of the command; names of tasks and data come first, and all models are scored."""
    calls, task = Calls(monkeypatch), SimpleNamespace(name="own", source="stsb", texts=list)
    order: list[str] = []
    monkeypatch.setattr("harness.tasks.registry.tasks_named", lambda names, *, text: [task])
    for name, target in (
        ("names", "harness.commands.evaluate:check_names"),
        ("data", "harness.commands.vectors:fetch_data"),
        ("open", "harness.models.read:read_encoder"),
        ("score", "harness.commands.evaluate:scores_of"),
    ):
        calls.replace(target, lambda *given, name=name, **options: order.append(name) or [])
    monkeypatch.setattr(evaluate, "note_of", lambda tasks, arguments: "")
    named: Any = {str(number): Path(str(number)) for number in range(folders)}
    evaluated, _ = evaluate.evaluated(arguments(pooling="mean"), named)
    assert order == ["names", "data", *["open"] * checked, *["score"] * folders]
    assert calls.values("read_encoder.pooling") == ["mean"] * checked
    assert [made.model for made in evaluated] == [*named]


def test_outputs_are_checked_before_the_work_and_an_ending_may_be_in_capitals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str], refused: Callable[..., str]
) -> None:
    monkeypatch.chdir(tmp_path)
    done: list[int] = []
    line = evaluate.TEXT_NOTES["raw"]
    monkeypatch.setattr(evaluate, "folders_of", lambda models: {})
    monkeypatch.setattr(evaluate, "evaluated", lambda arguments, folders: (done.append(1) or [], line))
    assert "other.doc" in refused("evaluate", "there", "--out", "a.csv", "--out", "other.doc")
    assert not done
    printed("evaluate", "there", "--out", "A.JSON")
    assert Path("A.JSON").read_text().startswith(("{", "["))
    for size, taken in ((1, True), (0, False), (-1, False)):
        if taken:
            printed("evaluate", "there", "--batch-size", str(size))
        else:
            assert "expected an integer from 1" in refused("evaluate", "there", "--batch-size", str(size))


def test_own_pairs_are_a_suite_with_an_average_and_every_task_moves_the_bar(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scores = [
        ScoreLine(name, "spearman", "all", value, 9) for name, value in (("mine", 0.25), ("yours", 0.75))
    ]
    options: dict[str, Any] = {}
    moved: list[int] = []

    @contextmanager
    def opened(folder: Path, tasks: Any, **given: Any) -> Any:
        options.update(given)
        yield "encode"

    @contextmanager
    def bar(total: int, unit: str) -> Any:
        options["total"] = total
        yield SimpleNamespace(update=lambda: moved.append(1))

    def score_lines(tasks: Any, encode: str, *, intervals: bool, kept: Any, ended: Any) -> list[ScoreLine]:
        assert (encode, intervals) == ("encode", True)
        for task in tasks:
            ended(task)
        return scores

    monkeypatch.setattr(vectors, "vectors_of", opened)
    monkeypatch.setattr(evaluate, "progress_bar", bar)
    monkeypatch.setattr("harness.report.assembly.pairs.score_lines", score_lines)
    monkeypatch.setattr("harness.report.assembly.pairs.with_intervals", lambda tasks: tasks)
    tasks: Any = [SimpleNamespace(name="mine"), SimpleNamespace(name="yours")]
    given = arguments(interval=True, pooling="mean", device="cpu", batch_size=3)
    lines = evaluate.scores_of(Path("there"), tasks, ["mine", "yours"], given)
    assert options == {"pooling": "mean", "device": "cpu", "batch_size": 3, "total": 2}
    assert len(moved) == 2
    assert lines[:2] == scores
    assert [(line.value, line.metric) for line in lines[2:]] == [(0.5, "spearman")]


@pytest.mark.parametrize(
    ("pairs", "interval", "note"),
    [
        (FEWEST_PAIRS - 1, True, f"raw text, as MTEB has it; no interval over fewer than {FEWEST_PAIRS}"),
        (FEWEST_PAIRS - 1, False, "raw text, as MTEB has it"),
        (FEWEST_PAIRS, True, "raw text, as MTEB has it"),
    ],
)
def test_a_note_names_the_text_and_the_tasks_without_an_interval(
    pairs: int, interval: bool, note: str
) -> None:
    few = [ScoredPair("a", "b", float(number)) for number in range(pairs)]
    task = StsTask("Few", "stsb", lambda folder: {"all": few}, folder=Path())
    shown = evaluate.note_of([task], arguments(text="raw", interval=interval))
    assert shown == note + (f" pairs: Few ({pairs} pairs)" if interval and pairs < FEWEST_PAIRS else "")


@pytest.mark.parametrize(
    ("names", "own"),
    [(["STSB"], True), (["STSB", "sts-part"], True), (["STS12"], False), (["STSB", "STS12"], False)],
)
def test_a_missing_source_names_the_tasks_that_need_no_network_unless_they_were_asked(
    names: list[str], own: bool
) -> None:
    with pytest.raises(NotFetched) as caught, vectors.offline_first(names):
        raise NotFetched("source a: not there")
    expected = "" if own else "the tasks STSB,sts-part need neither hub nor mirror; "
    assert str(caught.value) == f"{expected}source a: not there"


@pytest.mark.parametrize(
    "changes",
    [
        {"interval": True},
        {"pooling": "cls"},
        {"arithmetic": "native"},
        {"pairs": [Path("a.tsv")]},
        {"batch_size": 1},
        {"device": "cpu"},
    ],
)
def test_an_option_of_encoders_is_refused_with_bm25(changes: dict[str, Any]) -> None:
    option = next(iter(changes)).replace("_", "-")
    with pytest.raises(InputError, match=f"bm25 with --{option}: only encoders take this option"):
        evaluate.bm25_tasks(arguments(**changes))
    with pytest.raises(InputError, match=r"bm25: .* is not a re-ranking task"):
        evaluate.bm25_tasks(arguments())
