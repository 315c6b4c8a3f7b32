"""A process is killed before each change of its outputs; the next command restores the previous ones."""

import fcntl
import json
import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from harness.io import outputs
from harness.io.outputs import Layout, check_folder, clear_leftovers, new_outputs
from tests.faults.refusals import Refusal, refusing
from tests.faults.trees import tree

pytestmark = pytest.mark.thorough
BOX = Layout("a box", {"box.json": ("sides",)}, ("*.txt",))
FORK = multiprocessing.get_context("fork")


def fill(box: Path, page: Path, text: str) -> None:
    (box / "a.txt").write_text(text)
    (box / "box.json").write_text(json.dumps({"sides": 4, "text": text}))
    page.write_text(text)


def write(top: Path, text: str, refusal: Refusal) -> None:
    """Writes a folder and a file as one set of outputs."""
    with refusing(refusal), new_outputs({top / "box": BOX, top / "page": None}) as new:
        fill(new[top / "box"], new[top / "page"], text)


def kill(path: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def part_of(actual: dict[str, bytes | str | None], output: str) -> dict[str, bytes | str | None]:
    return {name: value for name, value in actual.items() if name.split("/")[0] == output}


@pytest.mark.parametrize("replaced", [True, False], ids=["replaced", "new"])
def test_a_kill_before_any_change_leaves_each_output_old_or_new_without_other_files(
    tmp_path: Path, replaced: bool
) -> None:
    """Of a set each output is whole: the kill may come between the exchange of one and of the next."""
    write(tmp_path, "new", Refusal(tmp_path))
    new, actual = tree(tmp_path), []
    for at in range(1000):
        top = tmp_path / "tried" / str(at)
        top.mkdir(parents=True)
        if replaced:
            write(top, "old", Refusal(top))
        old = tree(top)
        process = FORK.Process(target=write, args=(top, "new", Refusal(top, kill, at)))
        process.start()
        process.join()
        left = tree(top)
        check_folder(top / "box", BOX)
        clear_leftovers(top / "page")
        settled = tree(top)
        for output in ("box", "page"):
            assert part_of(settled, output) in (part_of(old, output), part_of(new, output)), (at, output)
        assert {name.split("/")[0] for name in settled} <= {"box", "page"}, at
        if process.exitcode == 0:
            break
        assert process.exitcode == -signal.SIGKILL
        actual.append((left != settled, settled == old, settled == new))
    assert (left, settled) == (new, new)
    assert any(cleared and was_old for cleared, was_old, _ in actual)
    assert any(cleared and was_new for cleared, _, was_new in actual)


def test_files_of_a_running_process_are_kept(tmp_path: Path) -> None:
    work = tmp_path / ".page.abcd1234.part"
    work.mkdir()
    (work / "old").write_text("old")
    handle = os.open(work, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    before = tree(tmp_path)
    outputs.check_file(tmp_path / "page")
    assert tree(tmp_path) == before
    os.close(handle)
    clear_leftovers(tmp_path / "page")
    assert tree(tmp_path) == {"page": b"old"}
