"""Damage of a declared file: of its bytes, its text, and each level of its content."""

import copy
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from tests.faults.corruptions import SHAPES, flip, truncate
from tests.support.yaml_files import dump_yaml, load_yaml

TEXTS: dict[str, Callable[[str], str]] = {
    "byte order mark": lambda text: "\ufeff" + text,
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "alias of itself": lambda text: text + "\nzz: &zz [*zz]\n",
    "tag of Python": lambda text: text + "\nzz: !!python/object/apply:os.system [id]\n",
    "second document": lambda text: text + "\n---\na: 1\n",
    "a scalar": lambda text: "7",
    "date keys": lambda text: text + "\n2001-01-01: 1\n",
    "list keys": lambda text: text + "\n? [1]\n: 1\n",
}
VALUES: dict[str, Any] = {
    "a number": 7,
    "a text": "x",
    "nothing": None,
    "a list": [],
    "a mapping": {"a": {}},
    "a million": 10**6,
    "a huge number": 10**30,
    "infinity": float("inf"),
    "no number": float("nan"),
    "a fraction": 0.5,
    "below zero": -1,
    "a long text": "x" * 100_000,
    "a path": "../../../../etc/passwd",
}


def damaged(path: Path, *, every: int = 1, start: int = 0) -> Iterator[str]:
    """Damages a file in one way after the other, and yields the name of each damage.

    every, start: uses kind number `start` and every `every`-th kind after it.
    """
    original = path.read_bytes()
    for name, damage in islice(kinds_of_damage(original.decode()), start, None, every):
        damage(path)
        yield name
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        path.write_bytes(original)


def kinds_of_damage(text: str) -> Iterator[tuple[str, Callable[[Path], object]]]:
    """Yields the name of each kind of damage of a YAML text, and a function that damages its file."""
    yield from {**SHAPES, "truncated": truncate, "bit 0": flip(0), "bit 1": flip(1)}.items()
    for name, change in TEXTS.items():
        yield name, partial(_write, make=partial(change, text))
    content = load_yaml(text)
    for name, path, value in changes(content):
        yield name, partial(_write, make=partial(_changed, content, path, value))


def _write(path: Path, make: Callable[[], str]) -> None:
    path.write_text(make(), encoding="utf-8", newline="")


def _changed(content: Any, path: tuple[Any, ...], value: Any) -> str:
    return dump_yaml(replaced(content, path, value), sort_keys=False, allow_unicode=True)


def changes(content: Any) -> Iterator[tuple[str, tuple[Any, ...], Any]]:
    """Yields one change at each level, as a name, a place and the new value.

    A value of each type, a lost key, a new key.
    """
    for level, path in enumerate(paths_in(content)):
        for name, value in VALUES.items():
            yield f"{name} at {'.'.join(map(str, path))}", path, value
        holder = at(content, path[:-1])
        if isinstance(holder, dict):
            without = {key: value for key, value in holder.items() if key != path[-1]}
            for name, actual in (("lost", without), ("unknown", {**holder, f"unknown{level}": 1})):
                yield f"{name} {path[-1]}", path[:-1], actual


def paths_in(content: Any) -> Iterator[tuple[Any, ...]]:
    """Yields one place at each level: the last entry of its first largest collection, and so on down."""
    path: tuple[Any, ...] = ()
    while isinstance(content, dict | list) and content:
        entries = content.items() if isinstance(content, dict) else enumerate(content)
        key, content = max(
            entries, key=lambda entry: len(entry[1]) if isinstance(entry[1], dict | list) else 0
        )
        path = (*path, key)
        yield path


def at(content: Any, path: tuple[Any, ...]) -> Any:
    """Returns the value at a place."""
    for key in path:
        content = content[key]
    return content


def replaced(content: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Returns a copy of the content with another value at a place."""
    if not path:
        return value
    result = copy.deepcopy(content)
    at(result, path[:-1])[path[-1]] = value
    return result
