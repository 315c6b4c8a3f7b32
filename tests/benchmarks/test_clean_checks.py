"""Clean checks: each way of computing once, in a process of its own that has its settings."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

from benchmarks import clean_checks
from benchmarks.clean_checks import INSTRUCTIONS, WAYS, Arithmetic, as_markdown, measured


def test_there_are_twenty_ways_at_least_and_none_twice() -> None:
    assert len(set(WAYS)) == len(WAYS) >= 20
    assert {way.onednn for way in WAYS} == {True, False}
    assert {way.instructions for way in WAYS} == set(INSTRUCTIONS)


def test_each_way_runs_in_a_process_that_has_its_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, str | None]] = []

    def run(command: list[str], *, env: dict[str, str], **_: Any) -> subprocess.CompletedProcess[str]:
        seen.append((command[-1], env.get("ATEN_CPU_CAPABILITY", os.environ.get("ATEN_CPU_CAPABILITY"))))
        said = ["simcse: loss"] if command[-1] == "1" else []
        return subprocess.CompletedProcess(command, 0, stdout=f"word\n{json.dumps(said)}\n")

    monkeypatch.setattr(clean_checks.subprocess, "run", run)
    found = dict(measured())
    assert [place for place, _ in seen] == [str(number) for number in range(len(WAYS))]
    assert {capability for _, capability in seen} >= {"avx2", "default"}
    assert [way for way, lines in found.items() if lines] == [WAYS[1]]


def test_the_table_counts_false_alarms() -> None:
    way, other = Arithmetic(1, True, "AVX2"), Arithmetic(2, False, "AVX2")
    lines = as_markdown({way: [], other: ["a|b", "c"]}).splitlines()
    assert "1 of 2 checks" in lines[2]
    assert lines[-2:] == ["| 1 | oneDNN's | AVX2 | 0 |", "| 2 | torch's own | AVX2 | 2, first: a/b |"]
