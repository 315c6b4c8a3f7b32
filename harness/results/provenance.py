"""Provenance of a number besides its recipe: commit and library versions."""

from __future__ import annotations

import subprocess
from importlib.metadata import version
from pathlib import Path

from harness.paths import PARAMS, RECIPES

LOCKS = ("requirements.lock", "requirements-torch.lock")
DETERMINES = ("methods", "harness", RECIPES.as_posix(), PARAMS.as_posix(), *LOCKS)
LIBRARIES = ("torch", "transformers", "tokenizers", "numpy", "scipy")


def library_versions() -> dict[str, str]:
    """Returns the versions of the libraries that affect a number."""
    return {name: version(name) for name in LIBRARIES}


def git_state(folder: Path = Path()) -> tuple[str, bool]:
    """Returns the commit and whether tracked code differs from it; ("unknown", True) outside a checkout.

    Only what can change a number counts: code, recipes, the plan and the pinned libraries.
    """
    commit = _git("rev-parse", "HEAD", folder=folder)
    if commit is None:
        return "unknown", True
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", *DETERMINES, folder=folder)
    return commit, bool(changed)


def _git(*arguments: str, folder: Path) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
