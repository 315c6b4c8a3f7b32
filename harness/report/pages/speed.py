"""The page of speed: a row a result, a column a machine that measured, former figures next to the new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.report.measurements import (
    Benchmark,
    BenchmarkResult,
    Machine,
    Measurement,
    Measurements,
    PeerCost,
    headlines,
    load_measurements,
)
from harness.report.pages.content import Paper, Report
from harness.report.pages.declared import Page

Named = TypeVar("Named", Benchmark, BenchmarkResult, PeerCost)
Sides = list[list[Named | None]]
"""For each machine what it measured now and what before; None where it did not."""


@dataclass(frozen=True)
class BenchmarkTable:
    """A benchmark over all machines. title: its name for a reader; effort: rounds and threads of each."""

    name: str
    title: str
    effort: tuple[str, ...]
    results: Mapping[str, Sides[BenchmarkResult]]


def plain(number: float) -> str:
    """Returns a number to three digits, without an exponent."""
    if number == 0:
        return "0"
    return f"{number:.0f}" if abs(number) >= 100 else f"{number:.3g}"


def benchmark_tables(machines: Sequence[Machine], titles: Mapping[str, str]) -> list[BenchmarkTable]:
    """Returns a table for each benchmark that any machine measured; `titles` are those not like its name."""
    tables = []
    for name, held in by_name([[machine.benchmarks] for machine in machines]).items():
        measured = [(own.now, own.before) if own else (None, None) for (own,) in held]
        effort = dict.fromkeys(_effort(now) for now, _ in measured if now)
        results = by_name([[side.results if side else () for side in sides] for sides in measured])
        title = titles.get(name, name.replace("_", " ").capitalize())
        tables.append(BenchmarkTable(name, title, tuple(effort), results))
    return tables


def by_name(sides: Sequence[Sequence[Sequence[Named]]]) -> dict[str, Sides[Named]]:
    """Returns the entries of every side by name: for each machine one a side, None where it has none."""
    names = dict.fromkeys(entry.name for machine in sides for entries in machine for entry in entries)
    found = [[{entry.name: entry for entry in entries} for entries in machine] for machine in sides]
    return {name: [[entries.get(name) for entries in machine] for machine in found] for name in names}


def peers_of(sides: Sides[BenchmarkResult]) -> dict[str, Sides[PeerCost]]:
    """Returns the peers of one result by name."""
    return by_name([[result.peers if result else () for result in machine] for machine in sides])


def _effort(measured: Measurement) -> str:
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
        versions = {"Python": benchmark.now.python, **benchmark.now.versions}
        words = ", ".join(f"{library} {version}" for library, version in versions.items())
        found[words] = (*found.get(words, ()), benchmark.name)
    return found


def speed_values(measured: Measurements, papers: Iterable[Paper] = ()) -> dict[str, Any]:
    """Returns what the page shows; a benchmark named as one of `papers` has that paper's short title."""
    titles = {paper.key: paper.short for paper in papers}
    return {
        "machines": measured.machines,
        "headlines": headlines(measured),
        "tables": benchmark_tables(measured.machines, titles),
        "peers_of": peers_of,
        "software_of": software_of,
        "plain": plain,
    }


def _recorded_speed(report: Report) -> dict[str, Any] | None:
    measured = load_measurements(report.measurements) if report.measurements else None
    return speed_values(measured, report.papers) if measured else None


PAGE = Page("Speed", "pages/speed.html", "speed.html.j2", _recorded_speed, order=6, group="About")
