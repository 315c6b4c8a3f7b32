"""Filling of the templates of `leaderboards/templates`; the only use of Jinja."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import InputError
from harness.io.declarations import LEADERBOARDS

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = LEADERBOARDS / "templates"

ANGLES = {
    "block_start_string": "<%",
    "block_end_string": "%>",
    "variable_start_string": "<<",
    "variable_end_string": ">>",
}
"""Delimiters for texts with literal braces."""


@cache
def make_environment(folder: Path, *, autoescape: bool, angles: bool = False) -> Environment:
    """Returns a strict environment over the templates of a folder; an unknown value is an error."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        autoescape=autoescape,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **(ANGLES if angles else {}),  # type: ignore[arg-type]
    )


def fill(
    name: str,
    values: Mapping[str, Any],
    *,
    angles: bool = False,
    folder: Path = TEMPLATES,
    environment: Callable[[Path], Environment] | None = None,
) -> str:
    """Returns template `name` of `folder` filled with `values`.

    Without an environment it is plain text, for which values must be escaped before. angles: its delimiters
    are `ANGLES`. Errors: InputError if the template or a file that its environment reads is missing or wrong.
    """
    import jinja2

    made = environment or partial(make_environment, autoescape=False, angles=angles)
    try:
        return made(folder).get_template(name).render(values)
    except (jinja2.TemplateError, OSError, RecursionError, UnicodeError) as error:
        fault = str(error) or type(error).__name__
        raise InputError(f"template {folder / name}: {fault}; restore it from the repository") from None
