"""Reading of declarations: a YAML file becomes a strictly typed value, or a one-line error.

Names that become part of a path, and links, have types of this module, so a path stays inside the project and
a link runs no script.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, TypeAdapter, ValidationError

from harness.errors import CONTROL, InputError
from harness.io.names import check_link, check_name, check_relative_path, check_table_key
from harness.io.yaml_files import read_yaml

LEADERBOARDS = Path(__file__).resolve().parents[2] / "leaderboards"
"""The folder of published numbers, table specs and templates of this checkout."""

Name = Annotated[str, AfterValidator(check_name)]
TableKey = Annotated[str, AfterValidator(check_table_key)]
RelativePath = Annotated[str, AfterValidator(check_relative_path)]
Link = Annotated[str, AfterValidator(check_link)]


def folder_in(*rooms: str) -> AfterValidator:
    """Returns a check for folders ROOM/NAME, in one of these rooms of the project."""

    def check(path: str) -> str:
        room, _, name = path.partition("/")
        if room not in rooms:
            raise ValueError(f"expected a folder {' or '.join(f'{room}/NAME' for room in rooms)}")
        check_name(name)
        return path

    return AfterValidator(check)


class DeclaredModel(BaseModel):
    """A value of a declaration: immutable, with strict types, without unknown keys and nan."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


Declared = TypeVar("Declared", bound=BaseModel)


def read_declaration(path: Path, kind: type[Declared]) -> Declared:
    """Returns the file as a value of `kind`.

    Errors: InputError with the file, the key in it and the expected value.
    """
    return validated(kind, read_mapping(path), where=str(path))


def read_declarations(path: Path, kind: type[Declared]) -> dict[str, Declared]:
    """Returns a file of several values by name, in its order. Errors: as of `read_declaration`."""
    with refused_in_one_line(str(path)):
        return TypeAdapter(dict[Name, kind]).validate_python(read_mapping(path))  # type: ignore[valid-type]


def read_record(path: Path, kind: type[Declared]) -> Declared:
    """Returns a JSON file as a value of `kind`. Errors: InputError in one line for other files."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8; convert it to UTF-8") from None
    with refused_in_one_line(str(path)):
        value = kind.model_validate_json(text)
    check_texts(json.loads(text), where=str(path))
    return value


def validated(kind: type[Declared], raw: Any, *, where: str) -> Declared:
    """Returns `raw` as a value of `kind`; InputError in one line that begins with `where`.

    `read_yaml` has checked the texts of a YAML file; for other content call `check_texts` first.
    """
    with refused_in_one_line(where):
        return kind.model_validate(raw)


def check_texts(raw: Any, *, where: str) -> None:
    """Raises InputError, which begins with `where`, if a text in nested values has a control character."""
    if isinstance(raw, str) and not raw.isprintable():
        control = CONTROL.search(raw)
        if control:
            raise InputError(f"{where}: character {control[0]!a} is not allowed in a text")
    elif isinstance(raw, dict):
        for key, value in raw.items():
            check_texts(key, where=where)
            check_texts(value, where=where)
    elif isinstance(raw, list | tuple):
        for value in raw:
            check_texts(value, where=where)


@contextmanager
def refused_in_one_line(where: str) -> Iterator[None]:
    """Converts a validation error into a one-line InputError about its first problem."""
    try:
        yield
    except ValidationError as error:
        raise InputError(f"{where}: {first_problem(error)}") from None


def first_problem(error: ValidationError) -> str:
    """Returns the first problem of a validation as one line: key, value, expected value, advice."""
    problem = error.errors()[0]
    parts = [str(part) for part in problem["loc"]]
    key, value = ".".join(parts) or "its content", problem.get("input")
    message = problem["msg"].removeprefix("Value error, ")
    message = f"{message[:1].lower()}{message[1:]}"
    if parts[-1:] == ["[key]"]:
        return f"key {_shown(value)} of {'.'.join(parts[:-2]) or 'the file'}: {message}; rename it"
    if problem["type"] == "extra_forbidden":
        return f"unknown key {key}"
    if problem["type"] == "value_error" and not parts:
        return f"{message}; correct it"
    if problem["type"] == "missing":
        return f"{key}: missing required key"
    hint = "write 3.0e-5, YAML reads 3e-5 as text" if _is_number(value) else "correct it"
    return f"{key} is {_shown(value)}: {message}; {hint}"


def read_mapping(path: Path) -> dict[str, Any]:
    """Returns a YAML file whose top level is a mapping. Errors: as of `read_yaml`, or another top level."""
    raw = read_yaml(path)
    if not isinstance(raw, dict):
        raise InputError(f"{path}: its top level is {_shown(raw)}, expected keys with values")
    return raw


def list_declarations(folder: Path) -> list[Path]:
    """Returns the YAML files of a folder by name; a folder without any is an error."""
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        raise InputError(f"{folder} has no *.yaml files")
    return paths


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return isinstance(value, str)


def _shown(value: Any) -> str:
    try:
        return json.dumps(value, default=str, skipkeys=True)[:80]
    except ValueError:  # a number with more digits than Python prints
        return f"a {type(value).__name__} that is too long to print"
