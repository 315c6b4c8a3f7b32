"""The runner of all benchmarks: sides in turn, medians, ratios; commands, fresh processes, memory."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd import profiler
from torch.profiler import record_function

from harness.report.measurements import BenchmarkResult, MedianRange, PeerCost, ProductRates
from methods.core.fast.linear import linear

Side = Callable[[], Any]
"""One whole run of one side of a comparison; where it returns Taken, its own seconds count."""

Clock = Callable[[], float]
SCALES = {"s": 1.0, "ms": 1e3}
GEMM_SIZE, PRODUCTS = 1024, 8


KINDS = {
    "products": ("mm", "linear", "_Linear"),
    "attention": ("softmax", "scaled_dot_product", "_Attention"),
    "dropout": ("dropout", "_Dropped", "bernoulli", "random_"),
    "GELU": ("gelu",),
    "layer norm": ("layer_norm",),
    "rows selected and copied": ("index", "copy_", "cat", "gather", "scatter", "embedding"),
    "optimiser": ("adam", "norm"),
}
"""Kind of work -> what the names of its operators contain; an operator is of the first kind that fits."""
OUTSIDE, REST = "outside of operators", "others"


class Taken(NamedTuple):
    """Seconds of a run, and what it computed."""

    seconds: float
    value: Any = None


class Disagreement(Exception):
    """Two sides of a benchmark computed different results, so their times say nothing."""


@dataclass
class Runs:
    """Seconds of every side in every round, and what each returned last."""

    times: dict[str, list[float]]
    values: dict[str, Any]

    def result(
        self,
        name: str,
        ours: str,
        peers: Mapping[str, float | None],
        *,
        unit: str = "ms",
        software: Mapping[str, str] = MappingProxyType({}),
        **about: Any,
    ) -> BenchmarkResult:
        """Returns the result of one side next to its peers.

        peers: name -> the least ratio of its time to ours, None where it only gives scale. software: packages
        of a peer that has its own. about: limit, agreement and note of the result.
        """
        scale = SCALES[unit]
        costs = tuple(
            against(peer, self.times[peer], self.times[ours], scale, target, software.get(peer, ""))
            for peer, target in peers.items()
        )
        return figure(name, unit, [scale * taken for taken in self.times[ours]], costs, **about)


def figure(
    name: str, unit: str, costs: Sequence[float], peers: tuple[PeerCost, ...] = (), **about: Any
) -> BenchmarkResult:
    """Returns a result. costs: ours, one a round, in `unit`."""
    return BenchmarkResult(name=name, unit=unit, ours=MedianRange.of(costs), peers=peers, **about)


def against(
    name: str,
    theirs: Sequence[float],
    ours: Sequence[float],
    scale: float,
    target: float | None = None,
    software: str = "",
) -> PeerCost:
    """Returns a peer's cost, and how many times ours it is within each round."""
    ratios = [slow / fast for slow, fast in zip(theirs, ours, strict=True)]
    cost = MedianRange.of([scale * taken for taken in theirs])
    return PeerCost(name=name, cost=cost, ratio=MedianRange.of(ratios), target=target, software=software)


def run(
    sides: Mapping[str, Side],
    *,
    rounds: int,
    device: str = "cpu",
    clock: Clock = time.perf_counter,
    warm: bool = True,
) -> Runs:
    """Runs the sides in turn, every second round in reverse, so that a drift favours none.

    clock: `time.process_time` where other work on the machine must not count. warm: each side runs once
    before it is timed.
    """
    runs = Runs({name: [] for name in sides}, {})
    if warm:
        for side in sides.values():
            side()
    for turn in range(rounds):
        for name in list(sides)[:: 1 if turn % 2 == 0 else -1]:
            taken, value = timed(sides[name], device, clock)
            taken, runs.values[name] = value if isinstance(value, Taken) else (taken, value)
            runs.times[name].append(taken)
    return runs


def timed(side: Side, device: str = "cpu", clock: Clock = time.perf_counter) -> tuple[float, Any]:
    """Returns the seconds of one run, work that a GPU still has in hand included, and its value."""
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    wait()
    started = clock()
    value = side()
    wait()
    return clock() - started, value


def profiled(side: Side) -> str:
    """Returns which kinds of operators one run spends its time in, on one thread, in words; from 1 % on."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with profiler.profile(use_kineto=False) as found, record_function(OUTSIDE):
        side()
    torch.set_num_threads(threads)
    shares: dict[str, float] = {}
    for event in found.key_averages():
        kinds = (kind for kind, parts in KINDS.items() if any(part in event.key for part in parts))
        kind = OUTSIDE if event.key == OUTSIDE else next(kinds, REST)
        shares[kind] = shares.get(kind, 0.0) + event.self_cpu_time_total
    parts = {kind: 100 * taken / sum(shares.values()) for kind, taken in shares.items()}
    shown = sorted((kind for kind in parts if parts[kind] >= 1), key=lambda kind: -parts[kind])
    return ", ".join(f"{kind} {parts[kind]:.0f} %" for kind in shown)


def agree(ours: Sequence[Tensor], theirs: Sequence[Tensor], *, tolerance: float, what: str) -> str:
    """Returns one sentence on the largest difference relative to the largest entry of its tensor.

    Errors: Disagreement above `tolerance`.
    """
    apart = max(
        ((one - other).abs().max() / other.abs().max().clamp_min(1e-30)).item()
        for one, other in zip(ours, theirs, strict=True)
    )
    if not apart <= tolerance:
        raise Disagreement(
            f"{what} differ by {apart:.2g} of the largest entry, expected at most {tolerance:g}"
        )
    return f"{what} agree within {apart:.1g} of the largest entry"


def gemm_rate(device: str = "cpu") -> float:
    """Returns the GFLOP/s of torch's own fp32 products of 1024 x 1024 matrices at this moment."""
    left, right = (torch.ones(GEMM_SIZE, GEMM_SIZE, device=device) for _ in range(2))
    return _rate(lambda: [left @ right for _ in range(PRODUCTS)], device)


def product_rates(device: str, rounds: int) -> ProductRates:
    """Returns the rates of such products by oneDNN, as in our linear layers, and by torch's own way."""
    layer = nn.Linear(GEMM_SIZE, GEMM_SIZE, bias=False, device=device)
    rows = torch.ones(GEMM_SIZE, GEMM_SIZE, device=device)
    with torch.no_grad():
        gemm_rate(device)
        onednn = [
            _rate(lambda: [linear(layer, rows) for _ in range(PRODUCTS)], device) for _ in range(1 + rounds)
        ]
        own = [gemm_rate(device) for _ in range(rounds)]
    return ProductRates(
        threads=torch.get_num_threads(), onednn=MedianRange.of(onednn[1:]), torch=MedianRange.of(own)
    )


def _rate(side: Side, device: str) -> float:
    return PRODUCTS * 2 * GEMM_SIZE**3 / timed(side, device)[0] / 1e9


def output_of(command: Sequence[str], place: Path | None = None) -> str:
    """Returns what a command wrote; one that fails stops the benchmark with its error output."""
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Disagreement(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr.strip()}")
    return done.stdout + done.stderr


def fresh(function: Callable[..., Any], *given: Any) -> Any:
    """Returns what a function returns in a new process."""
    threads = torch.get_num_threads()
    with ProcessPoolExecutor(1, get_context("spawn"), torch.set_num_threads, (threads,)) as process:
        return process.submit(function, *given).result()


def resident(field: str) -> int:
    """Returns a line of this process's memory status in bytes: VmRSS now, VmHWM the peak, RssAnon private."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def forget_peak() -> int:
    """Sets the peak to what is resident now, and returns that."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return resident("VmRSS")
