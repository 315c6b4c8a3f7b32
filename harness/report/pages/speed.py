"""Speed as measured by `python -m benchmarks`: its file as typed values, and the words of the page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.declarations import Declaration, read_record
from harness.errors import InputError
from harness.records import read_object
from harness.report.pages.content import Paper, Report
from harness.report.pages.declared import Page

AGAIN = "measure again by `python -m benchmarks`"


class MedianRange(Declaration):
    """Median and range over the rounds."""

    median: float
    low: float
    high: float

    def text(self, unit: str = "") -> str:
        """Returns the median with its range, to three digits."""
        single = self.low == self.high
        bounds = "" if single else f" ({plain(self.low)} to {plain(self.high)})"
        return f"{plain(self.median)}{' ' + unit if unit else ''}{bounds}"


class PeerCost(Declaration):
    """What a user would otherwise run, and how many times our cost it is."""

    name: str
    cost: MedianRange
    ratio: MedianRange
    target: float | None

    @property
    def verdict(self) -> str:
        """`met` or `not met`; empty where the peer only gives scale."""
        return "" if self.target is None else _verdict(self.ratio.median >= self.target)


class BenchmarkResult(Declaration):
    """One line of a benchmark; the fields are those of `benchmarks.measurement.Result`."""

    name: str
    unit: str
    ours: MedianRange
    peers: tuple[PeerCost, ...]
    limit: float | None
    agreement: str
    note: str
    gemm: MedianRange | None
    met: bool | None

    @property
    def verdict(self) -> str:
        """`met` or `not met` over all targets; empty where there is none."""
        return "" if self.met is None else _verdict(self.met)


class Benchmark(Declaration):
    """The results of one module of benchmarks/; rounds and threads may differ between two."""

    name: str
    rounds: int
    threads: int
    results: tuple[BenchmarkResult, ...]


class Machine(Declaration):
    """What everything was measured on."""

    processor: str
    cores: int
    device: str
    precision: str
    python: str
    versions: dict[str, str]


class Measurements(Declaration):
    """The file that `python -m benchmarks` writes; digest: of all the rest, where it was sealed."""

    machine: Machine
    benchmarks: tuple[Benchmark, ...]
    digest: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """How many results met their targets, and how many did not."""
        verdicts = [result.verdict for benchmark in self.benchmarks for result in benchmark.results]
        return {word: verdicts.count(word) for word in ("met", "not met")}


def load_measurements(path: Path) -> Measurements | None:
    """Returns the measurements of a file; None where there is none.

    Errors: InputError if the file is not what the benchmarks write.
    """
    if not path.is_file():
        return None
    read_object(path, "machine", "benchmarks", again=f"write it again or {AGAIN}")
    try:
        return read_record(path, Measurements)
    except InputError as error:
        raise InputError(f"{error} or {AGAIN}") from None


def plain(number: float) -> str:
    """Returns a number to three digits, without an exponent."""
    if number == 0:
        return "0"
    return f"{number:.0f}" if abs(number) >= 100 else f"{number:.3g}"


def _verdict(met: bool) -> str:
    return "met" if met else "not met"


def speed_values(measured: Measurements, papers: Iterable[Paper] = ()) -> dict[str, Any]:
    """Returns what the page shows; a benchmark named as one of `papers` has that paper's short title."""
    titles = {paper.key: paper.short for paper in papers}
    titles = {found.name: titles.get(found.name, found.name.capitalize()) for found in measured.benchmarks}
    return {"measured": measured, "plain": plain, "titles": titles}


def _recorded_speed(report: Report) -> dict[str, Any] | None:
    measured = load_measurements(report.measurements) if report.measurements else None
    return speed_values(measured, report.papers) if measured else None


PAGE = Page("Speed", "pages/speed.html", "speed.html.j2", _recorded_speed, order=6)
