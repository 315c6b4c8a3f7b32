"""The vocabulary check of `make test`: codespell with the terms of docs/terms.txt."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TERMS = dict(
    line.split("->", 1) for line in (ROOT / "docs/terms.txt").read_text(encoding="utf-8").splitlines()
)


def checked(text: str, folder: Path) -> tuple[int, str]:
    """Returns how codespell ends on a text, and what it prints."""
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "codespell_lib", str(page)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout


@pytest.mark.parametrize("term", TERMS)
def test_a_banned_term_is_reported_with_what_to_write(term: str, tmp_path: Path) -> None:
    """A phrase is found only if the pattern in pyproject.toml has it too."""
    code, shown = checked(f"We would {term.capitalize()}, they said.", tmp_path)
    assert code != 0
    assert f"{term} ==> {TERMS[term].capitalize()}".lower() in shown.lower()


def test_a_misspelt_word_is_reported_and_plain_text_is_not(tmp_path: Path) -> None:
    word = "recei".replace("ei", "ie") + "ve"
    assert f"{word} ==> receive" in checked(f"You {word} it.", tmp_path)[1]
    assert checked("The verdict is read from one interval; the run starts again.", tmp_path) == (0, "")
