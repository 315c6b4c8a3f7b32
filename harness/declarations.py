"""Reading a declaration: one YAML file becomes one strict value, or one line that says what is wrong with it.

Every YAML file of the project is read here, and every name of one that becomes part of a path is of a type
that stands here, so that no declaration leads out of the project.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, TypeAdapter, ValidationError

from harness.errors import InputError

LEADERBOARDS = Path(__file__).resolve().parents[1] / "leaderboards"
"""The folder of published numbers, table specs and templates of this checkout."""

LONGEST_NAME = 160
"""Characters of a name: a file system takes 255 bytes, and stages append suffixes."""


def check_name(name: str) -> str:
    """Returns the name if it may be part of a path; ValueError otherwise."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name) or len(name) > LONGEST_NAME:
        raise ValueError(
            f"expected a name of lower-case letters, digits, - and _, at most {LONGEST_NAME} characters long"
        )
    return name


def check_table_key(key: str) -> str:
    """Returns the key of a table, `paper/table2` or one name; ValueError if it is neither."""
    if key.count("/") > 1:
        raise ValueError("expected one name, or two with / between them")
    for part in key.split("/"):
        check_name(part)
    return key


def check_relative_path(path: str) -> str:
    """Returns a path that stays below its folder; ValueError for any other."""
    if not path or PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts or "\0" in path:
        raise ValueError("expected a relative path without ..")
    return path


Name = Annotated[str, AfterValidator(check_name)]
TableKey = Annotated[str, AfterValidator(check_table_key)]
RelativePath = Annotated[str, AfterValidator(check_relative_path)]


def folder_in(*rooms: str) -> AfterValidator:
    """Returns the check of a folder ROOM/NAME, in one of these rooms of the project."""

    def check(path: str) -> str:
        room, _, name = path.partition("/")
        if room not in rooms:
            raise ValueError(f"expected a folder {' or '.join(f'{room}/NAME' for room in rooms)}")
        check_name(name)
        return path

    return AfterValidator(check)


class Declaration(BaseModel):
    """A value of a declaration: strict types, no unknown keys, no nan, never changed after reading."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


Declared = TypeVar("Declared", bound=BaseModel)


def read_declaration(path: Path, kind: type[Declared]) -> Declared:
    """Returns the file as a value of `kind`.

    Errors: InputError with the file, the place in it and what was expected there.
    """
    return validated(kind, read_mapping(path), where=str(path))


def read_declarations(path: Path, kind: type[Declared]) -> dict[str, Declared]:
    """Returns a file of several values by name, in its order. Errors: as of `read_declaration`."""
    with one_line(str(path)):
        return TypeAdapter(dict[Name, kind]).validate_python(read_mapping(path))  # type: ignore[valid-type]


def read_record(path: Path, kind: type[Declared]) -> Declared:
    """Returns a JSON file as a value of `kind`. Errors: InputError in one line if it is not one."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8, expected JSON; write it again") from None
    with one_line(str(path)):
        return kind.model_validate_json(text)


def validated(kind: type[Declared], raw: Any, *, where: str) -> Declared:
    """Returns `raw` as a value of `kind`; InputError in one line that begins with `where`."""
    with one_line(where):
        return kind.model_validate(raw)


@contextmanager
def one_line(where: str) -> Iterator[None]:
    """Turns the problems of a validation into an InputError of one line about the first of them."""
    try:
        yield
    except ValidationError as error:
        raise InputError(f"{where}: {first_problem(error)}") from None


def first_problem(error: ValidationError) -> str:
    """Returns the first problem of a validation as one line: place, value, expectation, what to do."""
    problem = error.errors()[0]
    parts = [str(part) for part in problem["loc"]]
    place, found = ".".join(parts) or "its content", problem.get("input")
    message = problem["msg"].removeprefix("Value error, ")
    message = f"{message[:1].lower()}{message[1:]}"
    if parts[-1:] == ["[key]"]:
        return f"key {_shown(found)} of {'.'.join(parts[:-2]) or 'the file'}: {message}; rename it"
    if problem["type"] == "extra_forbidden":
        return f"unknown key {place}, expected only known keys; remove it or correct its spelling"
    if problem["type"] == "missing":
        return f"key {place} is missing, expected it; add it"
    hint = "write 3.0e-5, YAML reads 3e-5 as text" if _is_number(found) else "correct it"
    return f"{place} is {_shown(found)}: {message}; {hint}"


def read_mapping(path: Path) -> dict[str, Any]:
    """Returns a YAML file whose top level is a mapping. Errors: as of `read_yaml`, or another top level."""
    raw = read_yaml(path)
    if not isinstance(raw, dict):
        raise InputError(
            f"{path}: its top level is {_shown(raw)}, expected keys with values; correct the file"
        )
    return raw


def read_yaml(path: Path) -> Any:
    """Returns the content of a YAML file.

    Errors: InputError in one line for a file that is missing, not UTF-8 or not YAML, or that gives one key
    twice, of which YAML would silently keep the last.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected a YAML file; restore it or name another")
    try:
        loader = yaml.CSafeLoader(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8, expected it; save it as UTF-8") from None
    except yaml.YAMLError as error:
        raise InputError(_not_yaml(path, error)) from None
    try:
        node = loader.get_single_node()
        repeated = None if node is None else _repeated_key(node)
        if repeated is None:
            return None if node is None else loader.construct_document(node)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(_not_yaml(path, error)) from None
    finally:
        loader.dispose()
    line = repeated.start_mark.line + 1
    raise InputError(f"{path}: line {line}: key {repeated.value!r} stands twice, expected once; keep one")


def list_declarations(folder: Path) -> list[Path]:
    """Returns the YAML files of a folder by name; a folder without any is an error."""
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        raise InputError(f"{folder} has no *.yaml file, expected declarations; name the folder that has them")
    return paths


def _repeated_key(root: yaml.Node) -> yaml.Node | None:
    """Returns the first key that stands twice in its mapping, None if there is none."""
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen or isinstance(node, yaml.ScalarNode):
            continue
        seen.add(id(node))
        keys: set[tuple[str, str]] = set()
        children = []
        for child in node.value:
            key, value = child if isinstance(node, yaml.MappingNode) else (None, child)
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in keys:
                    return key
                keys.add((key.tag, key.value))
            children.append(value)
        waiting += reversed(children)
    return None


def _not_yaml(path: Path, error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    place = f"line {mark.line + 1}: " if mark else ""
    reason = " ".join(str(getattr(error, "problem", None) or error).split())
    return f"{path}: {place}not YAML ({reason}); correct the file"


def _is_number(value: Any) -> bool:
    """Returns whether a value is a text that reads as a number."""
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return isinstance(value, str)


def _shown(value: Any) -> str:
    return json.dumps(value, default=str)[:80]
