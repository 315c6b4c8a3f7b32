"""No two modules of the repository import each other, imports for types and inside functions included."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("methods", "harness", "sentbench", "benchmarks", "tests")


def modules(root: Path) -> dict[str, Path]:
    """Returns the modules of the packages by dotted name; a package stands for its `__init__`."""
    found = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    """Yields the modules of the repository that a file names in an import, wherever that appears in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if name in known:
                    yield name
                elif node.module in known:
                    yield node.module


def circle(root: Path) -> list[str]:
    """Returns the modules of one import circle in order, first and last the same; [] if there is none."""
    known = modules(root)
    graph = {name: set(imported(path, known)) - {name} for name, path in known.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert len(modules(ROOT)) > 200
    found = circle(ROOT)
    assert not found, f"import circle: {' -> '.join(found)}"


def test_a_circle_is_found_however_it_is_imported(tmp_path: Path) -> None:
    """a imports b, b imports c, and c imports a: plainly, for its types, or inside a function."""
    (tmp_path / "methods").mkdir()
    for_types = "if TYPE_CHECKING:\n    from methods import a"
    inside = "def late():\n    import methods.a"
    for name, text in {"a": "from methods.b import B", "b": "import methods.c"}.items():
        (tmp_path / f"methods/{name}.py").write_text(text, encoding="utf-8")
    for line in ("from methods.a import A", for_types, inside):
        (tmp_path / "methods/c.py").write_text(line, encoding="utf-8")
        assert set(circle(tmp_path)) == {"methods.a", "methods.b", "methods.c"}
    (tmp_path / "methods/c.py").write_text("import math", encoding="utf-8")
    assert circle(tmp_path) == []
