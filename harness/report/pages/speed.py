"""Speed as measured by `python -m benchmarks`: its file as typed values, and the words of the page."""

from __future__ import annotations

from pathlib import Path

from harness.declarations import Declaration, read_record
from harness.errors import InputError

AGAIN = "measure again by `python -m benchmarks`"


class Spread(Declaration):
    """Median and range over the rounds."""

    median: float
    low: float
    high: float

    def told(self, unit: str = "") -> str:
        """Returns the median with its range, to three digits."""
        single = self.low == self.high
        reach = "" if single else f" ({plain(self.low)} to {plain(self.high)})"
        return f"{plain(self.median)}{' ' + unit if unit else ''}{reach}"


class PeerCost(Declaration):
    """What a user would otherwise run, and how many times our cost it is."""

    name: str
    cost: Spread
    ratio: Spread
    target: float | None

    @property
    def verdict(self) -> str:
        """`met` or `not met`; empty where the peer only gives scale."""
        return "" if self.target is None else _verdict(self.ratio.median >= self.target)


class BenchmarkResult(Declaration):
    """One line of a benchmark; the fields are those of `benchmarks.measurement.Result`."""

    name: str
    unit: str
    ours: Spread
    peers: tuple[PeerCost, ...]
    limit: float | None
    agreement: str
    note: str
    gemm: Spread | None
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
    """The file that `python -m benchmarks` writes."""

    machine: Machine
    benchmarks: tuple[Benchmark, ...]

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
