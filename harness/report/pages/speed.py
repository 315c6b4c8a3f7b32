"""The page of speed: a row a result, a column a machine that measured, and above them the goals."""

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
from harness.report.verification import counted

Named = TypeVar("Named", Benchmark, BenchmarkResult, PeerCost)


def by_name(machines: Iterable[Iterable[Named]]) -> dict[str, list[Named | None]]:
    """Returns the entries by name: for each machine its own, None where it has none."""
    found = [{entry.name: entry for entry in entries} for entries in machines]
    names = dict.fromkeys(name for entries in found for name in entries)
    return {name: [entries.get(name) for entries in found] for name in names}


def effort_of(held: Sequence[Benchmark | None]) -> dict[str, None]:
    """Returns with how much each machine measured a benchmark, each way once."""
    return {
        f"{counted(one.rounds, 'round')}, {counted(one.threads, 'thread')}": None
        for one in held
        if one is not None
    }


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
        "benchmarks": by_name(machine.benchmarks for machine in measured.machines),
        "by_name": by_name,
        "effort_of": effort_of,
        "software_of": software_of,
        "plain": plain,
    }


PAGE = Page("Speed", "pages/speed.html", "speed.html.j2", speed_values, order=6, group="About")
