"""SENTBENCH_DATA: one folder of data for several projects; data/NAME, which the pipeline reads, is a copy."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.cli import main
from harness.data.download import copy_fetched, fetch, read_source_record
from harness.errors import InputError
from harness.io.files import write_manifest
from harness.paths import cache
from tests.harness.data.small_sources import TEXT, Declare
from tests.support.yaml_files import dump_yaml

PLAN = {
    **{part: {} for part in ("backbones", "corpora", "teachers", "reads", "runs")},
    "plan": ["small"],
    "providers": ["mirror"],
    "sources": {"tiny": {"entry": "0"}},
}


@pytest.fixture
def shared(mirrored: Path, declare: Declare, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose plan reads the source `tiny`, and a folder outside of it for data."""
    declare({"mirror": {"folder": "words"}})
    project = workspace / "project"
    project.mkdir()
    (project / "params.yaml").write_text(dump_yaml(PLAN))
    monkeypatch.chdir(project)
    monkeypatch.setenv("SENTBENCH_DATA", str(workspace / "shared"))
    return workspace / "shared"


def files_below(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_stage_whose_output_was_deleted_copies_and_asks_no_provider(
    shared: Path, mirrored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["data", "fetch"])
    shutil.rmtree("data")
    shutil.rmtree(cache())
    shutil.rmtree(mirrored / "words")
    assert main(["data", "fetch", "tiny"]) == 0
    assert Path("data/tiny/words.txt").read_bytes() == TEXT
    shutil.rmtree(shared)  # the content is complete, so the command above read the shared folder
    assert main(["data", "fetch", "tiny"]) == 2
    assert "mirror" in capsys.readouterr().err


def test_a_damaged_copy_is_made_again_and_an_equal_one_is_left(shared: Path) -> None:
    assert main(["data", "fetch"]) == 0
    assert files_below(Path("data")) == files_below(shared) == ["tiny/source.json", "tiny/words.txt"]
    before = Path("data/tiny").stat().st_ino
    main(["data", "fetch"])
    assert Path("data/tiny").stat().st_ino == before
    Path("data/tiny/words.txt").write_bytes(b"mine\n")
    main(["data", "fetch"])
    assert Path("data/tiny/words.txt").read_bytes() == TEXT
    assert (shared / "tiny/words.txt").read_bytes() == TEXT


def test_foreign_files_in_the_folder_of_the_pipeline_are_kept(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("data/tiny").mkdir(parents=True)
    Path("data/tiny/letter.txt").write_text("mine")
    assert main(["data", "fetch"]) == 2
    assert "contains other files (letter.txt)" in capsys.readouterr().err
    assert files_below(Path("data")) == ["tiny/letter.txt"]


def test_outside_a_project_the_named_folder_alone_is_filled(
    shared: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(workspace / "user"))
    Path("params.yaml").unlink()
    assert main(["data", "fetch", "tiny"]) == 0
    assert files_below(shared) == ["tiny/source.json", "tiny/words.txt"]
    assert not Path("data").exists()


def test_a_lock_is_made_of_the_shared_folder(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `check` reads it and `fetch` writes it."""
    fetch("tiny", shared)
    locked: list[Any] = []
    monkeypatch.setattr("harness.commands.data.lock_sources", locked.append)
    assert not Path("data").exists()
    assert main(["data", "lock", "tiny"]) == 0
    assert locked == [{"tiny": read_source_record(shared / "tiny")}]


@pytest.mark.parametrize("asked", [fetch, copy_fetched])
def test_a_source_that_another_process_fetches_is_waited_for(
    asked: Any, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if asked is copy_fetched:
        fetch("tiny", shared)
    waits: list[bool] = []

    @contextmanager
    def alone(name: str, *, wait: bool = False, **more: Any) -> Iterator[None]:
        waits.append(wait)
        yield

    monkeypatch.setattr("harness.data.download.alone", alone)
    asked("tiny", *([shared] if asked is copy_fetched else []), Path("data"))
    assert waits == [True]


@pytest.mark.parametrize("copied", [0, 1])
def test_a_copy_that_is_interrupted_leaves_the_former_folder(
    copied: int, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch("tiny", shared)
    shutil.copytree(shared / "tiny", "data/tiny")
    record = read_source_record(Path("data/tiny"))
    write_manifest(Path("data/tiny/source.json"), {**record, "provider": "folder"})
    before = {path: path.read_bytes() for path in Path("data/tiny").iterdir()}
    copy, done = shutil.copyfile, list[Path]()

    def interrupted(origin: Path, target: Path, **more: Any) -> Any:
        if len(done) == copied:
            raise KeyboardInterrupt
        done.append(target)
        return copy(origin, target, **more)

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfile", interrupted)
        with pytest.raises(KeyboardInterrupt):
            copy_fetched("tiny", shared, Path("data"))
    assert {path: path.read_bytes() for path in Path("data/tiny").iterdir()} == before
    copy_fetched("tiny", shared, Path("data"))
    for path in (shared / "tiny").iterdir():
        assert (Path("data/tiny") / path.name).read_bytes() == path.read_bytes()


def test_a_disk_without_room_for_the_copy_is_refused_before_the_work(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch("tiny", shared)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1 << 20))
    with pytest.raises(InputError, match="1 MB are free there, expected"):
        copy_fetched("tiny", shared, Path("data"))
    assert not Path("data").exists()
