"""Where declarations lie: in the project that a command runs in, else in what was installed."""

from __future__ import annotations

from pathlib import Path

from harness.errors import InputError
from harness.paths import LEADERBOARDS, RECIPES, is_project

INSTALLED = Path(__file__).resolve().parents[1]
"""The folder that holds this package: a checkout, or the site-packages of a wheel with its declarations."""


def is_checkout() -> bool:
    """Returns whether the current folder has declarations of its own."""
    return is_project() or (LEADERBOARDS.is_dir() and RECIPES.is_dir())


def declared(path: Path) -> Path:
    """Returns the path of a declaration: the project's here, else the installed one; others as they are."""
    ours = path.parts[:1] in (LEADERBOARDS.parts, RECIPES.parts)
    return INSTALLED / path if ours and not is_checkout() else path


def need_checkout(work: str) -> None:
    """Raises InputError, which names the work, unless the current folder is a project's."""
    if not is_checkout():
        raise InputError(
            f"{work} needs a checkout of the project, and this folder is none (no plan, no declarations); "
            "change to one, or clone the project"
        )
