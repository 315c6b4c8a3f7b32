"""The page of speed: a row a result, a column a machine that measured, and above them the goals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from harness.report.measurements import (
    Benchmark,
    BenchmarkResult,
    Machine,
    PeerCost,
    goals,
    load_measurements,
    plain,
)
from harness.report.pages.content import Page, Report

Named = TypeVar("Named", Benchmark, BenchmarkResult, PeerCost)
Rows = dict[str, list[Named | None]]
"""Entries by name: for each machine its own, None where it has none."""


def by_name(machines: Sequence[Iterable[Named]]) -> Rows[Named]:
    """Returns the entries of every machine by name."""
    found = [{entry.name: entry for entry in entries} for entries in machines]
    names = dict.fromkeys(name for entries in found for name in entries)
    return {name: [entries.get(name) for entries in found] for name in names}


def parts_of(entries: Sequence[Any], part: str) -> Rows[Any]:
    """Returns the results of a benchmark, or the peers of a result, by name."""
    return by_name([getattr(entry, part) if entry else () for entry in entries])


def effort_of(held: Sequence[Benchmark | None]) -> dict[str, None]:
    """Returns with how much each machine measured a benchmark, each way once."""
    efforts: dict[str, None] = {}
    for one in filter(None, held):
        rounds, threads = (
            f"{count} {word}{'' if count == 1 else 's'}"
            for count, word in ((one.rounds, "round"), (one.threads, "thread"))
        )
        efforts[f"{rounds}, {threads}"] = None
    return efforts


def software_of(machine: Machine) -> dict[str, tuple[str, ...]]:
    """Returns the packages that a machine's figures were measured with, in words, and by which benchmarks."""
    found: dict[str, tuple[str, ...]] = {}
    for benchmark in machine.benchmarks:
        versions = {"Python": benchmark.python, **benchmark.versions}
        words = ", ".join(f"{library} {version}" for library, version in versions.items())
        found[words] = (*found.get(words, ()), benchmark.name)
    return found


def speed_values(report: Report) -> dict[str, Any] | None:
    """Returns what the page shows; None where nothing was measured."""
    measured = load_measurements(report.measurements) if report.measurements else None
    if measured is None:
        return None
    return {
        "machines": measured.machines,
        "goals": goals(measured),
        "benchmarks": by_name([machine.benchmarks for machine in measured.machines]),
        "parts_of": parts_of,
        "effort_of": effort_of,
        "software_of": software_of,
        "plain": plain,
    }


PAGE = Page("Speed", "pages/speed.html", "speed.html.j2", speed_values, order=6, group="About")
