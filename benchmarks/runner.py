"""Runner of all benchmarks: alternating sides, profiles, inputs, and the record of machines.

Benchmarks encode and train on all-MiniLM-L6-v2 and Wikipedia sentences, or tiny stand-ins. The record,
reports/benchmarks.json, has the last measurements of every machine.
"""

import os
import platform
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd import profiler
from torch.profiler import record_function

from benchmarks import BENCHMARKS, stand_ins
from harness.data.corpora import read_corpus
from harness.data.download import folder_of
from harness.data.sts import ScoredPair
from harness.io.files import write_record
from harness.process import quiet
from harness.report.measurements import (
    Benchmark,
    BenchmarkResult,
    Machine,
    Measurements,
    MedianRange,
    PeerCost,
    ProductRates,
    load_measurements,
)
from harness.report.runs import slug
from harness.tasks.sts import StsTask
from methods.core.encoder import SentenceEncoder
from methods.core.fast.linear import linear
from methods.core.folders import load_encoder

Side = Callable[[], Any]
"""A run of one side of a comparison; if it returns a TimedResult, that time counts."""

OPERATIONS = {
    "products": ("mm", "linear", "_Linear"),
    "attention": ("softmax", "scaled_dot_product", "_Attention"),
    "dropout": ("dropout", "_Dropped", "bernoulli", "random_"),
    "GELU": ("gelu",),
    "layer norm": ("layer_norm",),
    "rows selected and copied": ("index", "copy_", "cat", "gather", "scatter", "embedding"),
    "optimiser": ("adam", "norm"),
}
"""Kind of work -> parts of its operators' names; the first matching kind counts."""
OUTSIDE = "outside of operators"
CPU_LIST = Path("/proc/cpuinfo")
LIBRARIES = ("torch", "transformers", "sentence-transformers", "mteb", "numpy", "scikit-learn", "accelerate")
GEMM_SIZE, PRODUCTS = 1024, 8


class TimedResult(NamedTuple):
    """Seconds of a run, and its value."""

    seconds: float
    value: Any = None


class Disagreement(Exception):
    """Raised if two sides of a benchmark computed different results, so their times are not comparable."""


class TimedRounds(NamedTuple):
    """Seconds of every side in every round, and the last value of each."""

    times: dict[str, list[float]]
    values: dict[str, Any]

    def result(
        self,
        name: str,
        ours: str,
        peers: Mapping[str, float | None],
        *,
        unit: str = "ms",
        software: Mapping[str, str] | None = None,
        **details: Any,
    ) -> BenchmarkResult:
        """Returns the result of one side next to its peers; ratios are taken within each round.

        peers: name -> least ratio of its time to ours, None for a peer without a target. software: packages
        of a peer with a separate environment. about: limit, agreement and note of the result.
        """
        scale = {"s": 1.0, "ms": 1e3}[unit]
        costs = {side: [scale * taken for taken in times] for side, times in self.times.items()}
        comparisons = []
        for peer, target in peers.items():
            ratios = [slow / fast for slow, fast in zip(costs[peer], costs[ours], strict=True)]
            cost = PeerCost(
                name=peer,
                cost=MedianRange.of(costs[peer]),
                ratio=MedianRange.of(ratios),
                target=target,
                software=(software or {}).get(peer, ""),
            )
            comparisons.append(cost)
        return figure(name, unit, costs[ours], peers=tuple(comparisons), **details)


def figure(name: str, unit: str, costs: Sequence[float], **details: Any) -> BenchmarkResult:
    """Returns a result. costs: ours, one per round, in `unit`."""
    return BenchmarkResult(name=name, unit=unit, ours=MedianRange.of(costs), **details)


def run(
    sides: Mapping[str, Side],
    *,
    rounds: int,
    device: str = "cpu",
    clock: Callable[[], float] = time.perf_counter,
    warm: bool = True,
) -> TimedRounds:
    """Runs the sides in turn, every second round in reverse, so a drift favours no side.

    clock: `time.process_time` if other work on the machine must not count. warm: each side runs once before
    timing.
    """
    runs = TimedRounds({name: [] for name in sides}, {})
    if warm:
        for side in sides.values():
            side()
    for turn in range(rounds):
        for name in list(sides)[:: 1 if turn % 2 == 0 else -1]:
            taken, value = timed(sides[name], device, clock)
            taken, runs.values[name] = value if isinstance(value, TimedResult) else (taken, value)
            runs.times[name].append(taken)
    return runs


def timed(side: Side, device: str = "cpu", clock: Callable[[], float] = time.perf_counter) -> TimedResult:
    """Returns the seconds of one run, including queued work of a GPU, and its value."""
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    wait()
    started = clock()
    value = side()
    wait()
    return TimedResult(clock() - started, value)


def profiled(side: Side) -> str:
    """Returns the kinds of operators with at least 1 % of the time of a run, on one thread, in words."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with profiler.profile(use_kineto=False) as profile, record_function(OUTSIDE):
        side()
    torch.set_num_threads(threads)
    shares: dict[str, float] = {}
    for event in profile.key_averages():
        kinds = (kind for kind, parts in OPERATIONS.items() if any(part in event.key for part in parts))
        kind = OUTSIDE if event.key == OUTSIDE else next(kinds, "others")
        shares[kind] = shares.get(kind, 0.0) + event.self_cpu_time_total
    parts = {kind: 100 * taken / sum(shares.values()) for kind, taken in shares.items()}
    shown = sorted((kind for kind in parts if parts[kind] >= 1), key=lambda kind: -parts[kind])
    return ", ".join(f"{kind} {parts[kind]:.0f} %" for kind in shown)


@cache
def backbone(short: bool) -> Path:
    """Returns a folder of a six-layer encoder of width 384; `short` one of two layers and width 16."""
    quiet()
    return stand_ins.write_backbone(Path(mkdtemp()) / "tiny") if short else folder_of("minilm-l6")


def encoder(short: bool, pooling: str) -> SentenceEncoder:
    """Returns a new encoder of that folder."""
    return load_encoder(backbone(short), pooling=pooling)  # type: ignore[return-value]


def sentences(count: int, short: bool) -> list[str]:
    """Returns `count` sentences in a fixed random order."""
    texts = [row.text for row in stand_ins.rows(count)]
    if not short:
        texts = [row.text for row in read_corpus(folder_of("wiki-small"))]
    return [texts[index] for index in np.random.default_rng(0).permutation(len(texts))[:count]]


def made_up(count: int) -> StsTask:
    """Returns a set of pairs with `count` different sentences and fixed random scores."""
    base = [row.text for row in stand_ins.rows(100)]
    texts = [f"{base[number % len(base)]} {number}" for number in range(count)]
    gold = np.random.default_rng(0).integers(6, size=count // 2).astype(float).tolist()
    pairs = [ScoredPair(*pair) for pair in zip(texts[::2], texts[1::2], gold, strict=True)]
    return StsTask("made-up", "made-up", lambda folder: {"all": pairs}, folder=Path())


def keep(path: Path, device: str, new: Benchmark | ProductRates) -> None:
    """Writes figures or rates of products of this machine; other machines and benchmarks stay unchanged.
    Removed benchmarks are dropped for this machine. Errors: InputError without writing if the file is
    damaged.
    """
    known = load_measurements(path)
    machines = {entry.id: entry for entry in known.machines} if known else {}
    identity = machine(device)
    updated = machines.get(identity["id"]) or Machine(**identity, products=None, benchmarks=())
    if isinstance(new, ProductRates):
        updated = updated.model_copy(update={"products": new})
    else:
        benchmarks = {entry.name: entry for entry in updated.benchmarks} | {new.name: new}
        kept = tuple(benchmarks[name] for name in BENCHMARKS if name in benchmarks)
        updated = updated.model_copy(update={"benchmarks": kept})
    measurements = Measurements(machines=tuple({**machines, updated.id: updated}.values()))
    write_record(path, measurements.model_dump(mode="json", exclude={"digest"}))


def measured(name: str, rounds: int, results: Iterable[BenchmarkResult]) -> Benchmark:
    """Returns the figures of a benchmark that was run in this process."""
    return Benchmark(
        name=name, rounds=rounds, threads=torch.get_num_threads(), **software(), results=tuple(results)
    )


def machine(device: str) -> dict[str, Any]:
    """Returns the identity of this machine; `id` is derived from all other entries."""
    on_cpu = device == "cpu"
    name = processor() if on_cpu else torch.cuda.get_device_name()
    family, model = (_of_first_processor(key) if on_cpu else "" for key in ("cpu family", "model"))
    kind = f"family {family}, model {model}" if family and model else ""
    cores = len(os.sched_getaffinity(0))
    identity = slug(f"{name} {kind} {cores} cores {'' if on_cpu else device}")
    return {"id": identity, "processor": name, "model": kind, "cores": cores, "device": device}


def processor() -> str:
    """Returns the processor's model name, or the name of its kind."""
    return _of_first_processor("model name") or platform.processor() or platform.machine()


def _of_first_processor(key: str) -> str:
    text = CPU_LIST.read_text(encoding="utf-8") if CPU_LIST.is_file() else ""
    match = re.search(rf"^{key}\s*:\s*(.*?)\s*$", text, flags=re.MULTILINE)
    return match[1] if match else ""


def software() -> dict[str, Any]:
    """Returns the versions of Python and of the packages that figures depend on."""
    installed = {package.name: package.version for package in distributions()}
    versions = {library: installed.get(library, "not installed") for library in LIBRARIES}
    return {"python": platform.python_version(), "versions": versions}


def gemm_rate(device: str = "cpu", product: Callable[[Tensor, Tensor], Tensor] = torch.matmul) -> float:
    """Returns the current GFLOP/s of fp32 products of 1024 x 1024 matrices, by default torch's."""
    left, right = (torch.ones(GEMM_SIZE, GEMM_SIZE, device=device) for _ in range(2))
    taken = timed(lambda: [product(left, right) for _ in range(PRODUCTS)], device)
    return PRODUCTS * 2 * GEMM_SIZE**3 / taken.seconds / 1e9


def product_rates(device: str, rounds: int) -> ProductRates:
    """Returns the rates of such products by oneDNN, as in our linear layers, and by torch."""
    layer = torch.nn.Linear(GEMM_SIZE, GEMM_SIZE, bias=False, device=device)
    with torch.no_grad():
        gemm_rate(device)
        onednn = [gemm_rate(device, lambda rows, _: linear(layer, rows)) for _ in range(1 + rounds)]
        by_torch = [gemm_rate(device) for _ in range(rounds)]
    return ProductRates(
        threads=torch.get_num_threads(), onednn=MedianRange.of(onednn[1:]), torch=MedianRange.of(by_torch)
    )
