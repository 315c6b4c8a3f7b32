"""Where a project's things lie, and where a command outside any project may write."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import paths
from harness.data.download import folder_of
from tests.harness.data.conftest import declare  # noqa: F401
from tests.harness.data.small_sources import TEXT, WHEEL, Declare, sha256, write_wheel

ROOT = Path(__file__).parents[2]
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


def test_data_that_lie_here_are_read_and_a_named_root_is_the_only_one(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("data/other").mkdir(parents=True)
    Path("data/other/source.json").write_text("{}")
    assert folder_of("other") == Path("data/other")
    monkeypatch.setenv("SENTBENCH_DATA", str(elsewhere / "disk"))
    assert paths.data_roots() == [elsewhere / "disk"]


OTHER_FILES = {("harness/tasks/stsb.py", "train.jsonl")}
"""Files of others that have the name of one of ours."""


def homes() -> dict[str, str]:
    """Returns every path of harness/paths.py by its text."""
    found = {name: getattr(paths, name) for name in vars(paths) if name.isupper()}
    return {str(value): name for name, value in found.items() if isinstance(value, str | Path)}


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yields line and value of every string of a module that is no docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.lineno, node.value


def is_second_home(text: str, home: str) -> bool:
    """A plain word, `data`, is a path only where something follows it; a name with a dot or slash always."""
    return text.startswith(f"{home}/") or (text == home and not home.isalpha())


def test_every_path_of_the_project_stands_once() -> None:
    found, known = [], homes()
    assert len(known) >= 25
    modules = [path for path in (ROOT / "harness").rglob("*.py") if path != ROOT / "harness/paths.py"]
    for module in modules:
        name = module.relative_to(ROOT).as_posix()
        for line, text in texts(module):
            if (name, text) in OTHER_FILES:
                continue
            found += [
                f"{name}:{line}: {text!r} is paths.{known[h]}" for h in known if is_second_home(text, h)
            ]
    assert len(modules) > 100
    assert found == []


def test_a_second_home_is_seen() -> None:
    assert is_second_home("reports/scores", "reports/scores")
    assert is_second_home("data/", "data")
    assert is_second_home(".entries", ".entries")
    assert not is_second_home("data", "data")
    assert not is_second_home("database/x", "data")


def test_names_that_the_core_owns_are_those_of_the_harness() -> None:
    """`methods/core` imports nothing of the harness, so it states the names of its own files."""
    from methods.core import resume, teachers

    assert (resume.LOG, resume.LAST) == (paths.RUN_LOG, paths.LAST_WEIGHTS)
    assert teachers.DESCRIPTION == paths.TEACHER_RECORD
