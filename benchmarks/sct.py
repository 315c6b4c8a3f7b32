"""SCT: the loss step, queue upkeep included, against the form its authors released.

    python benchmarks/sct.py [--rounds N] [--short] [--device cpu|cuda]

One step is both directions, forward and backward, and the move of both queues; no encoder. Both forms are
first checked against float64, then timed in turns; the peak above the queues is taken in a process of its own
each (on a CPU from Linux' /proc).
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from methods.core.losses import unit
from methods.core.queues import VectorQueue
from methods.sct.objective import cross_view_loss

ONLINE, REFERENCE = 0.05, 0.04
BATCH = 128
AGREEMENT = 1e-3
"""Largest error allowed against float64, of the loss and, relative to the largest entry, of the gradient."""

Step = Callable[[], tuple[Tensor, Tensor]]


def vectors(rows: int, width: int, seed: int, device: str) -> Tensor:
    """Returns unit rows that share a direction, as sentence vectors do: soft targets, unlike random rows."""
    drawn = torch.randn(rows, width, generator=torch.Generator().manual_seed(seed))
    return unit(drawn / width**0.5 + unit(torch.ones(width))).to(device)


class Direct:
    """Queue joined with the batch each step, four products, softmax and KL as in the released code."""

    def __init__(self, queues: list[Tensor]) -> None:
        self.queues = queues

    def step(self, online: Tensor, references: Tensor) -> tuple[Tensor, Tensor]:
        joined = [torch.cat([queue, view]) for queue, view in zip(self.queues, references, strict=True)]
        total = online.new_zeros(())
        for learner in (0, 1):
            keys = joined[1 - learner].T.clone()
            target = functional.softmax(references[1 - learner] @ keys / REFERENCE, dim=1)
            guess = functional.log_softmax(online[learner] @ joined[1 - learner].T.clone() / ONLINE, dim=1)
            total = total + functional.kl_div(guess, target, reduction="batchmean")
        (gradient,) = torch.autograd.grad(total, online)
        self.queues = [both[len(view) :].clone() for both, view in zip(joined, references, strict=True)]
        return total.detach(), gradient


class Closed:
    """The project's form: ring buffers, closed-form gradient, chunks of rows."""

    def __init__(self, queues: list[Tensor]) -> None:
        self.queues = [VectorQueue(len(rows), rows.shape[1]).to(rows) for rows in queues]
        for queue, rows in zip(self.queues, queues, strict=True):
            queue.ring = rows
            queue.count.fill_(len(rows))

    def step(self, online: Tensor, references: Tensor) -> tuple[Tensor, Tensor]:
        match = cross_view_loss(
            online,
            references,
            [[queue.stored()] for queue in self.queues],
            online_temperature=ONLINE,
            reference_temperature=REFERENCE,
        )
        (gradient,) = torch.autograd.grad(match.total, online)
        for queue, view in zip(self.queues, references, strict=True):
            queue.push(view)
        return match.total.detach(), gradient


FORMS: dict[str, type[Direct] | type[Closed]] = {"direct": Direct, "closed": Closed}


def inputs(width: int, size: int, device: str) -> tuple[list[Tensor], Tensor, Tensor]:
    queues = [vectors(size, width, seed, device) for seed in (1, 2)]
    references = torch.stack([vectors(BATCH, width, seed, device) for seed in (3, 4)])
    noise = torch.stack([vectors(BATCH, width, seed, device) for seed in (5, 6)])
    return queues, unit(references.flip(0) + 0.3 * noise).requires_grad_(), references


def check_agreement(width: int, size: int, device: str) -> str:
    """Returns both forms' errors against float64; SystemExit if the project's is too large."""
    queues, online, references = inputs(width, size, device)
    doubles = [queue.double() for queue in queues]
    wide = online.detach().double().requires_grad_()
    exact, slope = Direct(doubles).step(wide, references.double())
    told = []
    for name, form in FORMS.items():
        value, gradient = form([queue.clone() for queue in queues]).step(online, references)
        of_value = abs(value.item() - exact.item())
        of_gradient = float((gradient.double() - slope).abs().max() / slope.abs().max())
        told.append(f"{name}: loss {of_value:.1e}, gradient {of_gradient:.1e}")
        if name == "closed" and max(of_value, of_gradient) > AGREEMENT:
            raise SystemExit(f"the forms disagree: {told[-1]}, expected below {AGREEMENT}")
    return f"errors against float64 (loss {exact.item():.4f}): " + "; ".join(told)


def seconds(step: Step, device: str) -> float:
    if device == "cuda":
        torch.cuda.synchronize()
    started = time.perf_counter()
    step()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - started


def peak_megabytes(name: str, width: int, size: int, device: str, threads: int) -> float:
    """Returns the memory one step takes above queues and batch, measured in this process."""
    torch.set_num_threads(threads)
    small = inputs(width, BATCH, device)
    FORMS[name](small[0]).step(*small[1:])  # libraries take their own buffers now
    queues, online, references = inputs(width, size, device)
    form = FORMS[name](queues)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        form.step(online, references)
        return (torch.cuda.max_memory_allocated() - before) / 1e6
    Path("/proc/self/clear_refs").write_text("5")  # the highest mark starts from what is held now
    before = resident("VmRSS")
    form.step(online, references)
    return (resident("VmHWM") - before) / 1e6


def resident(entry: str) -> int:
    """Returns an entry of this process' memory status in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(entry))) * 1024


def measure(width: int, size: int, rounds: int, device: str) -> None:
    print(f"width {width}, queues of {size}: two fp32 queues hold {2 * size * width * 4 / 1e6:.0f} MB")
    print("  " + check_agreement(width, size, device))
    queues, online, references = inputs(width, size, device)
    forms = {name: form([queue.clone() for queue in queues]) for name, form in FORMS.items()}
    taken: dict[str, list[float]] = {name: [] for name in FORMS}
    for turn in range(rounds + 1):
        for name, form in forms.items():
            spent = seconds(lambda form=form: form.step(online, references), device)  # type: ignore[misc]
            if turn:  # the first turn warms up
                taken[name].append(spent)
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        asked = [(name, width, size, device, torch.get_num_threads()) for name in FORMS]
        peaks = dict(zip(FORMS, pool.starmap(peak_megabytes, asked, chunksize=1), strict=True))
    for name in FORMS:
        print(f"  {name}: {1e3 * statistics.median(taken[name]):.1f} ms, peak {peaks[name]:.0f} MB")
    ratios = sorted(a / b for a, b in zip(taken["direct"], taken["closed"], strict=True))
    print(
        f"  direct / closed: time {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}), "
        f"memory {peaks['direct'] / peaks['closed']:.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--short", action="store_true", help="queues of 4,096, two rounds")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    given = parser.parse_args()
    machine = torch.cuda.get_device_name() if given.device == "cuda" else platform.processor()
    print(f"{machine or platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}")
    rounds = 2 if given.short else given.rounds
    for size in (4096,) if given.short else (65536, 131072):
        for width in (128, 384):
            measure(width, size, rounds, given.device)


if __name__ == "__main__":
    main()
