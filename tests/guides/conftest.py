"""A copy of this checkout for following a guide of CONTRIBUTING, and the files that changed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REPORTS = "reports/"
RECORDS = ("reports/portability.json", "reports/portability.md")
"""A record from which a document is generated, and the document."""


class Checkout:
    """A copy of the tracked files of this repository; of reports only RECORDS.

    It has the compiled modules as well, which are valid as long as a file keeps its time and size.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        for name in listed.stdout.split("\0")[:-1]:
            if (name in RECORDS or not name.startswith(REPORTS)) and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        for compiled in {
            (ROOT / name).parent / "__pycache__" for name in self._contents() if name[-3:] == ".py"
        }:
            if compiled.is_dir():
                shutil.copytree(compiled, folder / compiled.relative_to(ROOT))
        self.before = self._contents()

    def write(self, files: Mapping[str, str]) -> None:
        """Adds files, or replaces them."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def touched(self) -> set[str]:
        """Returns the paths that were added or changed; empty package markers do not count."""
        return {
            name
            for name, content in self._contents().items()
            if self.before.get(name) != content and not (name.endswith("__init__.py") and not content)
        }

    def run(self, *command: str, **environment: str) -> str:
        """Returns the output of a Python command in the copy; a failure fails the test with that output."""
        done = subprocess.run(
            [sys.executable, *command],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder), **environment},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def sentbench(self, *arguments: str, **environment: str) -> str:
        """Returns the output of a `sentbench` command in the copy."""
        code = f"from harness.cli import main; raise SystemExit(main({list(arguments)!r}))"
        return self.run("-c", code, **environment)

    def pytest(self, *arguments: str) -> str:
        """Returns the report of tests in the copy, all of which pass."""
        return self.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments)

    def _contents(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.folder).as_posix(): path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "checkout")
