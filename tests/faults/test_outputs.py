"""Only files of this project are replaced, atomically; other outputs are refused before the work."""

import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import IO

import pytest

from harness.cli import main
from harness.errors import InputError
from harness.io.files import write_manifest
from harness.io.outputs import (
    check_addition,
    check_file,
    check_folder,
    new_folder,
    new_outputs,
)
from harness.io.records import read_manifest
from harness.paths import FILE_RECORD
from tests.faults.refusals import REMOVALS, Refusal, error, refusing
from tests.faults.trees import tree

ROOT = Path(__file__).parents[2]
RUN = "simcse-small__words-50d__s0"
BOX = "box.json"


def write_box(folder: Path, text: str = "old") -> Path:
    (folder / "lid").mkdir(parents=True)
    (folder / "a.txt").write_text(text)
    (folder / "lid/b.txt").write_text(text)
    write_manifest(folder / BOX, {"sides": 4})
    return folder


def replace_box(folder: Path) -> None:
    with new_folder(folder, BOX) as part:
        write_box(part, "new")


def test_a_folder_of_ours_is_replaced_and_an_empty_one_is_filled(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (write_box(tmp_path / "box"), tmp_path / "empty", tmp_path / "deep/new"):
        check_folder(folder, BOX)
        replace_box(folder)
        assert (folder / "a.txt").read_text() == "new"
        assert folder.stat().st_mode & 0o777 == 0o755
    assert sorted(path.name for path in tmp_path.iterdir()) == ["box", "deep", "empty"]


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("lid/thesis.tex", "years of work", "lid/thesis.tex"),
        ("box.json", '{"corners": 8}', "a.txt"),
        ("box.json", '{"files": ["lid/b.txt"]}', "a.txt"),
        ("box.json", '{"files": 3}', "a.txt"),
        ("box.json", "{", "a.txt"),
        ("box.json", None, "a.txt"),
        ("c.txt", "mine", "c.txt"),
        (".git/HEAD", "ref", ".git/HEAD"),
        ("lid/home", "a link", "lid/home"),
    ],
)
def test_a_folder_with_something_else_is_refused_and_stays(
    tmp_path: Path, name: str, text: str | None, named: str
) -> None:
    path = write_box(tmp_path / "box") / name
    path.parent.mkdir(exist_ok=True)
    if text is None:
        path.unlink()
    elif text == "a link":
        path.symlink_to(tmp_path)
    else:
        path.write_text(text)
    (tmp_path / "link").symlink_to(tmp_path / "box")
    before = tree(tmp_path)
    for folder in (tmp_path / "box", tmp_path / "link"):
        with pytest.raises(InputError, match=f"contains other files .{re.escape(named)}"):
            check_folder(folder, BOX)
        with pytest.raises(InputError, match="contains other files"), new_folder(folder, BOX):
            pytest.fail("the work began")
    assert tree(tmp_path) == before


def test_files_that_appear_during_the_work_stay(tmp_path: Path) -> None:
    box = write_box(tmp_path / "box")

    def work() -> None:
        with new_folder(box, BOX) as part:
            write_box(part, "new")
            (box / "lid/thesis.tex").write_text("years of work")

    with pytest.raises(InputError, match=r"thesis\.tex"):
        work()
    assert (box / "a.txt").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["box"]


@pytest.mark.parametrize("name", ["", ".", "..", "/", "~", "~/..", "checkout", "above the checkout"])
def test_the_folders_that_hold_everything_are_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them even if it is empty, as a current folder may be."""
    empty = tmp_path / "up/empty"
    empty.mkdir(parents=True)
    monkeypatch.chdir(empty)
    monkeypatch.setenv("HOME", str(tmp_path / "users/me"))
    (tmp_path / "users/me").mkdir(parents=True)
    special = {"checkout": ROOT, "above the checkout": ROOT.parent}
    path = special.get(name, Path(name).expanduser())
    with pytest.raises(InputError, match=r"current folder|your home|project's folder"):
        check_folder(path, BOX)


def test_too_little_disk_space_is_an_error_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 100 GB 3 are free, 5 are needed."""
    usage = shutil._ntuple_diskusage(total=int(1e11), used=int(97e9), free=int(3e9))  # type: ignore[attr-defined]
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    check_folder(tmp_path / "a", BOX, room=int(2e9))
    for check in (partial(check_folder, record=BOX), check_file, check_addition):
        with pytest.raises(InputError, match=r"3,000 MB are free there, expected 5,000 MB"):
            check(tmp_path / "a", room=int(5e9))


@pytest.mark.parametrize("text", ["not json", "[]", '{"model": "x"}', '{"other": 1, "scores": []'])
def test_a_file_of_something_else_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(InputError, match="exists and is not an output"):
        check_file(tmp_path / "s.json", keys=("model", "scores"))
    (tmp_path / "s.json").write_text('{"model": "x", "scores": []}')
    check_file(tmp_path / "s.json", keys=("model", "scores"))
    (tmp_path / "s.json").write_text("")
    check_file(tmp_path / "s.json", keys=("model", "scores"))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        check_file(tmp_path / "pipe")


def replace_set(top: Path, refusal: Refusal) -> None:
    """Writes three outputs as a set, of which two replace something."""
    with refusing(refusal), new_outputs({top / "box": BOX, top / "page": None, top / "fresh": None}) as parts:
        write_box(parts[top / "box"], "new")
        for name in ("page", "fresh"):
            parts[top / name].write_text("new")


def test_an_error_at_any_change_leaves_the_whole_set_of_outputs_as_it_was(tmp_path: Path) -> None:
    write_box(tmp_path / "old/box")
    (tmp_path / "old/page").write_text("old")
    record, before = Refusal(tmp_path), tree(tmp_path / "old")
    replace_set(shutil.copytree(tmp_path / "old", tmp_path / "new"), record)
    whole, refused = tree(tmp_path / "new"), 0
    assert {name: (tmp_path / "new" / name).stat().st_mode & 0o777 for name in ("box", "fresh")} == {
        "box": 0o755,
        "fresh": 0o644,
    }
    assert sorted(whole) == ["box", "box/a.txt", "box/box.json", "box/lid", "box/lid/b.txt", "fresh", "page"]
    assert {whole[name] for name in ("box/a.txt", "box/lid/b.txt", "fresh", "page")} == {b"new"}
    for at in [number for number, (event, _) in enumerate(record.seen) if event not in REMOVALS]:
        top = shutil.copytree(tmp_path / "old", tmp_path / str(at))
        try:
            replace_set(top, Refusal(tmp_path, error(28), at))
        except (OSError, InputError):
            refused += 1
            assert tree(top) == before, record.seen[at]
        else:
            assert tree(top) == whole, record.seen[at]
    assert refused > 8


def test_a_file_that_cannot_be_restored_is_named_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box, rename = write_box(tmp_path / "box"), os.rename

    def only_aside(source: Path, target: Path) -> None:
        if Path(target).name != "old":
            raise OSError(30, "Read-only file system", str(target))
        rename(source, target)

    monkeypatch.setattr(os, "rename", only_aside)
    with pytest.raises(InputError, match="could not be restored") as caught:
        replace_box(box)
    (kept,) = tmp_path.iterdir()
    assert f"{kept}/old" in str(caught.value)
    assert (kept / "old/a.txt").read_text() == "old"
    monkeypatch.setattr(os, "rename", rename)
    check_folder(box, BOX)
    assert (box / "a.txt").read_text() == "old"
    assert list(tmp_path.iterdir()) == [box]


def test_training_into_the_project_folder_changes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scratch clone, `.git` included, is unchanged after each output that once destroyed it."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout of git")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{ROOT}", str(clone)], check=True)
    (clone / "notes").mkdir()
    (clone / "notes/thesis.tex").write_text("years of work")
    for folder in ("data/stsb", "data/wiki-small", "backbones/words-50d"):
        (clone / folder).mkdir(parents=True)
    monkeypatch.chdir(clone)
    before = tree(clone)
    for out in (".", "", "..", "notes", "reports", ".git", "harness", "params.yaml", "data", "/proc/x/y"):
        assert main(["stage", "train", RUN, "--out", out, "--device", "cpu"]) == 2, out
        assert main(["publish", "simcse-small", "--out", out]) == 2, out
    assert tree(clone) == before


def test_a_missing_folder_is_an_error_before_heavy_imports(tmp_path: Path) -> None:
    code = (
        "import sys; from harness.cli import main\n"
        "print([main([name, '/nowhere']) for name in ('evaluate', 'mteb')])\n"
        "print({'torch', 'transformers', 'numpy', 'pandas'} & set(sys.modules))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[2, 2]\nset()\n"
    line = "sentbench: /nowhere: no such folder, expected an encoder folder; check the path\n"
    assert done.stderr == line * 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["list", "sources"], ["--help"], ["list", "--help"], ["--version"]])
def test_a_reader_that_closes_the_pipe_early_is_not_an_error(words: list[str]) -> None:
    """The exit code is that of a command that SIGPIPE ended."""
    assert without_reader(words, buffered=True) == (141, b"")
    code, errors = without_reader(words, buffered=False)
    by_argparse = words[-1].startswith("--")  # which passes over what it cannot write
    assert code in ([0, 141] if by_argparse else [141])
    assert errors == b""


@pytest.mark.parametrize("buffered", [True, False])
def test_a_refused_command_has_its_line_without_a_reader_of_its_output(buffered: bool) -> None:
    code, errors = without_reader(["list", "nothing"], buffered=buffered)
    assert code == 2
    assert errors.startswith(b"sentbench: list: ")
    assert errors.count(b"\n") == 1


@pytest.mark.parametrize("words", [["list", "sources"], ["--help"], ["--version"]])
def test_an_output_on_a_full_disk_is_one_line(words: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        command = start_command(words, full, buffered=True)
        _, errors = command.communicate()
    assert command.returncode == 2
    assert re.fullmatch(rb"sentbench: (.* or )?the output: No space left on device.*\n", errors)


def without_reader(words: list[str], *, buffered: bool) -> tuple[int, bytes]:
    """Returns the exit code of a command whose reader has gone, and its errors."""
    command = start_command(words, subprocess.PIPE, buffered=buffered)
    assert command.stdout is not None
    command.stdout.close()
    _, errors = command.communicate()
    return command.returncode, errors


def start_command(words: list[str], output: IO[bytes] | int, *, buffered: bool) -> subprocess.Popen[bytes]:
    code = "import sys; from harness.cli import main; sys.exit(main(sys.argv[1:]))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)} | ({} if buffered else {"PYTHONUNBUFFERED": "1"})
    python = [sys.executable, "-c", code, *words]
    return subprocess.Popen(python, env=environment, cwd=ROOT, stdout=output, stderr=subprocess.PIPE)


@pytest.mark.parametrize("part", ["tables", "pages", "papers"])
def test_the_report_of_a_clone_can_be_replaced_and_a_file_next_to_it_not(tmp_path: Path, part: str) -> None:
    shutil.copytree(ROOT / "reports" / part, tmp_path / part)
    check_folder(tmp_path / part, FILE_RECORD)
    (tmp_path / part / "notes.md").write_text("mine")
    with pytest.raises(InputError, match=r"contains other files .notes\.md"):
        check_folder(tmp_path / part, FILE_RECORD)


def test_a_folder_of_another_kind_is_kept(tmp_path: Path) -> None:
    """Its own record lists its files, and so the record of another kind would be lost with it."""
    write_box(tmp_path / "box")
    with pytest.raises(InputError, match="contains other files"):
        check_folder(tmp_path / "box", "run.json")


def test_a_folder_of_empty_folders_is_kept(tmp_path: Path) -> None:
    (tmp_path / "data/stsb").mkdir(parents=True)
    with pytest.raises(InputError, match=r"contains other files .stsb"):
        check_folder(tmp_path / "data", BOX)


def test_a_folder_without_a_record_gets_one_that_lists_its_files(tmp_path: Path) -> None:
    with new_folder(tmp_path / "made", BOX) as part:
        (part / "lid").mkdir()
        (part / "lid/a.txt").write_text("new")
    record = read_manifest(tmp_path / "made" / BOX, again="again")
    assert [*record["files"]] == ["lid/a.txt"]


def test_a_second_writer_of_one_output_is_refused_while_the_first_writes(tmp_path: Path) -> None:
    def second() -> None:
        with new_outputs({tmp_path / "fresh": None, tmp_path / "box": BOX}):
            pytest.fail("the work began")

    with new_folder(tmp_path / "box", BOX) as part:
        write_box(part, "first")
        with pytest.raises(InputError, match="another process is writing it"):
            second()
        assert [path.name for path in tmp_path.iterdir()] == [".box.part"]
    assert (tmp_path / "box/a.txt").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["box"]
