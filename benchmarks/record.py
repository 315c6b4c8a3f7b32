"""reports/benchmarks.json: what every machine measured last, and what tells one machine from another."""

import os
import platform
import re
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from benchmarks import BENCHMARKS, GPU_CHECK
from benchmarks.runner import Side, timed
from harness.disk.files import write_record
from harness.report.measurements import (
    Benchmark,
    BenchmarkResult,
    Machine,
    Measurements,
    MedianRange,
    ProductRates,
    load_measurements,
)
from harness.report.runs import slug
from methods.core.fast.linear import linear

CPU_LIST = Path("/proc/cpuinfo")
LIBRARIES = ("torch", "transformers", "sentence-transformers", "mteb", "numpy", "scikit-learn", "accelerate")
GEMM_SIZE, PRODUCTS = 1024, 8


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
        benchmarks = {one.name: one for one in own.benchmarks} | {new.name: new}
        kept = tuple(benchmarks[name] for name in (*BENCHMARKS, GPU_CHECK) if name in benchmarks)
        own = own.model_copy(update={"benchmarks": kept})
    found = Measurements(machines=tuple({**machines, own.id: own}.values()))
    write_record(path, found.model_dump(mode="json", exclude={"digest"}))


def measured(name: str, rounds: int, results: Iterable[BenchmarkResult]) -> Benchmark:
    """Returns the figures of a benchmark that was run in this process."""
    return Benchmark(
        name=name, rounds=rounds, threads=torch.get_num_threads(), **software(), results=tuple(results)
    )


def machine(device: str) -> dict[str, Any]:
    """Returns what tells this machine from others; `id` is made of all the rest."""
    on_cpu = device == "cpu"
    name = processor() if on_cpu else torch.cuda.get_device_name()
    family, model = (_of_first_processor(key) if on_cpu else "" for key in ("cpu family", "model"))
    kind = f"family {family}, model {model}" if family and model else ""
    cores = len(os.sched_getaffinity(0))
    told = slug(f"{name} {kind} {cores} cores {'' if on_cpu else device}")
    return {"id": told, "processor": name, "model": kind, "cores": cores, "device": device}


def processor() -> str:
    """Returns the processor's own name, that of its kind where it has none."""
    return _of_first_processor("model name") or platform.processor() or platform.machine()


def _of_first_processor(key: str) -> str:
    text = CPU_LIST.read_text(encoding="utf-8") if CPU_LIST.is_file() else ""
    found = re.search(rf"^{key}\s*:\s*(.*?)\s*$", text, flags=re.MULTILINE)
    return found[1] if found else ""


def software() -> dict[str, Any]:
    """Returns the versions of Python and of the packages that figures depend on."""
    found: dict[str, str] = {}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = "not installed"
    return {"python": platform.python_version(), "versions": found}


def gemm_rate(device: str = "cpu") -> float:
    """Returns the GFLOP/s of torch's own fp32 products of 1024 x 1024 matrices at this moment."""
    left, right = (torch.ones(GEMM_SIZE, GEMM_SIZE, device=device) for _ in range(2))
    return _rate(lambda: [left @ right for _ in range(PRODUCTS)], device)


def product_rates(device: str, rounds: int) -> ProductRates:
    """Returns the rates of such products by oneDNN, as in our linear layers, and by torch's own way."""
    layer = torch.nn.Linear(GEMM_SIZE, GEMM_SIZE, bias=False, device=device)
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
    return PRODUCTS * 2 * GEMM_SIZE**3 / timed(side, device).seconds / 1e9
