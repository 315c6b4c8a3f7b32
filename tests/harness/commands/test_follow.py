"""What a training wrote reaches each tool: every entry once, while it runs too, and nothing else changes."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.cli import main
from harness.commands import follow
from harness.commands.follow import entries_of, read_entries
from harness.paths import RUN_LOG
from harness.plan.entries import read_params

ROOT = Path(__file__).parents[3]
KEY = "simcse-small__words-50d__s0"
ENTRIES: list[dict[str, Any]] = [
    {"step": 0, "evaluation": True, "score": 0.25},
    {"step": 0, "loss": 3.0, "learning_rate": 0.5},
    {"step": 1, "loss": 2.0, "learning_rate": 0.25},
    {"step": 2, "evaluation": True, "score": 0.5},
]
SHOWN = [
    (0, {"dev/score": 0.25}),
    (0, {"train/loss": 3.0, "train/learning_rate": 0.5}),
    (1, {"train/loss": 2.0, "train/learning_rate": 0.25}),
    (2, {"dev/score": 0.5}),
]


def write(path: Path, entries: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))


@pytest.fixture
def project(checkout: Path) -> Path:
    """The committed plan, with a finished training of one run."""
    for name in ("params.yaml", "dvc.yaml"):
        shutil.copy(ROOT / name, checkout)
    write(checkout / "artefacts" / KEY / RUN_LOG, ENTRIES)
    return checkout


def test_a_line_that_is_not_whole_is_left_for_later(tmp_path: Path) -> None:
    (tmp_path / "log").write_text('{"step": 1}\n{"step": ')
    assert read_entries(tmp_path / "log") == [{"step": 1}]
    assert read_entries(tmp_path / "moved") == []


def test_a_live_training_is_followed_through_a_kill_until_its_artefact_is_there(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The killed training had written three entries; the one that goes on repeats the last of them."""
    running, finished = project / "running.jsonl", project / "artefacts" / KEY / RUN_LOG
    finished.unlink()
    write(running, ENTRIES[:3])
    moves = iter(
        [
            lambda: write(running, ENTRIES[:2]),
            lambda: write(running, ENTRIES[:3]),
            lambda: write(finished, ENTRIES),
        ]
    )
    monkeypatch.setattr(follow, "running_log", lambda params, key: running)
    monkeypatch.setattr(follow.time, "sleep", lambda seconds: next(moves)())
    assert list(entries_of(read_params(), KEY, live=True)) == SHOWN


def test_every_entry_is_shown_and_counted(
    project: Path, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    shown: list[Any] = []
    run = SimpleNamespace(
        log=lambda numbers, step: shown.append((step, numbers)), finish=lambda: shown.append("finished")
    )
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=lambda **options: run))
    assert printed("follow", KEY, "--to", "wandb", "--out", "board") == f"{KEY}: 4 entries to board/{KEY}\n"
    assert shown == [*SHOWN, "finished"]


def test_tensorboard_reads_the_numbers_back(project: Path) -> None:
    pytest.importorskip("tensorboard", reason="an optional tool")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    assert main(["follow", KEY, "--to", "tensorboard", "--out", "board"]) == 0
    found = EventAccumulator(str(project / "board" / KEY))
    found.Reload()
    assert [(one.step, one.value) for one in found.Scalars("train/loss")] == [(0, 3.0), (1, 2.0)]
    assert [(one.step, one.value) for one in found.Scalars("dev/score")] == [(0, 0.25), (2, 0.5)]


def test_dvclive_writes_its_files_and_leaves_the_pipeline_alone(project: Path) -> None:
    pytest.importorskip("dvclive", reason="an optional tool")
    before = Path("dvc.yaml").read_bytes()
    assert main(["follow", KEY, "--to", "dvclive", "--out", "live"]) == 0
    table = (project / "live" / KEY / "plots/metrics/train/loss.tsv").read_text().split()
    assert table == ["step", "loss", "0", "3.0", "1", "2.0"]
    assert json.loads((project / "live" / KEY / "metrics.json").read_text())["dev"]["score"] == 0.5
    assert Path("dvc.yaml").read_bytes() == before
