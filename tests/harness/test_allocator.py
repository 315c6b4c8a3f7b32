"""Large blocks go back to the system as they are freed, in a process that asked for it and in no other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness import allocator
from harness.allocator import VARIABLES, return_large_blocks
from harness.stages import train

FREED = """
import sys
from harness.allocator import return_large_blocks

def resident():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS"))

if sys.argv[1] == "returned" and not return_large_blocks():
    sys.exit("this C library was not set")
del (once := bytearray(b"x" * 30 * 2**20))[:]
blocks = [bytearray(b"x" * 2**21) for _ in range(50)]
held = resident()
del blocks[::2]
print((held - resident()) * 1024 / 2**20)
"""
"""Prints how many MiB of 50 came back after every second block of 2 MiB was freed."""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads memory from Linux' /proc")
@pytest.mark.parametrize(("how", "least", "most"), [("returned", 45.0, 55.0), ("as-it-comes", -5.0, 5.0)])
def test_gaps_between_large_blocks_are_given_back_only_where_that_was_asked(
    how: str, least: float, most: float
) -> None:
    """As it comes glibc puts blocks of 2 MiB into its heap once one of 30 MiB was freed, and keeps gaps."""
    done = subprocess.run([sys.executable, "-c", FREED, how], capture_output=True, text=True, check=True)
    assert least <= float(done.stdout) <= most


@pytest.mark.parametrize("name", VARIABLES)
def test_who_sets_a_variable_decides(name: str) -> None:
    assert return_large_blocks({name: "65536"}) is False


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocator.platform, "libc_ver", lambda: ("", ""))
    monkeypatch.setattr(allocator.ctypes, "CDLL", lambda name: pytest.fail("its functions were asked for"))
    assert return_large_blocks({}) is False


def test_a_training_asks_before_its_weights_are_loaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[str] = []

    def load(*given: Any, **settings: Any) -> None:
        assert asked == ["large blocks"]
        raise InterruptedError

    monkeypatch.setattr(train, "return_large_blocks", lambda: asked.append("large blocks"))
    monkeypatch.setattr(train, "build_trainer", load)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InterruptedError):
        train._train(None, "key", Path("artefact"), "identity", device="cpu", resume=True)  # type: ignore[arg-type]
