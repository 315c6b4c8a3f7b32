"""Who may import whom, read from the syntax trees; and what may not be loaded at start."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ALWAYS = {
    "harness.declarations",
    "harness.errors",
    "harness.files",
    "harness.locks",
    "harness.outputs",
    "harness.paths",
    "harness.records",
    "harness.yaml_files",
    "methods.core.errors",
}
ROOMS: dict[str, set[str]] = {
    "methods/core": {"methods.core"},
    "harness/data": {"harness.data"},
    "harness/rewriting": {"harness.rewriting", "harness.data", "methods.core.model_files"},
    "harness/tasks": {"harness.tasks", "harness.data"},
    "harness/compute": {
        "harness.compute",
        "harness.data",
        "harness.rewriting",
        "harness.tasks",
        "harness.results.embeddings",
        "methods.core",
    },
    "harness/results": {"harness.results"},
    "harness/facts": {"harness.facts", "harness.results"},
    "harness/report": {"harness.report", "harness.facts", "harness.results"},
    "harness/launch": {"harness.launch", "harness.cli", "harness.allocator", "harness.process"},
}
"""Room -> the packages of this repository that it may import, besides ALWAYS."""
NO_TORCH = ("harness/data", "harness/results", "harness/facts", "harness/report", "harness/launch")
METHOD_PACKAGES = sorted(p for p in (ROOT / "methods").iterdir() if (p / "method.py").is_file())


def imports(path: Path) -> set[str]:
    """Returns the modules that a file imports anywhere, as dotted names."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module)
    return found


def inside(name: str, packages: set[str]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def ours(path: Path) -> set[str]:
    return {name for name in imports(path) if name.split(".")[0] in ("methods", "harness")}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_it_may(room: str) -> None:
    files = sorted((ROOT / room).rglob("*.py"))
    assert len(files) >= 2
    for path in files:
        wrong = {name for name in ours(path) if not inside(name, ROOMS[room] | ALWAYS)}
        assert not wrong, f"{path.relative_to(ROOT)} imports {sorted(wrong)}"


@pytest.mark.parametrize("room", NO_TORCH)
def test_rooms_of_bytes_and_pages_do_not_know_torch(room: str) -> None:
    for path in (ROOT / room).rglob("*.py"):
        assert not {name.split(".")[0] for name in imports(path)} & {"torch", "transformers", "mteb"}, path


@pytest.mark.parametrize("package", METHOD_PACKAGES, ids=lambda path: path.name)
def test_a_method_imports_core_and_itself_only(package: Path) -> None:
    assert len(METHOD_PACKAGES) >= 5
    own = {"methods.core", f"methods.{package.name}"}
    for path in package.rglob("*.py"):
        wrong = {name for name in ours(path) if not inside(name, own)}
        assert not wrong, f"{path.relative_to(ROOT)} imports {sorted(wrong)}"


@pytest.mark.parametrize("command", [["--help"], ["list", "methods"], ["list", "runs"], ["list", "sources"]])
def test_light_commands_load_nothing_heavy(command: list[str]) -> None:
    code = (
        "import sys\nfrom harness.cli import main\n"
        f"try:\n    main({command!r})\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'transformers', 'mteb', 'scipy', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(','.join(sorted(heavy)) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_stages_do_not_know_commands() -> None:
    files = sorted(
        set((ROOT / "harness/stages").glob("*.py")) - {ROOT / "harness/stages/pages.py"}
    )  # no stage
    assert len(files) >= 9
    for path in files:
        assert not {name for name in ours(path) if inside(name, {"harness.commands", "harness.cli"})}, path


def test_every_stage_of_the_pipeline_is_a_file_of_its_name() -> None:
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
    files = {path.stem for path in (ROOT / "harness/stages").glob("*.py")}
    assert {name.removesuffix("-data") for name in stages} <= files
