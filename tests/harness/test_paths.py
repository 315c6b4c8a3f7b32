"""Paths of a project, and paths that commands outside a project may write."""

from pathlib import Path

import pytest

from harness import paths
from harness.data.download import folder_of
from tests.harness.data.conftest import declare  # noqa: F401
from tests.harness.data.small_sources import TEXT, WHEEL, Declare, sha256, write_wheel

EMBEDDED = {
    "embedded": {"wheel": "tiny-words==1.0", "folder": "tiny_words", "sha256": {"words.txt": sha256(TEXT)}}
}


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is no project; the user's cache holds the wheel of the source `tiny`."""
    monkeypatch.delenv("SENTBENCH_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_wheel(tmp_path / "cache/sentbench/wheels" / WHEEL, {"tiny_words/words.txt": TEXT})
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def test_outside_a_project_data_goes_to_the_users_cache(elsewhere: Path, declare: Declare) -> None:  # noqa: F811
    declare(EMBEDDED)
    folder = folder_of("tiny")
    assert folder == elsewhere / "cache/sentbench/data/tiny"
    assert (folder / "words.txt").read_bytes() == TEXT
    assert list(Path().iterdir()) == []
    assert folder_of("tiny") == folder


def test_a_params_file_of_another_tool_makes_no_project(elsewhere: Path) -> None:
    Path("params.yaml").write_text("learning_rate: 0.1\n")
    assert not paths.is_project()
    Path("params.yaml").write_text("# a plan\nplan:\n- small\n")
    assert paths.is_project()
    assert paths.data_roots() == [Path("data")]


def test_data_in_the_current_folder_are_read_and_a_named_root_is_the_only_one(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("data/other").mkdir(parents=True)
    Path("data/other/source.json").write_text("{}")
    assert folder_of("other") == Path("data/other")
    monkeypatch.setenv("SENTBENCH_DATA", str(elsewhere / "disk"))
    assert paths.data_roots() == [elsewhere / "disk"]


def test_names_in_the_core_equal_the_names_in_the_harness() -> None:
    """`methods/core` does not import the harness, so it states the names of its own files."""
    from methods.core import resume, teachers

    assert (resume.LOG, resume.LAST) == (paths.RUN_LOG, paths.LAST_WEIGHTS)
    assert teachers.DESCRIPTION == paths.TEACHER_RECORD
