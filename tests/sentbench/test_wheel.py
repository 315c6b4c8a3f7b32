"""The wheel in an empty folder: declarations are in it, and data go to the user's cache."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest

from tests.faults.small_project import write_stsb

pytestmark = pytest.mark.thorough
ROOT = Path(__file__).parents[2]
FOLDERS = ("harness", "methods", "sentbench", "leaderboards", "recipes")
FILES = ("pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of packages that the wheel installs; built from a copy, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    (folder / "source").mkdir()
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / "source" / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, folder / "source" / name)
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(folder), "./source"]
    subprocess.run(build, cwd=folder, check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "packages")
    return folder / "packages"


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


def run(installed: Path, empty: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs python with these words in the empty folder, with the installed packages before all others."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SENTBENCH_")}
    settings = {"PYTHONPATH": str(installed), "XDG_CACHE_HOME": str(empty.parent / "cache")}
    done = subprocess.run(
        [sys.executable, *words], cwd=empty, env={**kept, **settings}, capture_output=True, text=True
    )
    assert not list(empty.iterdir()), f"{words} wrote into the current folder"
    return done


def command(installed: Path, empty: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run(installed, empty, "-m", "harness.cli", *words)


def test_the_wheel_has_every_declaration_of_the_checkout(installed: Path) -> None:
    for room in ("leaderboards", "recipes"):
        declared = {path.relative_to(ROOT) for path in (ROOT / room).rglob("*.yaml")}
        assert len(declared) > 10
        assert {path.relative_to(installed) for path in (installed / room).rglob("*.yaml")} == declared
    assert (installed / "sentbench/py.typed").is_file()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--version"], "sentbench 0."),
        (["list", "tables", "--coverage"], "una/table1"),
        (["list", "methods"], "pt-bert"),
        (["plan", "pcl/table2", "--dry-run"], "simcse"),
    ],
)
def test_commands_on_declarations_work_in_an_empty_folder(
    installed: Path, empty: Path, words: list[str], said: str
) -> None:
    done = command(installed, empty, *words)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout


CHECKOUT = """list runs|plan small|stage train x --out y|report|check|stage entries|data fetch
publish x --out y|compare a b"""


def test_commands_that_need_a_checkout_say_so_in_one_line(installed: Path, empty: Path) -> None:
    lines = [line.split() for line in re.split(r"[|\n]", CHECKOUT)]
    program = f"from harness.cli import main\nfor words in {lines!r}: print(main(words), flush=True)"
    done = run(installed, empty, "-c", program)
    assert done.stdout == "2\n" * len(lines)
    assert done.stderr.count("\n") == len(lines)
    assert done.stderr.count("run this in a checkout of the project") == len(lines)


def test_evaluating_from_python_reads_the_users_cache_and_leaves_the_folder_empty(
    installed: Path, empty: Path
) -> None:
    write_stsb(empty.parent / "cache/sentbench/data/stsb")
    program = """
        import json, sys
        import sentbench
        assert not {"torch", "pandas", "numpy"} & set(sys.modules)
        letters = lambda texts: [[text.count(letter) + 0.1 for letter in "abcdefgh"] for text in texts]
        frame = sentbench.evaluate(letters, "STSB", text="raw", intervals=True)
        answer = sentbench.verify("una/table1", "BERT-base UNA", "Avg")[0].text
        print(json.dumps([sentbench.__file__, len(frame), answer, len(sentbench.published("pcl/table2"))]))
    """
    done = run(installed, empty, "-c", textwrap.dedent(program))
    assert done.returncode == 0, done.stderr
    module_path, scores, answer, reported = json.loads(done.stdout)
    assert Path(module_path).is_relative_to(installed)
    assert (scores, answer) == (2, "authors only")
    assert reported > 100
