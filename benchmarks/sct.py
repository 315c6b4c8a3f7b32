"""SCT: the loss step, queue upkeep included, against the form its authors released.

One step is both directions, forward and backward, and the move of both queues; no encoder. Both forms are
first checked against float64; the peak above the queues is taken in a process of its own each (on a CPU from
Linux' /proc).
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.measurement import Disagreement, Form, Peer, Result, Spread, compare
from benchmarks.processes import forget_peak, resident
from methods.core.losses import unit
from methods.core.queues import VectorQueue
from methods.sct.objective import cross_view_loss

ONLINE, REFERENCE = 0.05, 0.04
BATCH = 128
TIME_TARGET, MEMORY_TARGET = 2.0, 5.0
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
            queue.push(rows)

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
            raise Disagreement(f"the forms disagree: {told[-1]}, expected below {AGREEMENT}")
    return f"errors against float64 (loss {exact.item():.4f}): " + "; ".join(told)


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
    forget_peak()
    before = resident("VmRSS")
    form.step(online, references)
    return (resident("VmHWM") - before) / 1e6


def measure(rounds: int, short: bool, device: str = "cpu") -> list[Result]:
    """Returns time and memory of a step at two widths."""
    size = 4096 if short else 65536
    return [
        result
        for width in ((128,) if short else (128, 384))
        for result in (time_result(width, size, rounds, device), memory_result(width, size, device))
    ]


def time_result(width: int, size: int, rounds: int, device: str) -> Result:
    words = check_agreement(width, size, device)
    queues, online, references = inputs(width, size, device)

    def step(name: str) -> Form:
        form = FORMS[name]([queue.clone() for queue in queues])
        return lambda: form.step(online, references)

    return compare(
        f"SCT's loss and queues, d={width}, queues of {size}",
        {"closed": step("closed"), "direct": step("direct")},
        rounds=rounds,
        targets={"direct": TIME_TARGET},
        device=device,
        agreement=words,
    )


def memory_result(width: int, size: int, device: str) -> Result:
    asked = [(name, width, size, device, torch.get_num_threads()) for name in ("closed", "direct")]
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        closed, direct = pool.starmap(peak_megabytes, asked, chunksize=1)
    peer = Peer("direct", Spread.of([direct]), Spread.of([direct / closed]), MEMORY_TARGET)
    name = f"SCT's memory above its queues, d={width}, queues of {size}"
    return Result(name, "MB", Spread.of([closed]), (peer,))
