"""The page of speed: a row a result, a column a machine that measured, former figures beside the new."""

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
    MedianRange,
    PeerCost,
    headlines,
    load_measurements,
)
from harness.report.pages.content import Paper, Report
from harness.report.pages.declared import Page

Named = TypeVar("Named", Benchmark, BenchmarkResult, PeerCost)


@dataclass(frozen=True)
class Figure:
    """What one machine measured of a row. `before` and `cost` are empty where there is nothing to say.

    now: the median, `–` where only a former figure is known; bounds: range over the rounds. cost: what a
    peer takes. verdict: `met` or `not met`, empty without a target.
    """

    now: str
    bounds: str = ""
    cost: str = ""
    before: str = ""
    target: str = ""
    verdict: str = ""


@dataclass(frozen=True)
class Row:
    """A result, or one of its peers: a figure for each machine, None where one did not measure it.

    lowest: the least ratio over the machines, empty for a cost.
    """

    name: str
    peer: bool
    figures: tuple[Figure | None, ...]
    lowest: str = ""


@dataclass(frozen=True)
class Remark:
    """What a machine's result says beside its figures; `missed` if a target is not met."""

    machine: str
    agreement: str
    note: str
    missed: bool


@dataclass(frozen=True)
class Group:
    """A result with its peers and remarks."""

    rows: tuple[Row, ...]
    remarks: tuple[Remark, ...]


@dataclass(frozen=True)
class BenchmarkTable:
    """A benchmark over all machines. title: its name for a reader; effort: rounds and threads of each."""

    name: str
    title: str
    effort: tuple[str, ...]
    groups: tuple[Group, ...]


def plain(number: float) -> str:
    """Returns a number to three digits, without an exponent."""
    if number == 0:
        return "0"
    return f"{number:.0f}" if abs(number) >= 100 else f"{number:.3g}"


def benchmark_tables(machines: Sequence[Machine], titles: Mapping[str, str]) -> list[BenchmarkTable]:
    """Returns a table for each benchmark that any machine measured; `titles` are those not like its name."""
    tables = []
    for name in _names(machine.benchmarks for machine in machines):
        held = [_named(machine.benchmarks, name) for machine in machines]
        measured = [entry for own in held if own for entry in (own.now, own.before) if entry]
        groups = tuple(
            _group(result, machines, held) for result in _names(entry.results for entry in measured)
        )
        effort = dict.fromkeys(_effort(own.now) for own in held if own)
        title = titles.get(name, name.replace("_", " ").capitalize())
        tables.append(BenchmarkTable(name, title, tuple(effort), groups))
    return tables


def _group(name: str, machines: Sequence[Machine], held: Sequence[Benchmark | None]) -> Group:
    """Returns one result over the machines; `held` are their figures of its benchmark."""
    now = [_result(own.now if own else None, name) for own in held]
    before = [_result(own.before if own else None, name) for own in held]
    known = [result for result in (*now, *before) if result]
    rows = [Row(name, False, tuple(map(_cost, now, before)))]
    for peer in _names(result.peers for result in known):
        ratios, former = ([_peer(result, peer) for result in results] for results in (now, before))
        lowest = min((ratio.ratio.median for ratio in ratios if ratio), default=None)
        figures = tuple(_ratio(*both, known[0].unit) for both in zip(ratios, former, strict=True))
        rows.append(Row(peer, True, figures, "" if lowest is None else plain(lowest)))
    remarks = tuple(
        Remark(machine.title, result.agreement.rstrip("."), result.note.rstrip("."), result.met is False)
        for machine, result in zip(machines, now, strict=True)
        if result and (result.agreement or result.note or result.met is False)
    )
    return Group(tuple(rows), remarks)


def _cost(now: BenchmarkResult | None, before: BenchmarkResult | None) -> Figure | None:
    """Returns our cost on one machine."""
    former = f"{plain(before.ours.median)} {before.unit}" if before else ""
    if now is None:
        return Figure("–", before=former) if former else None
    return Figure(
        f"{plain(now.ours.median)} {now.unit}",
        bounds=_bounds(now.ours),
        before=former,
        target="" if now.limit is None else f"at most {plain(now.limit)} {now.unit}",
        verdict=_verdict(now.met),
    )


def _ratio(now: PeerCost | None, before: PeerCost | None, unit: str) -> Figure | None:
    """Returns how many times our cost a peer's is on one machine."""
    former = plain(before.ratio.median) if before else ""
    if now is None:
        return Figure("–", before=former) if former else None
    return Figure(
        plain(now.ratio.median),
        bounds=_bounds(now.ratio),
        cost=f"{plain(now.cost.median)} {unit}",
        before=former,
        target="" if now.target is None else f"at least {plain(now.target)}",
        verdict=_verdict(now.met),
    )


def _bounds(spread: MedianRange) -> str:
    return "" if spread.low == spread.high else f"({plain(spread.low)} to {plain(spread.high)})"


def _verdict(met: bool | None) -> str:
    return {True: "met", False: "not met", None: ""}[met]


def _effort(measured: Measurement) -> str:
    """Returns with how much a benchmark was measured."""
    rounds, threads = (
        f"{count} {word}{'' if count == 1 else 's'}"
        for count, word in ((measured.rounds, "round"), (measured.threads, "thread"))
    )
    return f"{rounds}, {threads}"


def _names(parts: Iterable[Iterable[Any]]) -> list[str]:
    """Returns the names of all entries of all parts, each once, in their order."""
    return list(dict.fromkeys(entry.name for part in parts for entry in part))


def _named(entries: Iterable[Named], name: str) -> Named | None:
    return next((entry for entry in entries if entry.name == name), None)


def _result(measured: Measurement | None, name: str) -> BenchmarkResult | None:
    return _named(measured.results, name) if measured else None


def _peer(result: BenchmarkResult | None, name: str) -> PeerCost | None:
    return _named(result.peers, name) if result else None


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
        "software_of": software_of,
        "plain": plain,
    }


def _recorded_speed(report: Report) -> dict[str, Any] | None:
    measured = load_measurements(report.measurements) if report.measurements else None
    return speed_values(measured, report.papers) if measured else None


PAGE = Page("Speed", "pages/speed.html", "speed.html.j2", _recorded_speed, order=6)
