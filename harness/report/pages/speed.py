"""The page of speed: a row a result, a column a machine that measured, and above them the goals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.report.measurements import (
    Benchmark,
    BenchmarkResult,
    Machine,
    Measurements,
    PeerCost,
    goals,
    load_measurements,
    plain,
)
from harness.report.pages.content import Report
from harness.report.pages.declared import Page

Named = TypeVar("Named", Benchmark, BenchmarkResult, PeerCost)
Rows = dict[str, list[Named | None]]
"""Entries by name: for each machine its own, None where it has none."""


@dataclass(frozen=True)
class BenchmarkTable:
    """A benchmark over all machines. title: its name for a reader; effort: rounds and threads of each."""

    name: str
    title: str
    effort: tuple[str, ...]
    results: Rows[BenchmarkResult]


def by_name(machines: Sequence[Iterable[Named]]) -> Rows[Named]:
    """Returns the entries of every machine by name."""
    found = [{entry.name: entry for entry in entries} for entries in machines]
    names = dict.fromkeys(name for entries in found for name in entries)
    return {name: [entries.get(name) for entries in found] for name in names}


def benchmark_tables(machines: Sequence[Machine]) -> list[BenchmarkTable]:
    """Returns a table for each benchmark that any machine measured."""
    return [
        BenchmarkTable(
            name,
            name.replace("_", " ").capitalize(),
            tuple(dict.fromkeys(_effort(benchmark) for benchmark in held if benchmark)),
            by_name([benchmark.results if benchmark else () for benchmark in held]),
        )
        for name, held in by_name([machine.benchmarks for machine in machines]).items()
    ]


def peers_of(results: Sequence[BenchmarkResult | None]) -> Rows[PeerCost]:
    """Returns the peers of one result by name."""
    return by_name([result.peers if result else () for result in results])


def _effort(measured: Benchmark) -> str:
    """Returns with how much a benchmark was measured."""
    rounds, threads = (
        f"{count} {word}{'' if count == 1 else 's'}"
        for count, word in ((measured.rounds, "round"), (measured.threads, "thread"))
    )
    return f"{rounds}, {threads}"


def software_of(machine: Machine) -> dict[str, tuple[str, ...]]:
    """Returns the packages that a machine's figures were measured with, in words, and by which benchmarks."""
    found: dict[str, tuple[str, ...]] = {}
    for benchmark in machine.benchmarks:
        versions = {"Python": benchmark.python, **benchmark.versions}
        words = ", ".join(f"{library} {version}" for library, version in versions.items())
        found[words] = (*found.get(words, ()), benchmark.name)
    return found


def speed_values(measured: Measurements) -> dict[str, Any]:
    """Returns what the page shows."""
    return {
        "machines": measured.machines,
        "goals": goals(measured),
        "tables": benchmark_tables(measured.machines),
        "peers_of": peers_of,
        "software_of": software_of,
        "plain": plain,
    }


def _recorded_speed(report: Report) -> dict[str, Any] | None:
    measured = load_measurements(report.measurements) if report.measurements else None
    return speed_values(measured) if measured else None


PAGE = Page("Speed", "pages/speed.html", "speed.html.j2", _recorded_speed, order=6, group="About")
