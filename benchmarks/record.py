"""reports/benchmarks.json: what every machine measured last, and which figures that replaced."""

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


def keep(path: Path, device: str, new: Benchmark | ProductRates, *, again: bool = False) -> None:
    """Writes figures or rates of products of this machine; those of other machines and benchmarks stay.

    Benchmarks that are no more leave this machine. again: replaced figures are dropped, and those before them
    stay. Errors: InputError, and nothing is written, if the file is damaged.
    """
    known = load_measurements(path)
    machines = {one.id: one for one in known.machines} if known else {}
    about = machine(device)
    own = machines.get(about["id"]) or Machine(**about, products=None, benchmarks=())
    if isinstance(new, ProductRates):
        own = own.model_copy(update={"products": new})
    else:
        benchmarks = {one.name: one for one in own.benchmarks}
        former = benchmarks.get(new.name)
        benchmarks[new.name] = replacing(new, former, again=again) if former else new
        kept = tuple(benchmarks[name] for name in (*BENCHMARKS, GPU_CHECK) if name in benchmarks)
        own = own.model_copy(update={"benchmarks": kept})
    found = Measurements(machines=tuple({**machines, own.id: own}.values()))
    write_record(path, found.model_dump(mode="json", exclude={"digest"}))


def replacing(new: Benchmark, former: Benchmark, *, again: bool) -> Benchmark:
    """Returns the new figures with those that they replace."""
    known = {result.name: result for result in former.results}
    results = tuple(
        result.replacing(known[result.name], again=again) if result.name in known else result
        for result in new.results
    )
    return new.model_copy(update={"results": results})


def measured(name: str, rounds: int, results: Iterable[BenchmarkResult]) -> Benchmark:
    """Returns the figures of a benchmark that was run in this process."""
    return Benchmark(
        name=name, rounds=rounds, threads=torch.get_num_threads(), **software(), results=tuple(results)
    )
