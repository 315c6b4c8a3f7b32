"""The losses of SCT, ConGen and CKD over a queue, against forms that join queue and batch.

One step is the loss, forward and backward, with SCT's move of both queues; no encoder. Ours is first checked
against float64. The memory above the queues is that of a process of its own for each form (Linux).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.losses import step
from benchmarks.runner import Side, against, agree, compare, figure, forget_peak, fresh, resident
from harness.report.measurements import BenchmarkResult
from methods.ckd.objective import contrastive_distillation
from methods.congen.objective import distribution_distillation
from methods.core.losses import unit
from methods.core.queues import VectorQueue
from methods.sct.objective import cross_view_loss

TAU, TEACHER, STUDENT, REFERENCE = 0.05, 0.05, 0.07, 0.04
"""Temperatures."""


class Queued(NamedTuple):
    """A loss over a queue in our form and in the direct one. inputs: learners' vectors, then all others."""

    ours: Callable[..., Callable[[Tensor], Tensor]]
    direct: Callable[..., Callable[[Tensor], Tensor]]
    queues: int


def sct_ours(queues: list[Tensor], references: Tensor) -> Callable[[Tensor], Tensor]:
    """The project's form: ring buffers, closed-form gradient, chunks of rows; each step moves the queues."""
    held = [VectorQueue(len(rows), rows.shape[1]).to(rows) for rows in queues]
    for queue, rows in zip(held, queues, strict=True):
        queue.push(rows)

    def loss(online: Tensor) -> Tensor:
        stored = [[queue.stored()] for queue in held]
        temperatures = {"online_temperature": TAU, "reference_temperature": REFERENCE}
        total = cross_view_loss(online, references, stored, **temperatures).total
        for queue, view in zip(held, references, strict=True):
            queue.push(view)
        return total

    return loss


def sct_direct(queues: list[Tensor], references: Tensor) -> Callable[[Tensor], Tensor]:
    """Queue joined with the batch each step, four products, softmax and KL as in the released code."""
    held = list(queues)

    def loss(online: Tensor) -> Tensor:
        joined = [torch.cat([queue, view]) for queue, view in zip(held, references, strict=True)]
        total = online.new_zeros(())
        for learner in (0, 1):
            keys = joined[1 - learner].T.clone()
            target = functional.softmax(references[1 - learner] @ keys / REFERENCE, dim=1)
            guess = functional.log_softmax(online[learner] @ joined[1 - learner].T.clone() / TAU, dim=1)
            total = total + functional.kl_div(guess, target, reduction="batchmean")
        held[:] = [both[len(view) :].clone() for both, view in zip(joined, references, strict=True)]
        return total

    return loss


def congen_ours(queues: list[Tensor], references: Tensor) -> Callable[[Tensor], Tensor]:
    settings = {"teacher_temperature": TEACHER, "student_temperature": STUDENT}
    return lambda students: distribution_distillation(
        students, references[0], queues[0], **settings
    ).cross_entropy.mean()


def congen_direct(queues: list[Tensor], references: Tensor) -> Callable[[Tensor], Tensor]:
    def loss(students: Tensor) -> Tensor:
        keys = torch.cat([queues[0], references[0]])
        target = torch.softmax(references[0] @ keys.T / TEACHER, dim=1)
        return -(target * torch.log_softmax(unit(students) @ keys.T / STUDENT, dim=2)).sum(dim=2).mean()

    return loss


def ckd_ours(queues: list[Tensor], references: Tensor) -> Callable[[Tensor], Tensor]:
    return lambda students: contrastive_distillation(students[0], references[0], queues[0], scale=1 / TEACHER)


def ckd_direct(queues: list[Tensor], references: Tensor) -> Callable[[Tensor], Tensor]:
    def loss(students: Tensor) -> Tensor:
        logits = unit(students[0]) @ torch.cat([references[0], queues[0]]).T / TEACHER
        return functional.cross_entropy(logits, torch.arange(len(references[0]), device=logits.device))

    return loss


QUEUED = {
    "SCT": Queued(sct_ours, sct_direct, 2),
    "ConGen": Queued(congen_ours, congen_direct, 1),
    "CKD": Queued(ckd_ours, ckd_direct, 1),
}
BATCH = 128


def sct(rounds: int, short: bool, device: str = "cpu") -> list[BenchmarkResult]:
    """Returns time and memory of SCT's loss step, queue upkeep included, at two widths."""
    targets = {"time": 2.0, "memory": 5.0}
    sizes = [(128, 4096)] if short else [(width, 65536) for width in (128, 384)]
    return [result for size in sizes for result in queued("SCT", *size, rounds, device, targets)]


def teacher_queue(rounds: int, short: bool, device: str = "cpu") -> list[BenchmarkResult]:
    """Returns time and memory of ConGen's and CKD's losses over a queue of a teacher's vectors."""
    sizes = [(64, 512)] if short else [(1024, 16384), (1024, 65536)]
    return [
        result
        for name in ("ConGen", "CKD")
        for size in sizes
        for result in queued(name, *size, rounds, device, {})
    ]


def queued(
    method: str, width: int, size: int, rounds: int, device: str, targets: dict[str, float]
) -> list[BenchmarkResult]:
    """Returns time and memory of both forms, once our form's error against float64 was found small."""
    about = f"d={width}, queues of {size}"
    queues, online, references = queue_inputs(method, width, size, device)
    exact_queues = [queue.double() for queue in queues]
    wide = [online.detach().double().requires_grad_()]
    exact = step(QUEUED[method].direct(exact_queues, references.double()), wide)()
    ours = step(QUEUED[method].ours([queue.clone() for queue in queues], references), [online])()
    words = agree(
        [one.double() for one in ours], exact, tolerance=1e-3, what="loss and gradient in fp32 and fp64"
    )
    sides = {
        name: step(form([queue.clone() for queue in queues], references), [online])
        for name, form in (("closed", QUEUED[method].ours), ("direct", QUEUED[method].direct))
    }
    wanted = {"direct": targets["time"]} if targets else {}
    name = f"{method}'s loss and queues, {about}"
    time = compare(name, sides, rounds=rounds, targets=wanted, device=device, agreement=words)
    closed, direct = (fresh(queue_peak, method, form, width, size, device) for form in ("ours", "direct"))
    peer = against("direct", [direct], [closed], 1.0, targets.get("memory"))
    return [time, figure(f"{method}'s memory above its queues, {about}", "MB", [closed], (peer,))]


def queue_inputs(method: str, width: int, size: int, device: str) -> tuple[list[Tensor], Tensor, Tensor]:
    """Returns queues, the learners' vectors and those that they are compared with, as unit rows.

    All share a direction, as sentence vectors do: soft targets, unlike those of random rows.
    """

    def vectors(rows: int, seed: int) -> Tensor:
        drawn = torch.randn(rows, width, generator=torch.Generator().manual_seed(seed))
        return unit(drawn / width**0.5 + unit(torch.ones(width))).to(device)

    queues = [vectors(size, seed) for seed in range(1, 1 + QUEUED[method].queues)]
    references = torch.stack([vectors(BATCH, seed) for seed in (3, 4)])
    noise = torch.stack([vectors(BATCH, seed) for seed in (5, 6)])
    return queues, unit(references.flip(0) + 0.3 * noise).requires_grad_(), references


def queue_peak(method: str, form: str, width: int, size: int, device: str) -> float:
    """Returns the megabytes that one step takes above queues and batch; to be run in a fresh process."""

    def made(size: int) -> Side:
        queues, online, references = queue_inputs(method, width, size, device)
        return step(getattr(QUEUED[method], form)(queues, references), [online])

    made(BATCH)()  # libraries take their own buffers now
    side = made(size)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        side()
        return (torch.cuda.max_memory_allocated() - before) / 1e6
    before = forget_peak()
    side()
    return (resident("VmHWM") - before) / 1e6
