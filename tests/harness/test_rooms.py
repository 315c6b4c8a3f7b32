"""Allowed imports between rooms, from the syntax trees, and libraries that must not load at start."""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from harness.commands.stage import STAGES
from tests.support.yaml_files import load_yaml

ROOT = Path(__file__).parents[2]
EVERYBODY = {"harness.errors", "harness.io", "harness.paths"}
EVERYBODY |= {"methods.core.errors", "methods.core.files", "methods.core.progress"}
"""Modules that every room of the harness may import."""
BELOW_DISK = {"harness.errors", "harness.paths", "methods.core.errors", "methods.core.files"}
NO_TORCH = ("harness/data", "harness/evidence", "harness/report", "harness/launch")
AUGMENTATION = ROOT / "harness/data/augmentation"
"""Its models are torch's, in the room of the data."""


def may_import() -> dict[str, set[str]]:
    """Returns the allowed imports of each room, besides itself and EVERYBODY, from ARCHITECTURE.md."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| [^|]+ \| `([\w/]+)` \| ([^|]+) \|$", text, re.MULTILINE)
    return {room: {full_name(name) for name in re.findall(r"`([\w.]+)`", cell)} for room, cell in table}


def full_name(name: str) -> str:
    """Returns the module or package that the table names: `data` is `harness.data`."""
    return name if name.startswith(("methods", "sentbench")) else f"harness.{name}"


TABLE = may_import()
ROOMS = {room: names for room, names in TABLE.items() if room not in ("methods/NAME", "harness/commands")}
"""The rooms that may not import all: a method has its own test, and commands are above everything."""
METHOD_PACKAGES = sorted(p for p in (ROOT / "methods").iterdir() if (p / "method.py").is_file())


@cache
def imports(path: Path) -> frozenset[str]:
    """Returns the modules that a file imports anywhere, as dotted names."""
    result: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            result |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            result |= {name if is_module(name) else node.module for name in inner}
    return frozenset(result)


@cache
def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def inside(name: str, packages: set[str]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def ours(path: Path) -> set[str]:
    return {name for name in imports(path) if name.split(".")[0] in ("methods", "harness", "sentbench")}


def imported_by(room: str) -> dict[str, set[str]]:
    """Returns the imports of each file of a room from other rooms."""
    packages = {room.replace("/", ".")}
    files = sorted((ROOT / room).rglob("*.py"))
    assert len(files) >= 2
    return {
        str(path.relative_to(ROOT)): {name for name in ours(path) if not inside(name, packages)}
        for path in files
    }


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_its_allowed_rooms(room: str) -> None:
    everybody = {"methods/core": set(), "harness/io": BELOW_DISK}.get(room, EVERYBODY)
    for file, names in imported_by(room).items():
        wrong = {name for name in names if not inside(name, ROOMS[room] | everybody)}
        assert not wrong, f"{file} imports {sorted(wrong)}"


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_all_that_its_row_says(room: str) -> None:
    used = set().union(*imported_by(room).values())
    assert {name for name in ROOMS[room] if not any(inside(module, {name}) for module in used)} == set()


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports for types and inside functions included; the error names the circle."""
    packages = ("methods", "harness", "sentbench", "benchmarks", "tests")
    paths = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    assert len(paths) > 200
    graph = {}
    for path in paths:
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        graph[name] = imports(path) - {name}
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("room", ["harness", "methods", "sentbench", "benchmarks"])
def test_only_tests_import_tests(room: str) -> None:
    files = [*(ROOT / room).rglob("*.py")]
    assert len(files) >= 3
    assert [str(path) for path in files if any(name.startswith("tests") for name in imports(path))] == []


def test_every_package_has_a_row() -> None:
    packages = {f"harness/{path.parent.name}" for path in (ROOT / "harness").glob("*/__init__.py")}
    assert packages | {"sentbench", "methods/core", "methods/NAME"} == set(TABLE)
    assert len(packages) <= 12


@pytest.mark.parametrize("room", NO_TORCH)
def test_rooms_of_bytes_and_pages_do_not_know_torch(room: str) -> None:
    for path in sorted({*(ROOT / room).rglob("*.py")} - {*AUGMENTATION.rglob("*.py")}):
        assert not {name.split(".")[0] for name in imports(path)} & {"torch", "transformers", "mteb"}, path


@pytest.mark.parametrize("package", METHOD_PACKAGES, ids=lambda path: path.name)
def test_a_method_imports_core_and_itself_only(package: Path) -> None:
    assert len(METHOD_PACKAGES) >= 5
    allowed = {"methods.core", f"methods.{package.name}"}
    for path in package.rglob("*.py"):
        wrong = {name for name in ours(path) if not inside(name, allowed)}
        assert not wrong, f"{path.relative_to(ROOT)} imports {sorted(wrong)}"


@pytest.mark.parametrize("words", ["--help", "list methods", "list runs", "list sources", "list tasks"])
def test_light_commands_load_no_heavy_library(words: str) -> None:
    code = (
        "import sys\nfrom harness.cli import main\n"
        f"try:\n    main({words.split()!r})\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'transformers', 'mteb', 'scipy', 'vl_convert'} & set(sys.modules)\n"
        "sys.exit(','.join(sorted(heavy)) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_stage_of_the_pipeline_has_the_name_of_its_command_and_one_that_decides_numbers_a_file() -> (
    None
):
    stages = load_yaml((ROOT / "dvc.yaml").read_text())["stages"]
    assert {name.removesuffix("-data") for name in stages} == {*STAGES, "report"}
    files = {path.stem for path in (ROOT / "harness/stages").glob("*.py")} - {"__init__", "inputs", "vectors"}
    assert files == {"backbone", "corpus", "teacher", "train", "evaluate", "further", "report"}
