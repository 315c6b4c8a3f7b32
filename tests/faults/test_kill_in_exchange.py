"""A process ends before each change of its outputs, killed or by Ctrl-C: all outputs are old, or all new."""

import fcntl
import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.io.outputs import check_file, check_folder, new_outputs
from tests.faults.refusals import Refusal, refusing
from tests.faults.trees import tree

BOX = "box.json"
FORK = multiprocessing.get_context("fork")


def write(top: Path, text: str, refusal: Refusal) -> None:
    """Writes a folder and two files as one set of outputs."""
    outputs = {top / "page": None, top / "box": BOX, top / "deep/curve": None}
    with refusing(refusal), new_outputs(outputs) as new:
        for part in (new[top / "page"], new[top / "box"] / "a.txt", new[top / "deep/curve"]):
            part.write_text(text)


def kill(path: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt(path: str) -> None:
    raise KeyboardInterrupt


def killed(top: Path, at: int) -> int | None:
    """Kills a writing process before change number `at`; returns its exit code."""
    process = FORK.Process(target=write, args=(top, "new", Refusal(top, kill, at)))
    process.start()
    process.join()
    return process.exitcode


def interrupted(top: Path, at: int) -> int | None:
    """Interrupts writing in this process before change number `at`."""
    try:
        write(top, "new", Refusal(top, interrupt, at))
    except KeyboardInterrupt:
        return None
    return 0


def interrupted_again_and_again(top: Path, at: int) -> int | None:
    """Interrupts also every later change, as a user who presses Ctrl-C until the process ends."""
    try:
        write(top, "new", Refusal(top, interrupt, at, for_good=True))
    except KeyboardInterrupt:
        return None
    return 0


@pytest.mark.parametrize("end", [killed, interrupted, interrupted_again_and_again])
@pytest.mark.parametrize(
    "replaced", [True, pytest.param(False, marks=pytest.mark.thorough)], ids=["replaced", "new"]
)
@pytest.mark.parametrize(
    "first", ["page", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("box", "deep/curve"))]
)
def test_an_end_before_any_change_leaves_all_outputs_old_or_all_new(
    tmp_path: Path, end: Callable[[Path, int], int | None], replaced: bool, first: str
) -> None:
    """After the next command for any one of the outputs; nothing else is left."""
    write(tmp_path / "whole", "new", Refusal(None))
    new, left = tree(tmp_path / "whole"), []
    for at in range(1000):
        top = tmp_path / "tried" / str(at)
        top.mkdir(parents=True)
        if replaced:
            write(top, "old", Refusal(None))
        old, code = tree(top), end(top, at)
        check_folder(top / "box", BOX) if first == "box" else check_file(top / first)
        for other in (top / "page", top / "deep/curve"):
            check_file(other)
        check_folder(top / "box", BOX)
        settled = tree(top)
        files = {name: value for name, value in settled.items() if value is not None}
        assert files in ({n: v for n, v in old.items() if v is not None}, new_files(new)), at
        if code == 0:
            break
        left.append(files == new_files(new))
    assert settled == new
    assert left == sorted(left)
    assert {*left} == {False, True}


def new_files(actual: dict[str, bytes | str | None]) -> dict[str, bytes | str | None]:
    return {name: value for name, value in actual.items() if value is not None}


def test_what_a_killed_exchange_left_is_restored_in_a_moved_folder_too(tmp_path: Path) -> None:
    """The list of outputs has the former paths; the next command never touches those."""
    write(tmp_path / "a", "old", Refusal(None))
    old = tree(tmp_path / "a")
    for at in range(100):
        shutil.rmtree(tmp_path / "b", ignore_errors=True)
        shutil.copytree(tmp_path / "a", tmp_path / "b")
        ended = killed(tmp_path / "b", at)
        shutil.rmtree(tmp_path / "c", ignore_errors=True)
        shutil.copytree(tmp_path / "b", tmp_path / "c")
        before = tree(tmp_path / "b")
        for path in ("page", "deep/curve"):
            check_file(tmp_path / "c" / path)
        check_folder(tmp_path / "c/box", BOX)
        assert tree(tmp_path / "b") == before
        assert tree(tmp_path / "c").keys() == old.keys()
        if ended == 0:
            return
    pytest.fail("the writing never ended")


def settle(path: Path, refusal: Refusal) -> None:
    """The next command for one of the outputs."""
    with refusing(refusal):
        check_file(path)


@pytest.mark.parametrize("second", ["page", "deep/curve"])
def test_a_command_that_is_killed_while_it_settles_leaves_all_old_or_all_new_to_the_next(
    tmp_path: Path, second: str
) -> None:
    """The writing was killed before or after it moved the first output. A command for that output settles it
    and is killed too; the next command is for the first output or the last."""
    write(tmp_path / "old", "old", Refusal(None))
    write(tmp_path / "new", "new", Refusal(None))
    old, new = tree(tmp_path / "old"), tree(tmp_path / "new")
    moves = Refusal(tmp_path / "whole")
    shutil.copytree(tmp_path / "old", tmp_path / "whole")
    write(tmp_path / "whole", "new", moves)
    names = [(event, str(Path(path).relative_to(tmp_path / "whole"))) for event, path in moves.seen]
    first_move = names.index(("os.rename", "page"))
    for at in (first_move, first_move + 2):
        for place in range(100):
            top = tmp_path / f"{at}-{place}"
            shutil.copytree(tmp_path / "old", top)
            assert killed(top, at) == -signal.SIGKILL
            settling = FORK.Process(target=settle, args=(top / "page", Refusal(top, kill, place)))
            settling.start()
            settling.join()
            settle(top / second, Refusal(None))
            settle(top / "page", Refusal(None))
            files = new_files(tree(top))
            assert files in (new_files(old), new_files(new)), (at, place)
            if settling.exitcode == 0:
                break
        assert 0 < place < 99


def test_files_of_a_running_process_are_kept(tmp_path: Path) -> None:
    work = tmp_path / ".page.part"
    work.mkdir()
    (work / "old").write_text("old")
    handle = os.open(work, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    before = tree(tmp_path)
    check_file(tmp_path / "page")
    assert tree(tmp_path) == before
    os.close(handle)
    check_file(tmp_path / "page")
    assert tree(tmp_path) == {"page": b"old"}


def test_a_file_of_the_user_where_a_killed_exchange_ended_is_kept(tmp_path: Path) -> None:
    """The exchange moved the page, and the box waits; a letter came into the box meanwhile."""
    write(tmp_path, "old", Refusal(None))
    moves = Refusal(tmp_path)
    write(tmp_path, "new", moves)
    boxes = [n for n, seen in enumerate(moves.seen) if seen == ("os.rename", str(tmp_path / "box"))]
    write(tmp_path, "old", Refusal(None))
    assert killed(tmp_path, boxes[-1]) == -signal.SIGKILL
    (tmp_path / "box/letter.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"contains other files .letter\.txt"):
        check_file(tmp_path / "page")
    assert (tmp_path / "box/letter.txt").read_text() == "mine"
