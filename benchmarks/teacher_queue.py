"""Measures what a queue of teacher vectors costs: memory, time of one loss, width of what is exported.

Run from the repository's root: `python -m benchmarks.teacher_queue [--rounds 5] [--short]`. ConGen's and
CKD's loss, forward and backward over the student's vectors, against the form the formulas have: queue and
batch joined, every share stored. Each form runs in a process of its own, because its peak of resident memory;
both must agree.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from methods.ckd.objective import contrastive_distillation
from methods.congen.objective import distribution_distillation
from methods.core.losses import unit
from methods.core.queues import VectorQueue

TEACHER, STUDENT = 0.05, 0.07
MEBIBYTE = 2**20


class Size(NamedTuple):
    """Batch B, width t of teacher and exported student, rows M of the queue."""

    batch: int
    width: int
    rows: int


class Cost(NamedTuple):
    """Median seconds, bytes of resident memory that the loss added at its peak, value and gradient."""

    seconds: float
    added: int
    value: float
    gradient: Tensor


def congen(students: Tensor, teachers: Tensor, queue: Tensor) -> Tensor:
    terms = distribution_distillation(
        students, teachers, queue, teacher_temperature=TEACHER, student_temperature=STUDENT
    )
    return terms.cross_entropy.mean()


def congen_joined(students: Tensor, teachers: Tensor, queue: Tensor) -> Tensor:
    keys = torch.cat([queue, teachers])
    target = torch.softmax(teachers @ keys.T / TEACHER, dim=1)
    return -(target * torch.log_softmax(unit(students) @ keys.T / STUDENT, dim=2)).sum(dim=2).mean()


def ckd(students: Tensor, teachers: Tensor, queue: Tensor) -> Tensor:
    return contrastive_distillation(students[0], teachers, queue, scale=1 / TEACHER)


def ckd_joined(students: Tensor, teachers: Tensor, queue: Tensor) -> Tensor:
    logits = unit(students[0]) @ torch.cat([teachers, queue]).T / TEACHER
    return functional.cross_entropy(logits, torch.arange(len(teachers)))


FORMS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "congen": congen,
    "congen joined": congen_joined,
    "ckd": ckd,
    "ckd joined": ckd_joined,
}


def cost(form: str, size: Size, rounds: int) -> Cost:
    """Runs one form in this process, which does nothing else, so that its peak is the form's."""
    torch.manual_seed(0)
    queue = VectorQueue(size.rows, size.width)
    for _ in range(0, size.rows, size.batch):  # in parts: a temporary copy would hide the loss's own peak
        queue.push(unit(torch.randn(size.batch, size.width)))
    teachers = unit(torch.randn(size.batch, size.width))
    students = torch.randn(2, size.batch, size.width, requires_grad=True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        value = FORMS[form](students, teachers, queue.stored())
        (gradient,) = torch.autograd.grad(value, students)
        taken.append(time.perf_counter() - start)
    added = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    return Cost(statistics.median(taken), added, value.item(), gradient)


def measure(size: Size, rounds: int) -> None:
    """Prints what the queue and one loss of each method cost at one size."""
    held = VectorQueue(size.rows, size.width).ring.nbytes
    print(
        f"B {size.batch}, t {size.width}, M {size.rows}: queue {held / MEBIBYTE:.0f} MiB, a million teacher "
        f"vectors {4 * size.width * 10**6 / 2**30:.1f} GiB a view, an exported vector {4 * size.width} bytes"
    )
    costs = {}
    for form in FORMS:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
            costs[form] = alone.submit(cost, form, size, rounds).result()
    for name in ("congen", "ckd"):
        ours, joined = costs[name], costs[f"{name} joined"]
        difference = (ours.gradient - joined.gradient).abs().max() / joined.gradient.abs().max()
        if difference > 1e-3 or abs(ours.value - joined.value) > 1e-4:
            raise SystemExit(f"{name}: the forms differ by {difference:.1e}, expected below 1e-3")
        print(
            f"  {name}: {1000 * ours.seconds:.0f} ms and {ours.added / MEBIBYTE:.0f} MiB, joined "
            f"{1000 * joined.seconds:.0f} ms and {joined.added / MEBIBYTE:.0f} MiB, "
            f"difference {difference:.0e}"
        )


def main() -> None:
    """Prints machine, threads, versions and the costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="timed repetitions of each form")
    parser.add_argument("--short", action="store_true", help="one small size, for a check that it runs")
    arguments = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, {torch.get_num_threads()} threads")
    print(f"python {platform.python_version()}, torch {torch.__version__}, fp32, {arguments.rounds} rounds")
    sizes = [Size(16, 64, 512)] if arguments.short else [Size(128, 1024, m) for m in (16384, 65536)]
    for size in sizes:
        measure(size, arguments.rounds)


if __name__ == "__main__":
    main()
