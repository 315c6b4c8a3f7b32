"""Scores of a git revision, and the messages without git."""

from pathlib import Path

import pytest

from harness.errors import InputError
from harness.evidence.history import DETERMINES, git_refusal, git_state, results_of
from tests.support.git import commit

REFUSAL = "fatal: detected dubious ownership in repository at '/work'"


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH, and a git repository as the current one."""
    commit_here = tmp_path / "code"
    commit_here.mkdir()
    (commit_here / "file").write_text("text\n")
    commit(commit_here, "first")
    monkeypatch.chdir(commit_here)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "bin" / "git"


def test_a_missing_git_is_named(stub: Path) -> None:
    assert not stub.exists()
    with pytest.raises(InputError, match=r"'HEAD' is not a folder.*git cannot be started"):
        results_of("HEAD")
    assert git_state() == ("unknown", True)


def test_the_words_of_a_git_that_refuses_are_shown(stub: Path) -> None:
    stub.write_text(f'#!/bin/sh\necho "{REFUSAL}" >&2\nexit 128\n')
    stub.chmod(0o755)
    with pytest.raises(InputError, match="git: " + REFUSAL):
        results_of("HEAD")
    assert git_state() == ("unknown", True)


def test_a_folder_outside_git_is_named_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert "not a git repository" in git_refusal()


def test_a_repository_without_the_revision_is_not_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("text\n")
    commit(tmp_path, "first")
    monkeypatch.chdir(tmp_path)
    assert git_refusal() == ""
    with pytest.raises(InputError, match="neither a folder of scores nor a git revision"):
        results_of("no-such-revision")


def test_a_state_is_changed_by_what_decides_a_number_and_by_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (*(f"{part}/file.py" if "." not in part else part for part in DETERMINES), "docs/page.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text\n")
    commit(tmp_path, "first")
    revision, changed = git_state()
    assert (len(revision), changed) == (40, False)
    (tmp_path / "docs/page.md").write_text("other\n")
    (tmp_path / "harness/new.py").write_text("untracked\n")
    assert git_state() == (revision, False)
    for part in DETERMINES:
        file = tmp_path / (f"{part}/file.py" if "." not in part else part)
        file.write_text("other\n")
        assert git_state() == (revision, True), part
        file.write_text("text\n")
