"""First results of a launch: a leaderboard of the first seeds appears early and is not recorded."""

import time
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from harness.cli import main
from harness.commands import launch
from harness.launch.progress import Progress
from harness.launch.scheduler import FirstLook
from harness.plan.entries import read_params
from tests.harness.launch.toy_pipeline import ROOT, RUNS, repro, runs, stage, write_pipeline

SYSTEMS = ("slow", "quick")
KEYS = [f"{system}__tiny__s{seed}" for system in SYSTEMS for seed in range(3)]
FIRST = frozenset(f"evaluate@{key}" for key in KEYS if key.endswith("s0"))


def each(kind: str, need: str, seconds: float) -> dict[str, Any]:
    line = f"echo {kind}@${{item}} >> {RUNS} && sleep {seconds} && cat {need} > {kind}-${{item}}.txt"
    return {"foreach": KEYS, "do": {"cmd": line, "deps": [need], "outs": [f"{kind}-${{item}}.txt"]}}


def toy(folder: Path, seconds: float = 0.0) -> Path:
    """Writes a pipeline that trains and evaluates three seeds of two systems, then reports."""
    stages = {
        "train": each("train", "source.txt", seconds),
        "evaluate": each("evaluate", "train-${item}.txt", seconds),
        "report": stage("report", tuple(f"evaluate-{key}.txt" for key in KEYS)),
    }
    return write_pipeline(folder, stages)


def shows(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """Makes a launch show what a shell prints after the first seeds."""
    log = Path(".cache/launch/first.log")
    monkeypatch.setattr(launch, "read_params", lambda: SimpleNamespace(runs={}, plan=["toy"]))
    monkeypatch.setattr(
        launch, "first_look", lambda pipeline, params: FirstLook(FIRST, ["sh", "-c", command], log)
    )


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_all_first_seeds_are_evaluated_before_other_seeds_and_dvc_lock_is_that_of_a_serial_repro(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    serial, launched = toy(tmp_path / "serial"), toy(tmp_path / "launched", 0.2)
    (serial / "dvc.yaml").write_text((launched / "dvc.yaml").read_text())
    repro(serial)
    monkeypatch.chdir(launched)
    shows(monkeypatch, f"echo look >> {RUNS}; echo a leaderboard")
    said: list[str] = []
    monkeypatch.setattr(Progress, "say", lambda progress, text: said.append(text))
    assert main(["launch", "--jobs", str(jobs)]) == 0
    began = runs(launched)
    assert set(began[:2]) == {"train@slow__tiny__s0", "train@quick__tiny__s0"}
    assert set([name for name in began if name.startswith("evaluate")][:2]) == FIRST
    assert began.index("look") > max(map(began.index, FIRST))
    assert set(began[2:4]) == FIRST or jobs == 2  # a second worker may be free for another seed
    assert began[-1] == "report"
    assert (launched / "dvc.lock").read_bytes() == (serial / "dvc.lock").read_bytes()
    assert repro(launched) == []
    assert main(["launch"]) == 0
    assert runs(launched).count("look") == 1
    assert said == ["a leaderboard"]


def test_a_first_look_that_fails_is_one_line_and_the_launch_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    monkeypatch.chdir(toy(tmp_path / "toy", 0.2))
    shows(monkeypatch, "echo no such table >&2; exit 3")
    assert printed("launch", "--jobs", "2") == "no first results: no such table\n"
    assert runs(Path())[-1] == "report"


def test_a_first_look_that_hangs_ends_with_the_launch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(toy(tmp_path / "toy"))
    shows(monkeypatch, "echo $$ > process; exec sleep 600")
    started = time.monotonic()
    assert main(["launch", "--jobs", "2"]) == 0
    assert time.monotonic() - started < 120
    assert not Path("/proc", Path("process").read_text().strip()).exists()


def test_it_is_not_due_while_a_first_seed_is_missing_or_where_nothing_was_run(tmp_path: Path) -> None:
    look = FirstLook(FIRST, ["touch", str(tmp_path / "seen")], tmp_path / "log")
    for state in ("unchanged", "failed"):
        assert look.look(dict.fromkeys(FIRST, state)) == ""
    assert look.look(dict.fromkeys(sorted(FIRST)[:1], "done")) == ""
    assert not (tmp_path / "log").exists()


def test_the_first_look_is_at_the_lowest_seed_of_each_system_on_each_backbone() -> None:
    with chdir(ROOT):
        params = read_params()
    order = {f"{kind}@{key}": set[str]() for key in params.runs for kind in ("train", "evaluate")}
    found = launch.first_look(SimpleNamespace(order=order), params)  # type: ignore[arg-type]
    assert found is not None
    assert found.stages == {f"evaluate@{key}" for key in params.runs if key.endswith("__s0")}
    assert found.command[2:5] == ["harness.cli", "report", "--first"]
    single = {stage: needs for stage, needs in order.items() if stage.endswith("__s0")}
    assert launch.first_look(SimpleNamespace(order=single), params) is None  # type: ignore[arg-type]


def test_the_first_leaderboard_is_marked_as_partial_and_leaves_reports_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    monkeypatch.chdir(tmp_path)
    read = ("docs", "leaderboards", "recipes", "methods", "harness", "reports")
    for name in (*read, "README.md", "params.yaml"):
        (tmp_path / name).symlink_to(ROOT / name)
    before = {path: path.stat().st_mtime_ns for path in (ROOT / "reports").rglob("*")}
    keys = [key for key in yaml.safe_load(Path("params.yaml").read_text())["runs"] if key.endswith("__s0")]
    told = printed("report", "--first", *keys)
    assert told.startswith("Small plan: regression table")
    page = tmp_path / ".cache/first/index.html"
    assert told.endswith(f"first results: 1 of 3 seeds, 29 of 67 runs; page: {page}\n")
    text = page.read_text()
    assert "<h1>sentbench: first results, 1 of 3 seeds, 29 of 67 runs</h1>" in text
    links = {link.split('"')[0] for link in text.split('href="')[1:]}
    files = {link for link in links if link and not link.startswith(("#", "data:", "http"))}
    assert files
    assert [name for name in files if not (page.parent / name.split("#")[0]).is_file()] == []
    assert {path: path.stat().st_mtime_ns for path in (ROOT / "reports").rglob("*")} == before
