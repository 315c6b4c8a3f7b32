"""The runner of all benchmarks: sides in turn, medians, ratios, profiles, fresh processes, and inputs.

Benchmarks encode and train on all-MiniLM-L6-v2 and Wikipedia sentences, or tiny stand-ins.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from tempfile import mkdtemp
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.autograd import profiler
from torch.profiler import record_function

from harness.data.corpora import corpus_file, read_corpus
from harness.data.download import folder_of
from harness.process import quiet
from harness.report.measurements import BenchmarkResult, MedianRange, PeerCost
from methods.core.encoder import SentenceEncoder
from methods.core.folders import load_encoder
from tests.support import tiny

Side = Callable[[], Any]
"""One whole run of one side of a comparison; where it returns Taken, its own seconds count."""

Clock = Callable[[], float]
SCALES = {"s": 1.0, "ms": 1e3}
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


class Runs(NamedTuple):
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
        scaled = {side: [SCALES[unit] * taken for taken in times] for side, times in self.times.items()}
        costs = tuple(
            against(peer, scaled[peer], scaled[ours], target, software.get(peer, ""))
            for peer, target in peers.items()
        )
        return figure(name, unit, scaled[ours], costs, **about)


def figure(
    name: str, unit: str, costs: Sequence[float], peers: tuple[PeerCost, ...] = (), **about: Any
) -> BenchmarkResult:
    """Returns a result. costs: ours, one a round, in `unit`."""
    return BenchmarkResult(name=name, unit=unit, ours=MedianRange.of(costs), peers=peers, **about)


def against(
    name: str, theirs: Sequence[float], ours: Sequence[float], target: float | None, software: str = ""
) -> PeerCost:
    """Returns a peer's cost, and how many times ours it is within each round."""
    ratios = [slow / fast for slow, fast in zip(theirs, ours, strict=True)]
    cost = MedianRange.of(theirs)
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


def timed(side: Side, device: str = "cpu", clock: Clock = time.perf_counter) -> Taken:
    """Returns the seconds of one run, work that a GPU still has in hand included, and its value."""
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    wait()
    started = clock()
    value = side()
    wait()
    return Taken(clock() - started, value)


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


def fresh(function: Callable[..., Any], *given: Any) -> Any:
    """Returns what a function returns in a new process."""
    threads = torch.get_num_threads()
    with ProcessPoolExecutor(1, get_context("spawn"), torch.set_num_threads, (threads,)) as process:
        return process.submit(function, *given).result()


@cache
def backbone(short: bool) -> Path:
    """Returns a folder of a six-layer encoder of width 384; `short` one of two layers and width 16."""
    quiet()
    return tiny.write_backbone(Path(mkdtemp()) / "tiny") if short else folder_of("minilm-l6")


def encoder(short: bool, pooling: str, **config: Any) -> SentenceEncoder:
    """Returns a fresh encoder of that folder; `config` overrides entries such as `hidden_dropout_prob`."""
    return load_encoder(backbone(short), pooling=pooling, **config)  # type: ignore[return-value]


def sentences(count: int, short: bool) -> list[str]:
    """Returns so many sentences in an order drawn once."""
    texts = [row.text for row in tiny.rows(count)]
    if not short:
        texts = [text for text, _ in read_corpus(corpus_file(folder_of("wiki-small")))]
    return [texts[place] for place in np.random.default_rng(0).permutation(len(texts))[:count]]
