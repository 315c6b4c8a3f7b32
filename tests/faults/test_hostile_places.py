"""Paths and inputs that must not affect execution, outputs or messages."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.data.providers import Unavailable, wheel_file
from harness.errors import InputError
from harness.models.hub import model_folder

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "revision", ["../../x", "a/../b", "/etc", "", ".", "..", "-x", "refs/heads/../x", "a b"]
)
def test_an_unusual_revision_is_refused_and_writes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, revision: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(InputError, match="expected a commit, a branch or a tag"):
        model_folder(f"lab/model@{revision}")
    assert not list(tmp_path.iterdir())


def test_a_module_called_pip_in_the_current_folder_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    Path("pip.py").write_text("open('ran', 'w')\n")
    with pytest.raises(Unavailable, match="pip download no-such-package==1"):
        wheel_file("no-such-package==1")
    assert not Path("ran").exists()


@pytest.mark.parametrize("targets", [[""], ["entries", ""], [" "]])
def test_an_empty_name_of_a_stage_does_not_mean_all_stages(
    targets: list[str], refused: Callable[..., str]
) -> None:
    assert "expected the name of a stage" in refused("launch", "--dry-run", *targets)


@pytest.mark.parametrize(
    ("closed", "words", "code", "printed"),
    [
        (">&-", "list methods", 0, False),
        ("2>&-", "list methods", 0, True),
        ("2>&-", "list nothing", 2, False),
        (">&- 2>&- <&-", "list methods", 0, False),
        (">&- 2>&-", "list nothing", 2, False),
    ],
)
def test_a_closed_stream_changes_no_exit_code_and_no_other_stream(
    tmp_path: Path, closed: str, words: str, code: int, printed: bool
) -> None:
    command = f'"{sys.executable}" -m harness.cli {words} {closed}'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == code
    assert "Traceback" not in done.stdout + done.stderr
    assert "Exception ignored" not in done.stderr
    assert ("mirror-bert" in done.stdout) == bool(done.stdout) == printed
