"""Git in the projects that tests make, under a made-up name."""

import subprocess
from pathlib import Path


def git(folder: Path, *words: str) -> str:
    """Runs git in a folder and returns its output."""
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def commit(folder: Path, message: str) -> None:
    """Commits all files of a folder, which becomes a repository if it is none."""
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", message]):
        git(folder, *words)
