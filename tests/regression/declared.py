"""Digests of the declared values: published numbers, evidence, tables, recipes, sources, hours, stages and
targets of make, and the numbers and lists of names that the code states as constants, defaults and ranges; no
notes.

A changed value fails tests/regression/test_declared.py. `python -m tests.regression.declared` prints which
values changed since the digests were committed, so that somebody looks at the paper, and writes them again.
"""

import ast
import hashlib
import json
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
KNOWN = Path(__file__).with_name("declared.json")
PLACES = (
    *(f"leaderboards/{folder}/*.yaml" for folder in ("published", "evidence", "tables", "claims", "audit")),
    "leaderboards/answers.yaml",
    "leaderboards/hours.yaml",
    "leaderboards/templates/pictures/*.yaml",
    "recipes/*.yaml",
    "harness/data/sources.yaml",
    "harness/data/sources.lock.yaml",
    "dvc.yaml",
    "Makefile",
    "harness/**/*.py",
    "methods/**/*.py",
)
PROSE = {"note", "notes", "about", "comment", "protocol", "quote", "why", "reason"}
"""Keys of texts for the reader."""


@cache
def files() -> list[str]:
    """Returns the files with declared values, relative to the repository."""
    found = {
        path.relative_to(ROOT).as_posix(): path
        for place in PLACES
        for path in ROOT.glob(place)
        if path.is_file()
    }
    return sorted(name for name, path in found.items() if path.suffix != ".py" or _stated(path))


def _stated(path: Path) -> dict[str, str]:
    return values_of(path.read_text(encoding="utf-8"), path.name)


def values_of(text: str, file: str = "a.yaml") -> dict[str, str]:
    """Returns the values of a YAML file by their path in it, the numbers of a module by their names, or the
    lines of each target of a Makefile."""
    if file.endswith(".py"):
        return dict(_numbers(ast.parse(text).body, ""))
    if file.endswith(".yaml"):
        return dict(_leaves(yaml.load(text, Loader=yaml.CSafeLoader), ""))
    target, values = "variables", dict[str, str]()
    for line in text.splitlines():
        if found := re.match(r"([\w.-]+):( |$)", line):
            target = found[1]
        if not line.lstrip("\t @").startswith("#"):
            values[f"{target}[{sum(name.startswith(f'{target}[') for name in values)}]"] = line
    return values


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key in sorted(value, key=str):
            if key not in PROSE:
                yield from _leaves(value[key], f"{path}.{key}".lstrip("."))
    elif isinstance(value, list) and value:
        for index, entry in enumerate(value):
            yield from _leaves(entry, f"{path}[{index}]")
    else:
        yield path, json.dumps(value, default=str)


def _numbers(body: list[ast.stmt], path: str) -> Iterator[tuple[str, str]]:
    """Yields the values with a number, and the lists of names, that modules and classes give to names."""
    for line in body:
        if isinstance(line, ast.ClassDef):
            yield from _numbers(line.body, f"{path}{line.name}.")
        elif isinstance(line, ast.Assign | ast.AnnAssign):
            parts = list(ast.walk(line.value)) if line.value else []
            if isinstance(line, ast.AnnAssign):
                parts += ast.walk(line.annotation)
            names = ", ".join(map(ast.unparse, getattr(line, "targets", None) or [line.target]))  # type: ignore[union-attr]
            constants = [part.value for part in parts if isinstance(part, ast.Constant)]
            is_default = isinstance(line, ast.AnnAssign) and path != ""
            if any(map(_is_number, constants)) or _is_of_names(line.value, constants, is_default=is_default):
                yield path + names, ast.unparse(line)


def _is_of_names(value: ast.expr | None, constants: list[object], *, is_default: bool) -> bool:
    """Returns whether a value is a collection, or the default of a setting, with texts of one word alone."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "frozenset":
        (value,) = value.args
    texts = [text for text in constants if isinstance(text, str)]
    named = isinstance(value, ast.Tuple | ast.List | ast.Set | ast.Dict) or is_default
    return named and texts != [] and all(re.fullmatch(r"\S+", text) for text in texts)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def digest_of(text: str, file: str = "a.yaml") -> str:
    """Returns the digest of the values of a file."""
    return hashlib.sha256(json.dumps(values_of(text, file), sort_keys=True).encode()).hexdigest()[:16]


def present() -> dict[str, str]:
    """Returns the digest of every file."""
    return {file: digest_of((ROOT / file).read_text(encoding="utf-8"), file) for file in files()}


def known() -> dict[str, str]:
    """Returns the written digests."""
    return dict(json.loads(KNOWN.read_text(encoding="utf-8"))) if KNOWN.is_file() else {}


def changes(file: str, before: str, after: str) -> list[str]:
    """Returns a line for every value that differs between two texts of a file."""
    old, new = (values_of(text, file) if text else {} for text in (before, after))
    return [
        f"{file}: {path}: {old.get(path, 'none')} -> {new.get(path, 'none')}"
        for path in sorted(old.keys() | new.keys())
        if old.get(path) != new.get(path)
    ]


def _when_written(file: str) -> str:
    """Returns the text of a file in the commit that last wrote the digests; empty if there is none."""
    name = KNOWN.relative_to(ROOT).as_posix()
    commit = _git("log", "-1", "--format=%H", "--", name).strip()
    return _git("show", f"{commit}:{file}") if commit else ""


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout


def main() -> None:
    """Prints the changed values and writes the digests."""
    before, after = known(), present()
    for file in sorted(before.keys() | after.keys()):
        if before.get(file) != after.get(file):
            text = (ROOT / file).read_text(encoding="utf-8") if file in after else ""
            lines = changes(file, _when_written(file), text)
            print(
                "\n".join(
                    lines if len(lines) <= 200 else [*lines[:200], f"{file}: {len(lines)} values in all"]
                )
            )
    KNOWN.write_text(json.dumps(after, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
