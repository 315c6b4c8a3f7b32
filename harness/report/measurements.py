"""Records of `python -m benchmarks`: machines, figures and goals, and a section about them."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import InputError
from harness.io.declarations import DeclaredModel, Name, read_record
from harness.io.records import read_object

AGAIN = "measure again by `python -m benchmarks`"

COUNT = re.compile(r" x [\d.]+")
"""A count in the name of a peer, which differs between machines."""
HEADING = "## Goals and machines"
INTRO = """Written by `make generated` from `reports/benchmarks.json`, medians over rounds. At least: the
speed-up of ours over the other tool. At most: the cost of ours, in a unit or relative to the other tool.
The last row is GFLOP/s of fp32 products by oneDNN, which our layers call, and by torch's default. The
file has ranges, rounds and threads, and a profile for a missed goal if it was profiled. Columns were measured
at different times, each with the code of that time."""
MET_WORDS = {True: " met", False: " **missed**"}


def plain_number(number: float) -> str:
    """Returns a number to three digits, without an exponent."""
    if number == 0:
        return "0"
    return f"{number:.0f}" if abs(number) >= 100 else f"{number:.3g}"


class MedianRange(DeclaredModel):
    """Median and range over the rounds."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> MedianRange:
        """Returns median and range of values."""
        return cls(median=statistics.median(values), low=min(values), high=max(values))


class PeerCost(DeclaredModel):
    """An alternative library: its cost, and its ratio to ours within each round. target: the least ratio;
    None for a peer without a target. software: its packages, if they differ from the benchmark's.
    """

    name: str
    cost: MedianRange
    ratio: MedianRange
    target: float | None
    software: str = ""


class BenchmarkResult(DeclaredModel):
    """One line of a benchmark.

    ours: cost in `unit`, lower is better. limit: largest cost of ours. agreement: the comparison of results.
    note: counts, and a profile for a missed target.
    """

    name: str
    unit: str
    ours: MedianRange
    peers: tuple[PeerCost, ...] = ()
    limit: float | None = None
    agreement: str = ""
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether every target and the limit are met; None without either."""
        checks = [peer.ratio.median >= peer.target for peer in self.peers if peer.target is not None]
        checks += [] if self.limit is None else [self.ours.median <= self.limit]
        return all(checks) if checks else None

    def lines(self) -> list[str]:
        """Returns the result as text for a terminal."""
        state = {True: "met", False: "NOT MET", None: ""}[self.met]
        limit = "" if self.limit is None else f"  at most {self.limit:g} {self.unit}"
        ours = self.ours
        lines = [
            f"{self.name}: {ours.median:.4g} {self.unit} ({ours.low:.4g} to {ours.high:.4g}){limit}  {state}"
        ]
        for peer in self.peers:
            wanted = "" if peer.target is None else f", target {peer.target:g}"
            lines.append(
                f"    {peer.name}: {peer.cost.median:.4g} {self.unit}, ratio {peer.ratio.median:.2f} "
                f"({peer.ratio.low:.2f} to {peer.ratio.high:.2f}){wanted}"
            )
        return [*lines, *(f"    {words}" for words in (self.agreement, self.note) if words)]


class Benchmark(DeclaredModel):
    """The figures of one benchmark on one machine, with packages and number of rounds."""

    name: str
    rounds: int
    threads: int
    python: str
    versions: dict[str, str]
    results: tuple[BenchmarkResult, ...]


class ProductRates(DeclaredModel):
    """GFLOP/s of products of two fp32 matrices of 1024 x 1024: by oneDNN, which our linear layers call, and
    by torch's own way, which on x86 processors is MKL.
    """

    threads: int
    onednn: MedianRange
    torch: MedianRange


class Machine(DeclaredModel):
    """The measurements of one machine, identified by processor, model, cores and device. model: the
    processor's family and model, because names are shared; empty if unknown. products: None if not
    measured.
    """

    id: Name
    processor: str
    model: str
    cores: int
    device: str
    products: ProductRates | None
    benchmarks: tuple[Benchmark, ...]

    @property
    def title(self) -> str:
        """Display name."""
        model = f" ({self.model})" if self.model else ""
        device = "" if self.device == "cpu" else f", device {self.device}"
        return f"{self.processor}{model}, {self.cores} cores{device}"


class Measurements(DeclaredModel):
    """The file that `python -m benchmarks` writes; digest: of all other entries, if stated."""

    machines: tuple[Machine, ...]
    digest: str = ""


@dataclass
class Goal:
    """A bound on a figure, the strictest recorded, and the figure of each machine by its title.

    unit: empty for a ratio to a peer, which is the peer's cost over ours for a lower bound, otherwise ours
    over the peer's.
    """

    name: str
    unit: str
    least: bool
    bound: float
    figures: dict[str, float] = field(default_factory=dict)

    @property
    def asked(self) -> str:
        """The bound as text."""
        unit = f" {self.unit}" if self.unit else ""
        return f"{'at least' if self.least else 'at most'} {plain_number(self.bound)}{unit}"

    def met(self, machine: str) -> bool:
        """Returns whether a machine meets the bound."""
        value = self.figures[machine]
        return value >= self.bound if self.least else value <= self.bound


def goals(measured: Measurements) -> list[Goal]:
    """Returns all goals in the order in which they were recorded."""
    by_key: dict[tuple[str, str, bool], Goal] = {}
    for machine in measured.machines:
        for benchmark in machine.benchmarks:
            for result in benchmark.results:
                for asked, value in _bounded(result):
                    goal = by_key.setdefault((asked.name, asked.unit, asked.least), asked)
                    strictest = max if goal.least else min
                    goal.bound = strictest(goal.bound, asked.bound)
                    goal.figures[machine.title] = value
    return list(by_key.values())


def _bounded(result: BenchmarkResult) -> Iterator[tuple[Goal, float]]:
    """Yields each goal of a result, and its value: a limit of ours, or how it compares with a peer.

    A peer that we are to be slower than is asked for at most so many times its time.
    """
    if result.limit is not None:
        yield Goal(result.name, result.unit, False, result.limit), result.ours.median
    for peer in result.peers:
        name = f"{result.name}: {COUNT.sub('', peer.name)}"
        if peer.target is None:
            continue
        if peer.target >= 1:
            yield Goal(name, "", True, peer.target), peer.ratio.median
        else:
            yield Goal(name, "", False, 1 / peer.target), 1 / peer.ratio.median


def load_measurements(path: Path) -> Measurements | None:
    """Returns the measurements of a file; None if it does not exist. Errors: InputError if the file is not
    from the benchmarks.
    """
    if not path.is_file():
        return None
    read_object(path, "machines", again=f"write it again or {AGAIN}")
    try:
        return read_record(path, Measurements)
    except InputError as error:
        raise InputError(f"{error}; {AGAIN}") from None


def to_speed_section(measured: Measurements) -> str:
    """Returns the section of the document on speed with its heading: a row per goal, a column per machine."""
    titles = [machine.title for machine in measured.machines]
    rows = [["", "goal", *titles], [":--", "--:", *["--:"] * len(titles)]]
    for goal in goals(measured):
        cells = [
            f"{plain_number(goal.figures[title])}{MET_WORDS[goal.met(title)]}"
            if title in goal.figures
            else "–"
            for title in titles
        ]
        rows.append([goal.name, goal.asked, *cells])
    rates = [
        f"{measured_machine.products.onednn.median:.0f} / {measured_machine.products.torch.median:.0f}"
        if measured_machine.products
        else "not measured"
        for measured_machine in measured.machines
    ]
    rows.append(["products by oneDNN / by torch", "", *rates])
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([HEADING, "", INTRO, "", *lines]) + "\n"
