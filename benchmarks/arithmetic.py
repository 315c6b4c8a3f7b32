"""What portable arithmetic costs: SimCSE's step and the STS evaluation, in processes of either arithmetic.

Both compute in fp32 with one thread, as portable arithmetic does. Native arithmetic trains with the library
that `sentbench calibrate` keeps for this machine.
"""

import os
import time
from collections.abc import Callable
from functools import partial
from unittest import mock

import numpy as np
import torch

from benchmarks.evaluation import MADE_UP, our_scores, test_sets
from benchmarks.runner import Disagreement, Taken, backbone, encoder, fresh, run, sentences
from benchmarks.training import BATCH, SHORT_STEPS, STEPS, own_trainer
from harness.process import in_effect, set_native, set_portable
from harness.report.measurements import BenchmarkResult
from harness.stages.train import choose_kernels

PORTABLE, NATIVE = "portable", "native"
TOLERANCE = 1e-3
"""Largest difference allowed between the losses, or the correlations, of the two."""


def measure(rounds: int, short: bool) -> list[BenchmarkResult]:
    """Returns the cost of a step and of an evaluation in portable arithmetic, next to native."""
    return [
        compared("SimCSE step, batch 64, one thread", "ms", partial(a_step, short), rounds),
        compared("STS evaluation, one thread", "s", partial(an_evaluation, short), rounds),
    ]


def compared(name: str, unit: str, work: Callable[[], Taken], rounds: int) -> BenchmarkResult:
    """Returns a work's time in portable arithmetic, next to native. Errors: Disagreement of their numbers."""

    def side(arithmetic: str) -> Taken:
        with mock.patch.dict(os.environ):  # a new process takes its arithmetic from variables
            (set_portable if arithmetic == PORTABLE else set_native)(os.environ)
            os.environ["OMP_NUM_THREADS"] = "1"
            found: Taken = fresh(in_arithmetic, arithmetic, work)
        return found

    runs = run({name: partial(side, name) for name in (PORTABLE, NATIVE)}, rounds=rounds, warm=False)
    apart = float(np.abs(np.subtract(runs.values[PORTABLE], runs.values[NATIVE])).max())
    if not apart <= TOLERANCE:
        raise Disagreement(f"{name}: the two differ by {apart:.2g}, expected at most {TOLERANCE:g}")
    words = f"losses or correlations differ by at most {apart:.1g}"
    peers = {NATIVE: None}
    return runs.result(f"{name}, portable arithmetic", PORTABLE, peers, unit=unit, agreement=words)


def in_arithmetic(arithmetic: str, work: Callable[[], Taken]) -> Taken:
    """Returns what a work takes in this process, which must compute with that arithmetic."""
    if in_effect() != arithmetic:
        raise Disagreement(f"a process computes with {in_effect()} arithmetic, expected {arithmetic}")
    torch.set_num_threads(1)
    choose_kernels()
    return work()


def a_step(short: bool) -> Taken:
    """Returns the seconds of a step of SimCSE, and its losses."""
    texts = sentences(BATCH * (SHORT_STEPS if short else STEPS), short)
    return own_trainer(backbone(short), texts, "cpu", "fp32")


def an_evaluation(short: bool) -> Taken:
    """Returns the seconds of the evaluation of all sets, and their correlations."""
    model = encoder(short, "mean")
    our_scores(model, [MADE_UP])
    tasks = [MADE_UP] if short else test_sets()
    for task in tasks:
        _ = task.pairs
    started = time.perf_counter()
    scores = our_scores(model, tasks)
    return Taken(time.perf_counter() - started, scores)
