"""A folder outside the repository: its method, task, source, recipe and table go through every command."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.io.fingerprint import CodeBase
from tests.faults.small_project import write_project, write_source_record
from tests.harness.commands.test_try import SAME
from tests.support.plan import small_plan
from tests.support.yaml_files import dump_yaml

ROOT = Path(__file__).parents[2]
HELPER = "def half(value):\n    return value / 2\n"
METHOD = SAME.replace("import torch\n", "import torch\n\nfrom helper import half\n", 1).replace(
    "Loss(info_nce(", "Loss(half(1.0) * info_nce("
)
TASK = '''"""How well cosines tell the number of words."""

from harness.tasks.interface import Declaration, Score


class Lengths:
    name = "LENGTHS"

    def __init__(self, text, source):
        self.source = source

    def texts(self):
        return ["a man runs", "a dog"]

    def evaluate(self, encode):
        first, second = encode(self.texts())
        return [Score(self.name, "spearman", "all", float(first.shape == second.shape), 2)]


TASKS = (Declaration("LENGTHS", "own-words", Lengths),)
'''
SOURCE = """
own-words:
  kind: corpus
  text: raw
  licence: none
  confirmed: made up
  note: made up
  rows: {words.txt: 24}
  providers: {embedded: {wheel: own==1.0}}
"""
TABLE = """
key: mine
title: "A table of mine"
columns: [{key: LENGTHS, task: LENGTHS}, {key: STSB, task: STSB}]
rows: [{title: my method, run: "mycse-own@minilm-l2"}]
protocol: "None."
"""


def recipe() -> str:
    """Returns a recipe of four steps."""
    small = small_plan()["runs"]["simcse-small__words-50d__s0"]
    train = small["train"] | {"steps": 2, "batch_size": 8, "eval_every": 1, "save_every": 1}
    run = {"id": "mycse-own", "method": "mycse", "variant": "own", "backbones": ["minilm-l2"], "seeds": [0]}
    run |= {"pooling": "mean", "corpus": "own-words", "weights": "best-dev", "tasks": ["LENGTHS", "STSB"]}
    run |= {"config": {"max_length": 32}, "train": train, "arithmetic": "portable"}
    return dump_yaml({"name": "mine", "providers": ["embedded"], "runs": [run]})


@pytest.fixture
def included(tmp_path: Path) -> Path:
    files = {
        "methods/mycse.py": METHOD,
        "helper.py": HELPER,
        "tasks/lengths.py": TASK,
        "sources.yaml": SOURCE,
        "recipes/mine.yaml": recipe(),
        "tables/mine.yaml": TABLE,
    }
    for name, text in files.items():
        path = tmp_path / "own" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "own"


def sentbench(folder: Path, included: Path, *commands: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs commands in one process, the first with `--include`, until one fails."""
    program = (
        "import sys\nfrom harness.cli import main\n"
        f"for words in {list(commands)!r}:\n"
        "    code = main(words)\n"
        "    if code: sys.exit(code)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SENTBENCH_PROVIDERS": "embedded"}
    environment["SENTBENCH_INCLUDE"] = str(included)
    return subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.mark.thorough
def test_own_method_task_source_recipe_and_table_reach_the_report(tmp_path: Path, included: Path) -> None:
    project, key = write_project(tmp_path / "project"), "mycse-own__minilm-l2__s0"
    (project / "data/own-words").mkdir()
    words = (project / "data/words/words.txt").read_text()
    (project / "data/own-words/words.txt").write_text(words)
    write_source_record(project / "data/own-words")
    lists = [["list", what] for what in ("methods", "tasks", "tables", "sources")]
    run = [["stage", "train", key, "--out", f"artefacts/{key}"], ["stage", "evaluate", key]]
    done = sentbench(project, included, *lists, ["plan", "mine"], *run, ["report"])
    assert done.returncode == 0, done.stderr
    for name in ("mycse ", "LENGTHS", "A table of mine", "own-words"):
        assert name in done.stdout
    result = json.loads((project / f"reports/scores/{key}.json").read_text())
    assert {score["task"] for score in result["scores"]} == {"LENGTHS", "STSB"}
    page = (project / "reports/pages/own.html").read_text()
    assert "A table of mine" in page
    assert "100.00" in page
    assert (project / "reports/tables/mine.csv").is_file()


def test_identity_covers_a_helper_and_survives_a_move(tmp_path: Path, included: Path) -> None:
    def identity() -> str:
        names = {"methods.mycse": included / "methods/mycse", "helper": included / "helper"}
        return CodeBase(ROOT, ("harness", "methods"), own=names).fingerprint(["methods.mycse"])

    first = identity()
    (included / "helper.py").write_text(f"# a comment\n{HELPER}")
    assert identity() == first
    (included / "helper.py").write_text(HELPER.replace("2", "3"))
    assert identity() != first
    (included / "helper.py").write_text(HELPER)
    included = included.rename(tmp_path / "elsewhere")
    assert identity() == first


def test_an_entry_point_names_a_method_and_its_package_is_part_of_the_identity(tmp_path: Path) -> None:
    package = tmp_path / "site/mypackage"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "losses.py").write_text(HELPER)
    (package / "mycse.py").write_text(METHOD.replace("from helper", "from mypackage.losses"))
    info = tmp_path / "site/mypackage-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mypackage\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[sentbench.methods]\nmycse = mypackage.mycse\n")
    program = (
        "from harness.include import include_all\ninclude_all([])\n"
        "from harness.plan.identity import code_base, training_roots\n"
        "print([path.name for path in code_base().closure(training_roots('mycse'))])\n"
    )
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path / 'site'}"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "'mycse.py'" in done.stdout
    assert "'losses.py'" in done.stdout
