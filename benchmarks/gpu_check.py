"""The first ten minutes on a new GPU; `sentbench gpu-check` runs it.

On a machine without one everything runs on the simulated device of the tests at a tiny size, which says that
the check works, nothing about a GPU, and is written nowhere.
"""

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, get_args

import numpy as np
import torch

from benchmarks import GPU_CHECK
from benchmarks.peaks import full_scale, peak_of
from benchmarks.runner import figure, gemm_rate, keep, machine, made_up, measured, software
from benchmarks.steps import seconds_of_a_step, with_batch, write_backbone
from harness.errors import InputError
from harness.paths import MEASUREMENTS
from harness.plan.entries import Run
from harness.plan.estimate import Estimate, Peak
from harness.plan.step_times import BACKWARD, TRAINING_LENGTH, Precision, Shape, read_step_times
from harness.process import make_gpu_deterministic, quiet
from harness.report.measurements import BenchmarkResult
from harness.tasks.evaluation import evaluate_tasks
from harness.tasks.registry import SUITES, build_tasks
from methods.core.fast.choices import GpuLayers, use_on_gpu
from methods.core.folders import load_encoder
from methods.registry import METHODS
from tests.support.on_device import killed_and_resumed, steps_on, without_dropout
from tests.support.samples import Grounds, make, samples_of
from tests.support.simulated_device import DEVICE, simulated_device

APART: dict[Precision, float] = {"fp32": 1e-3, "bf16": 0.3}
"""How far a loss may be from the CPU's, in shares of it."""
WAITS = 1
MEASURED = ("simcse", "pcl", "sct-bert-base")
"""Systems whose memory and speed are measured."""
TINY = Shape(layers=2, width=64, inner=128, vocabulary=400, positions=64)
GIGABYTE = 1e9


class Gpu(NamedTuple):
    """The device of a check: its name for torch, how often the host waited for it, whether it is real."""

    device: str
    waits: Callable[[], int]
    real: bool


@contextmanager
def gpu(real: bool) -> Iterator[Gpu]:
    """Yields this machine's GPU, in whose waits torch warns, or the simulated device."""
    if not real:
        with simulated_device() as gpu, warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*to a meta parameter")
            yield Gpu(DEVICE, gpu.waits.total, real)
        return
    make_gpu_deterministic()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        yield Gpu("cuda", lambda: sum("synchronizing" in str(one.message) for one in caught), real)
        torch.cuda.set_sync_debug_mode("default")


def checks(
    given: Gpu, methods: Sequence[str], training: Sequence[tuple[Run, Shape, Peak]]
) -> Iterator[BenchmarkResult]:
    """Yields the results of all parts."""
    with TemporaryDirectory() as place:
        grounds = Grounds(Path(place))
        for precision in APART:
            yield from smoke(given, grounds, methods, precision)
        yield resumed(given, grounds, methods[:2], Path(place))
    for entry in training:
        yield from trained(given, *entry)
    if given.real:
        yield from ways(given, *training[0][:2])
    yield evaluated(given)


def smoke(
    given: Gpu, grounds: Grounds, methods: Sequence[str], precision: Precision
) -> Iterator[BenchmarkResult]:
    """Yields how far losses of two steps without dropout are from the CPU's, and the waits of the second."""
    apart, waits = {}, {}
    for name in methods:
        sample = next((sample for sample in samples_of(name) if sample.trained), None)
        if sample is None:
            continue
        base = grounds.of(sample)
        ours, theirs = make(sample, base), make(sample, base)
        rows, same = list(ours.prepare(base.rows)), list(theirs.prepare(base.rows))
        with without_dropout():
            here = steps_on("cpu", ours, rows, precision=precision)
            there = steps_on(given.device, theirs, same, given.waits, precision=precision)
        scale = np.maximum(np.abs(here.losses), 1e-2)
        apart[name] = float(np.max(np.abs(np.subtract(here.losses, there.losses)) / scale))
        waits[name] = there.waits[1]
    about = f"{len(apart)} methods, {precision}"
    name, note = f"losses against the CPU's, {about}", f"largest: {max(apart, key=apart.__getitem__)}"
    yield figure(name, "of the loss", list(apart.values()), limit=APART[precision], note=note)
    worst = max(waits, key=waits.__getitem__)
    name, note = f"waits of the host in a step, {about}", f"most: {worst}"
    yield figure(name, "waits", [waits[worst]], limit=WAITS, note=note)


def resumed(given: Gpu, grounds: Grounds, methods: Sequence[str], place: Path) -> BenchmarkResult:
    """Returns whether trainings that are killed and resumed write the bytes of uninterrupted ones."""
    wrong = []
    for name in methods:
        sample = samples_of(name)[0]
        try:
            killed_and_resumed(given.device, sample, grounds.of(sample), place / f"resumed-{name}")
        except AssertionError:
            wrong.append(name)
    note = f"not equal: {', '.join(wrong)}" if wrong else f"equal bytes: {', '.join(methods)}"
    return figure("trainings killed and resumed to other bytes", "of them", [len(wrong)], limit=0, note=note)


def expected(real: bool) -> list[tuple[Run, Shape, Peak]]:
    """Returns what is trained for its speed and memory: BERT-base on a GPU, else tiny, with its estimates."""
    params = full_scale()
    estimate, found = Estimate(params, read_step_times()), []
    for name in MEASURED if real else MEASURED[:1]:
        run = next(run for run in params.runs.values() if run.id == name)
        shape = estimate.shape(run.backbone_name) if real else TINY
        assert shape is not None
        peak = estimate.peak(run) if real else None
        if peak is None:
            run = run if real else with_batch(run, 4)
            peak = peak_of(run, shape)
        found.append((run, shape, peak))
    return found


def trained(given: Gpu, run: Run, shape: Shape, peak: Peak) -> Iterator[BenchmarkResult]:
    """Yields the seconds of a run's step with its share of the rate of products, and its peak memory."""
    batch = run.train["batch_size"]
    for precision in APART:
        if given.real:
            torch.cuda.reset_peak_memory_stats()
        seconds = seconds_of_a_step(run, shape, device=given.device, precision=precision, steps=5)
        used = torch.cuda.max_memory_allocated() if given.real else peak.tracked
        rate = BACKWARD * shape.forward(2 * batch, TRAINING_LENGTH) / seconds / 1e9
        share = f"{rate / gemm_rate(given.device):.0%} of the rate of fp32 products measured here"
        note = f"{1 / seconds:.2f} steps a second; the products of two views alone are {share}"
        about = f"{run.id}, batch {batch}, {precision}"
        yield figure(f"a step of {about}", "s", [seconds], note=note)
        if precision == run.train["precision"]:
            note = f"counted {peak.counted / GIGABYTE:.3g}, tracked {peak.tracked / GIGABYTE:.3g}"
            yield figure(f"peak memory of {about}", "GB", [used / GIGABYTE], note=note)


def ways(given: Gpu, run: Run, shape: Shape) -> Iterator[BenchmarkResult]:
    """Yields the seconds of a run's step by each way to compute layers; `calibrate --gpu` keeps one.

    For a way that fails on this GPU one line is printed.
    """
    for layers in get_args(GpuLayers):
        use_on_gpu(layers)
        try:
            seconds = seconds_of_a_step(run, shape, device=given.device, precision="bf16", steps=5)
            yield figure(f"a step of {run.id}, bf16, layers {layers}", "s", [seconds])
        except RuntimeError as error:  # torch's compiler and missing kernels raise it too
            reason = next(iter(str(error).splitlines()), type(error).__name__)
            print(f"layers {layers}: not on this GPU: {reason}", flush=True)
        finally:
            use_on_gpu("padded")


def evaluated(given: Gpu) -> BenchmarkResult:
    """Returns how far scores of the seven STS sets are from the CPU's; of made pairs without a GPU."""

    with TemporaryDirectory() as place:
        folder = write_backbone(Path(place), read_step_times().shapes["bert-tiny"])
        encoder = load_encoder(folder, pooling="mean")
        tasks = [made_up(64)]
        if given.real:
            try:
                tasks = build_tasks(SUITES["sts"], text="senteval")
            except InputError as error:
                print(f"made pairs in place of STS: {error}")
        scores = [evaluate_tasks(tasks, encoder.to(device).encode) for device in ("cpu", given.device)]
    apart = [abs(one.value - other.value) for one, other in zip(*scores, strict=True)]
    return figure(f"{len(apart)} scores against the CPU's", "points", [100 * max(apart)], limit=0.5)


def main(argv: Sequence[str] | None = None) -> int:
    """Returns 0 if all limits hold, 1 if one does not."""
    parser = argparse.ArgumentParser(
        prog="sentbench gpu-check", description="The first ten minutes on a GPU."
    )
    parser.add_argument("--method", action="append", choices=list(METHODS), help="default: all")
    parser.add_argument("--out", type=Path, default=MEASUREMENTS, help=f"default: {MEASUREMENTS}")
    arguments = parser.parse_args(argv)
    quiet()
    real = torch.cuda.is_available()
    about = machine("cuda") if real else {"device": "simulated: no GPU here, tiny sizes"}
    print(json.dumps({**about, **software()}), flush=True)
    results, training = [], expected(real)
    with gpu(real) as given:
        for result in checks(given, arguments.method or list(METHODS), training):
            print("\n".join(result.lines()), flush=True)
            results.append(result)
    missed = [result.name for result in results if result.met is False]
    if real:
        keep(arguments.out, "cuda", measured(GPU_CHECK, 1, results))
        print(f"written to {arguments.out}; commit it, and report the lines above with the driver's version")
    told = f"; not: {', '.join(missed)}" if missed else ""
    print(f"{len(results) - len(missed)} of {len(results)} results within their limits{told}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
