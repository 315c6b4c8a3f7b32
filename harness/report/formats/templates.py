"""Filling the templates of `leaderboards/templates`: the one place that knows Jinja."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.declarations import LEADERBOARDS
from harness.disk.records import check_plain
from harness.errors import InputError

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = LEADERBOARDS / "templates"

ANGLES = {
    "block_start_string": "<%",
    "block_end_string": "%>",
    "variable_start_string": "<<",
    "variable_end_string": ">>",
}
"""Delimiters for texts in which braces stand for themselves."""


def make_environment(folder: Path, *, autoescape: bool, **delimiters: str) -> Environment:
    """Returns a strict environment over the templates of a folder; an unknown value is an error.

    Errors: InputError if something there is no plain file.
    """
    import jinja2

    check_plain(folder, again="restore it from the repository")
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        autoescape=autoescape,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **delimiters,  # type: ignore[arg-type]
    )


def fill(
    environment: Callable[[Path], Environment], folder: Path, name: str, values: Mapping[str, Any]
) -> str:
    """Returns template `name` of `folder` filled with `values`.

    Errors: InputError if the template or a file that its environment reads is missing or wrong.
    """
    import jinja2

    try:
        return environment(folder).get_template(name).render(values)
    except (jinja2.TemplateError, OSError, RecursionError, UnicodeError) as error:
        fault = str(error) or type(error).__name__
        raise InputError(f"template {folder / name}: {fault}; restore it from the repository") from None


def fill_plain(
    name: str, values: Mapping[str, Any], *, angles: bool = False, folder: Path = TEMPLATES
) -> str:
    """Returns a template of plain text filled with `values`; text must be escaped before.

    angles: the template has `ANGLES` for delimiters. Errors: as `fill`.
    """
    return fill(partial(_plain, angles=angles), folder, name, values)


@cache
def _plain(folder: Path, *, angles: bool) -> Environment:
    return make_environment(folder, autoescape=False, **(ANGLES if angles else {}))
