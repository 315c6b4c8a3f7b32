"""What runs again after a change of code or of declarations, in a copy of a reproduced checkout."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.paths import INSTALLED as ROOT

MADE = ("data", "backbones", "corpora", "teachers", "artefacts", "embeddings", ".entries", ".fingerprints")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all((ROOT / name).is_dir() for name in (*MADE, ".git")), reason="needs `make reproduce` before it"
    ),
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone with the working tree's files and the outputs of `make reproduce`."""
    folder = tmp_path_factory.mktemp("copy") / "sentbench"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            shutil.copy2(ROOT / name, folder / name)
    for name in MADE:
        shutil.rmtree(folder / name, ignore_errors=True)
        subprocess.run(["cp", "-a", str(ROOT / name), str(folder / name)], check=True)
    shutil.copytree(ROOT / ".dvc", folder / ".dvc", dirs_exist_ok=True, symlinks=True)
    return folder


def would_run(folder: Path) -> dict[str, int] | str:
    """Returns the number of stages of each kind that a launch of the first seeds would run, without those
    that take a second; for a refused launch its line.
    """
    command = [sys.executable, "-m", "harness.cli", "launch", "--first-seeds", "--dry-run"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode == 2:
        return done.stderr
    assert done.returncode == 0, done.stderr
    (counts,) = re.findall(r"stages would run: (.*)", done.stdout)
    kinds = {kind: int(number) for number, kind in re.findall(r"(\d+) ([\w-]+)", counts)}
    return {kind: number for kind, number in kinds.items() if kind not in ("entries", "fingerprint")}


def replaced(file: str, old: str, new: str) -> Callable[[Path], None]:
    """Returns a change of a file's first occurrence of a text."""

    def change(folder: Path) -> None:
        text = (folder / file).read_text(encoding="utf-8")
        assert old in text, f"{file}: no {old}"
        (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")

    return change


def planned_again(change: Callable[[Path], None]) -> Callable[[Path], None]:
    """Returns a change after which the plan is written again."""

    def both(folder: Path) -> None:
        change(folder)
        command = [sys.executable, "-m", "harness.cli", "plan", "small"]
        subprocess.run(command, cwd=folder, capture_output=True, check=True)

    return both


RUNS = {"train": 79, "evaluate": 79, "report": 1}
SEEDS = 3
"""First seeds of a system of the small plan."""
TEMPERATURE = replaced("recipes/small.yaml", "temperature: 0.05", "temperature: 0.06")
CHANGES: dict[str, tuple[Callable[[Path], None], dict[str, int] | set[str] | str]] = {
    "nothing": (lambda folder: None, {}),
    "a comment": (replaced("harness/stages/train.py", "import shutil", "import shutil  # copies"), {}),
    "a docstring": (replaced("harness/stages/train.py", '"""Training', '"""The training'), {}),
    "how progress is shown": (replaced("harness/commands/stage_of_run.py", "STS-B dev", "dev"), {}),
    "the training": (replaced("harness/stages/train.py", "seed=entry.seed)", "seed=0)"), RUNS),
    "the evaluation": (
        replaced("harness/stages/evaluate.py", "build_tasks(entry.tasks,", "build_tasks(entry.tasks[:1],"),
        {"evaluate": 79, "report": 1},
    ),
    "the arithmetic": (
        replaced("harness/process.py", '"MKL_CBWR": "COMPATIBLE"', '"MKL_CBWR": "AVX2"'),
        {"backbone": 4, "corpus": 2, "teacher": 1, **RUNS},
    ),
    "the teacher": (
        replaced("harness/stages/teacher.py", "pooling=inputs.entry.pooling", "pooling=None"),
        {"teacher", "train", "evaluate", "report"},
    ),
    "a declared task of the plan": (
        replaced("harness/tasks/declared/sts.py", "TASKS", "LISTED = 1\nTASKS"),
        {"evaluate": 79, "report": 1},
    ),
    "a declared task of no run": (
        replaced("harness/tasks/declared/nli.py", "TASKS", "LISTED = 1\nTASKS"),
        {},
    ),
    "a recipe, not planned": (TEMPERATURE, "run `sentbench plan small`"),
    "a recipe, planned": (planned_again(TEMPERATURE), {"train", "evaluate", "report"}),
    "a table": (
        replaced("leaderboards/tables/small.yaml", "title:", "# the title\ntitle:"),
        {"report": 1},
    ),
}
"""Name -> a change, and the stages that run again: their numbers, or their kinds alone. A text is part of
the line that refuses the launch."""


@pytest.mark.parametrize("name", CHANGES)
def test_what_runs_again_after_a_change(name: str, copy: Path) -> None:
    change, expected = CHANGES[name]
    before = {
        path: path.read_bytes()
        for path in (*(copy / "harness").rglob("*.py"), *(copy / "leaderboards").rglob("*.yaml"))
    }
    before |= {path: path.read_bytes() for path in (*copy.glob("recipes/*.yaml"), copy / "params.yaml")}
    try:
        change(copy)
        actual = would_run(copy)
    finally:
        for path, content in before.items():
            if path.read_bytes() != content:
                path.write_bytes(content)
    if isinstance(expected, str):
        assert isinstance(actual, str)
        assert expected in actual
    elif isinstance(expected, set):
        assert isinstance(actual, dict)
        assert {*actual} == expected
        assert actual.get("train", SEEDS) % SEEDS == 0
    else:
        assert actual == expected
