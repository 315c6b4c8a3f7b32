"""A report on disk: together or not at all, whatever fails and whatever lies there."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.report.writing import LEFTOVER, write_whole

OLD = {"index.html": "old", "tables/a.md": "old a", "tables/gone.md": "old gone"}
NEW = {"index.html": "new", "index.md": "new too", "tables/a.md": "new a", "pages/p.html": "new page"}


def state(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """A former report beside scores, which are none of its files."""
    write_whole(tmp_path, OLD)
    (tmp_path / "scores").mkdir()
    (tmp_path / "scores/a.json").write_text("{}")
    return tmp_path


def test_a_report_replaces_the_former_one_and_leaves_what_lies_beside_it(reports: Path) -> None:
    write_whole(reports, NEW)
    assert state(reports) == {**NEW, "scores/a.json": "{}"}
    assert (reports / "index.html").stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize("name", ["rename", "mkdir"])
def test_a_file_system_that_refuses_at_any_moment_leaves_the_former_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Four entries are exchanged, two of them for former ones: six renames, each refused once."""
    real, refusals = getattr(os, name), 0
    for nth in range(1, 12):
        folder, calls = tmp_path / str(nth), []
        write_whole(folder, OLD)

        def refuse(*arguments: object, nth: int = nth, calls: list[object] = calls, **more: object) -> None:
            calls.append(arguments)
            if len(calls) == nth:
                raise OSError(28, "No space left on device")
            real(*arguments, **more)

        with monkeypatch.context() as patch:
            patch.setattr(os, name, refuse)
            try:
                write_whole(folder, NEW)
                expected = NEW
            except OSError:
                refusals, expected = refusals + 1, OLD
        assert state(folder) == expected
        assert not list(folder.glob(f"{LEFTOVER}*"))
    assert refusals >= 5


def test_a_text_that_cannot_be_written_leaves_the_former_report(reports: Path) -> None:
    before = state(reports)
    with pytest.raises(UnicodeEncodeError):
        write_whole(reports, {**NEW, "tables/last.md": "\ud800"})
    assert state(reports) == before


@pytest.mark.parametrize("foreign", ["notes.docx", "drafts/a.md"])
def test_a_folder_that_holds_what_no_report_writes_is_refused_in_one_line(
    reports: Path, foreign: str
) -> None:
    path = reports / "tables" / foreign
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    before = state(reports)
    with pytest.raises(InputError, match="no report writes this") as refused:
        write_whole(reports, NEW)
    assert "\n" not in str(refused.value)
    assert state(reports) == before


def test_a_link_in_the_way_is_replaced_and_its_target_stays(reports: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir()
    (target / "mine.html").write_text("mine")
    (reports / "pages").symlink_to(target)
    write_whole(reports, NEW)
    assert not (reports / "pages").is_symlink()
    assert (target / "mine.html").read_text() == "mine"


def _write_and_die(folder: Path) -> None:
    real = os.rename

    def die(source: Path, goal: Path) -> None:
        real(source, goal)
        os.kill(os.getpid(), signal.SIGKILL)

    os.rename = die  # type: ignore[assignment]
    write_whole(folder, NEW)


def test_what_a_killed_process_left_is_removed_by_the_next_report(reports: Path) -> None:
    process = multiprocessing.get_context("fork").Process(target=_write_and_die, args=(reports,))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert list(reports.glob(f"{LEFTOVER}*"))
    write_whole(reports, NEW)
    assert state(reports) == {**NEW, "scores/a.json": "{}"}


def _write_often(folder: Path, word: str) -> None:
    for _ in range(30):
        write_whole(folder, dict.fromkeys(NEW, word))


def test_two_reports_at_once_end_as_one_of_them(reports: Path) -> None:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_write_often, args=(reports, word)) for word in ("one", "two")]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    found = state(reports)
    del found["scores/a.json"]
    assert set(found) == set(NEW)
    assert len(set(found.values())) == 1
