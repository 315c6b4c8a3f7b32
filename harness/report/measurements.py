"""What `python -m benchmarks` recorded, as typed values: machines, figures and what they replaced."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import model_validator

from harness.declarations import Declaration, Name, read_record
from harness.disk.records import read_object
from harness.errors import InputError

AGAIN = "measure again by `python -m benchmarks`"

HEADLINES = ("evaluation", "training")
"""Benchmarks whose ratios are told above all others."""


class MedianRange(Declaration):
    """Median and range over the rounds."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> MedianRange:
        """Returns those of some values."""
        return cls(median=statistics.median(values), low=min(values), high=max(values))


class PeerCost(Declaration):
    """What a user would otherwise run: its cost, and how many times ours it is within each round.

    target: the least ratio; None where the peer only gives scale. software: its packages, where they are not
    those of the benchmark. before: the median ratio that was replaced.
    """

    name: str
    cost: MedianRange
    ratio: MedianRange
    target: float | None
    software: str = ""
    before: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the ratio reaches its target; None where the peer only gives scale."""
        return None if self.target is None else self.ratio.median >= self.target


class BenchmarkResult(Declaration):
    """One line of a benchmark.

    ours: cost in `unit`, lower is better. limit: the most that ours may cost. agreement: what was compared
    before a time counted. note: counts, and what explains a missed target. before: the median that was
    replaced.
    """

    name: str
    unit: str
    ours: MedianRange
    peers: tuple[PeerCost, ...] = ()
    limit: float | None = None
    agreement: str = ""
    note: str = ""
    before: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether every target and the limit are met; None without either."""
        checks = [peer.met for peer in self.peers if peer.met is not None]
        checks += [] if self.limit is None else [self.ours.median <= self.limit]
        return all(checks) if checks else None

    def replacing(self, former: BenchmarkResult, *, again: bool) -> BenchmarkResult:
        """Returns the result with a former one's medians as `before`; `again`: with what that replaced."""
        ratios = {peer.name: peer.before if again else peer.ratio.median for peer in former.peers}
        peers = tuple(peer.model_copy(update={"before": ratios.get(peer.name)}) for peer in self.peers)
        before = former.before if again else former.ours.median
        return self.model_copy(update={"peers": peers, "before": before})

    @property
    def has_remark(self) -> bool:
        """Whether there is something to say next to the figures."""
        return bool(self.agreement or self.note or self.met is False)

    def lines(self) -> list[str]:
        """Returns the result as text for a terminal."""
        told = {True: "met", False: "NOT MET", None: ""}[self.met]
        limit = "" if self.limit is None else f"  at most {self.limit:g} {self.unit}"
        ours = self.ours
        lines = [
            f"{self.name}: {ours.median:.4g} {self.unit} ({ours.low:.4g} to {ours.high:.4g}){limit}  {told}"
        ]
        for peer in self.peers:
            wanted = "" if peer.target is None else f", target {peer.target:g}"
            lines.append(
                f"    {peer.name}: {peer.cost.median:.4g} {self.unit}, ratio {peer.ratio.median:.2f} "
                f"({peer.ratio.low:.2f} to {peer.ratio.high:.2f}){wanted}"
            )
        return [*lines, *(f"    {words}" for words in (self.agreement, self.note) if words)]


class Benchmark(Declaration):
    """The figures of one benchmark on one machine: with which packages, how often, and what came out."""

    name: str
    rounds: int
    threads: int
    python: str
    versions: dict[str, str]
    results: tuple[BenchmarkResult, ...]


class ProductRates(Declaration):
    """GFLOP/s of products of two fp32 matrices of 1024 x 1024: by oneDNN, which our linear layers call, and
    by torch's own way, which on x86 processors is MKL.
    """

    threads: int
    onednn: MedianRange
    torch: MedianRange


class Machine(Declaration):
    """What was measured on one machine. It is the same again if processor, model, cores and device are.

    model: the processor's family and model, for a name may be shared by many; empty where none is known.
    products: None where they were not measured.
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
        """Its name for a reader."""
        model = f" ({self.model})" if self.model else ""
        device = "" if self.device == "cpu" else f", device {self.device}"
        return f"{self.processor}{model}, {self.cores} cores{device}"

    def results(self, names: Collection[str] | None = None) -> Iterator[BenchmarkResult]:
        """Yields the results, benchmark after benchmark; of all, or of those named."""
        for benchmark in self.benchmarks:
            if names is None or benchmark.name in names:
                yield from benchmark.results

    def count(self, met: bool) -> int:
        """Returns how many results with a target met it, or did not."""
        return sum(result.met is met for result in self.results())


class Measurements(Declaration):
    """The file that `python -m benchmarks` writes; digest: of all the rest, where it has one."""

    machines: tuple[Machine, ...]
    digest: str = ""

    @model_validator(mode="after")
    def check(self) -> Measurements:
        """No machine is there twice."""
        ids = [machine.id for machine in self.machines]
        repeated = sorted({name for name in ids if ids.count(name) > 1})
        if repeated:
            raise ValueError(f"machine {repeated[0]} is there twice, expected once")
        return self


@dataclass(frozen=True)
class Headline:
    """How many times our cost a peer's is, on each machine that measured it, by the machine's title."""

    result: str
    peer: str
    ratios: dict[str, float]

    @property
    def lowest(self) -> float:
        """The ratio that holds on every machine that measured."""
        return min(self.ratios.values())


def headlines(measured: Measurements) -> list[Headline]:
    """Returns a headline for every peer with a target of the benchmarks `HEADLINES`."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for machine in measured.machines:
        for result in machine.results(HEADLINES):
            for peer in result.peers:
                if peer.target is not None:
                    found.setdefault((result.name, peer.name), {})[machine.title] = peer.ratio.median
    return [Headline(result, peer, ratios) for (result, peer), ratios in found.items()]


def load_measurements(path: Path) -> Measurements | None:
    """Returns the measurements of a file; None where there is none.

    Errors: InputError if the file is not what the benchmarks write.
    """
    if not path.is_file():
        return None
    read_object(path, "machines", again=f"write it again or {AGAIN}")
    try:
        return read_record(path, Measurements)
    except InputError as error:
        raise InputError(f"{error} or {AGAIN}") from None
