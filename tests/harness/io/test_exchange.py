"""An exchange of several outputs at any of its steps: all old or all new, also if undoing it is killed."""

import os
from pathlib import Path

import pytest

from harness.io import outputs
from harness.io.outputs import new_outputs

NAMES = ("first", "second", "third")


class Killed(BaseException):
    """The process ends here: nothing after it runs."""


def contents() -> set[str]:
    return {Path(name).read_text() for name in NAMES if Path(name).exists()}


def exchange_new() -> None:
    with new_outputs({Path(name): None for name in NAMES}) as parts:
        for part in parts.values():
            part.write_text("new")


@pytest.mark.parametrize("again", NAMES)
@pytest.mark.parametrize("fails", range(1, 7))
@pytest.mark.parametrize("killed", [None, *range(1, 7)])
def test_whatever_fails_and_whenever_it_is_killed_the_next_call_finds_all_old_or_all_new(
    again: str, fails: int, killed: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six renames: each old version aside and each new one to its place. One fails, and while the moves are
    undone the process is killed before a later rename. The next call may be for any one of them.
    """
    monkeypatch.chdir(tmp_path)
    for name in NAMES:
        Path(name).write_text("old")
    renames, rename = [0], os.rename

    def counted(source: Path, target: Path) -> None:
        renames[0] += 1
        if renames[0] == fails:
            raise OSError(5, "Input/output error")
        if killed is not None and renames[0] >= fails + killed:
            raise Killed
        rename(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(outputs.os, "rename", counted)
        with pytest.raises((OSError, Killed)):
            exchange_new()
    with pytest.raises(RuntimeError), new_outputs({Path(again): None}):  # settles what was left
        raise RuntimeError
    assert contents() in ({"old"}, {"new"}), contents()
