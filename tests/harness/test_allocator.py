"""Memory that a step frees is there for the next one; who sets a variable of the allocator decides."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from harness import allocator
from harness.allocator import DECIDED, allocator_settings, keep_freed_memory
from harness.launch import local
from harness.launch.local import worker_settings

CODE = """
import resource, sys
from harness.allocator import keep_freed_memory
if "keep" in sys.argv:
    keep_freed_memory()
for turn in range(6):
    if turn == 1:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    blocks = [bytearray(b"1") * (20 * 2**20) for _ in range(5)]
    del blocks
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
"""Prints how many pages five turns asked for of 25,600 each, after a first one."""


@pytest.fixture(autouse=True)
def undecided(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in DECIDED:
        monkeypatch.delenv(name, raising=False)
    allocator.installed.cache_clear()
    yield
    allocator.installed.cache_clear()


def pages(*words: str, **settings: str) -> int:
    environment = {**os.environ, **settings}
    command = [sys.executable, "-c", CODE, *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif("glibc" not in os.confstr("CS_GNU_LIBC_VERSION"), reason="glibc's settings")
def test_blocks_that_were_freed_are_used_again() -> None:
    """The system gives new pages without it, and hardly any with it unless a variable decides."""
    assert pages() > 100  # of 4 KiB more than 100,000
    assert pages("keep") < 20
    assert pages("keep", MALLOC_TRIM_THRESHOLD_="131072") > 100


@pytest.mark.parametrize("name", DECIDED)
def test_who_sets_one_of_the_variables_decides(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: object) -> None:
        raise AssertionError("asked for")

    monkeypatch.setenv(name, "")
    monkeypatch.setattr(ctypes, "CDLL", refused)
    monkeypatch.setattr(ctypes.util, "find_library", refused)
    keep_freed_memory()
    assert allocator_settings() == {}


def test_an_allocator_without_glibcs_settings_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    keep_freed_memory()


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ({}, {}),
        ({"tcmalloc": "libtcmalloc.so.4"}, {"LD_PRELOAD": "libtcmalloc.so.4"}),
        (
            {"tcmalloc": "libtcmalloc.so.4", "tcmalloc_minimal": "libtcmalloc_minimal.so.4"},
            {"LD_PRELOAD": "libtcmalloc_minimal.so.4"},
        ),
    ],
)
def test_tcmalloc_is_preloaded_where_it_is_installed(
    there: dict[str, str], expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ctypes.util, "find_library", there.get)
    assert allocator_settings() == expected


def test_workers_start_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "allocator_settings", lambda: {"LD_PRELOAD": "a library"})
    assert worker_settings(2)["LD_PRELOAD"] == "a library"
