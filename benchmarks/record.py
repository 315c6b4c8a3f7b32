"""reports/benchmarks.json: what every machine measured last."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import torch

from benchmarks import BENCHMARKS, GPU_CHECK
from benchmarks.machine import machine, software
from harness.disk.files import write_record
from harness.report.measurements import (
    Benchmark,
    BenchmarkResult,
    Machine,
    Measurements,
    ProductRates,
    load_measurements,
)


def keep(path: Path, device: str, new: Benchmark | ProductRates) -> None:
    """Writes figures or rates of products of this machine; those of other machines and benchmarks stay.

    Benchmarks that are no more leave this machine. Errors: InputError, and nothing is written, if the file is
    damaged.
    """
    known = load_measurements(path)
    machines = {one.id: one for one in known.machines} if known else {}
    about = machine(device)
    own = machines.get(about["id"]) or Machine(**about, products=None, benchmarks=())
    if isinstance(new, ProductRates):
        own = own.model_copy(update={"products": new})
    else:
        benchmarks = {one.name: one for one in own.benchmarks}
        benchmarks[new.name] = new
        kept = tuple(benchmarks[name] for name in (*BENCHMARKS, GPU_CHECK) if name in benchmarks)
        own = own.model_copy(update={"benchmarks": kept})
    found = Measurements(machines=tuple({**machines, own.id: own}.values()))
    write_record(path, found.model_dump(mode="json", exclude={"digest"}))


def measured(name: str, rounds: int, results: Iterable[BenchmarkResult]) -> Benchmark:
    """Returns the figures of a benchmark that was run in this process."""
    return Benchmark(
        name=name, rounds=rounds, threads=torch.get_num_threads(), **software(), results=tuple(results)
    )
