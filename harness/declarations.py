"""Reading a declaration: one YAML file of `leaderboards` into one strict value."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from harness.errors import InputError

LEADERBOARDS = Path(__file__).resolve().parents[1] / "leaderboards"
"""The folder of published numbers, table specs and templates of this checkout."""


class Declaration(BaseModel):
    """A value of a declaration: strict types, no unknown keys, no nan, never changed after reading."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


Declared = TypeVar("Declared", bound=Declaration)


def read_declaration(path: Path, kind: type[Declared]) -> Declared:
    """Returns the file as a value of `kind`.

    Errors: InputError with the file, the place in it and what was expected there.
    """
    try:
        raw = yaml.load(
            path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        )
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: not a readable YAML file ({reason}); correct or restore it") from None
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "top level"
        reason = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{path}: {place}: {reason}; correct the file") from None


def list_declarations(folder: Path) -> list[Path]:
    """Returns the YAML files of a folder by name; a folder without any is an error."""
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        raise InputError(f"{folder} has no *.yaml file, expected declarations; name the leaderboards folder")
    return paths
