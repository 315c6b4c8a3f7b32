"""Laws that every method must satisfy, checked on a custom method in a few steps.

The conformance kit (tests/conformance) checks these laws, and more, on every method of the project.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from harness.check.not_finite import first_not_finite, gradient_not_finite
from harness.errors import InputError, place_in
from methods.core import streams
from methods.core.encoder import SentenceEncoder, evaluating
from methods.core.errors import NotFiniteError
from methods.core.folders import load_encoder
from methods.core.method import Method
from methods.core.pooling import pool
from methods.core.rows import Row
from methods.core.train_config import TrainConfig
from methods.core.trainer import Trainer
from methods.core.types import MASK, Encoder, Loss

SEED, STEPS, STOP = 3, 4, 2
ROWS, BATCH = 64, 8
RAISED = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, RuntimeError, TypeError)
"""Errors that a faulty method may raise; InputError is a ValueError."""
VECTORS_APART = 1e-5
"""Relative to a vector's length, between a batch and a single text: sums have a different order."""


class Law(NamedTuple):
    """A law and its violation, which is empty if the law holds. ran: False if its check ended with an error
    that an earlier law has reported, so that nothing is known about it.
    """

    name: str
    fault: str = ""
    ran: bool = True


@dataclass
class Subject:
    """Subject of the laws. build: returns a method with weights drawn from SEED."""

    build: Callable[[], Method]
    rows: Sequence[Row]
    train: TrainConfig
    folder: Path
    file: Path

    @cached_property
    def whole(self) -> tuple[Method, dict[str, bytes]]:
        """An uninterrupted training shared by several laws: its method, and the bytes of its files."""
        method = self.build()
        return method, self.fit(method, "whole")

    def batch(self, method: Method, step: int = 0) -> Any:
        """Returns the batch of a step."""
        rng = streams.generator(SEED, streams.COLLATE, step)
        return method.collate(list(self.rows[:BATCH]), step=step, rng=rng)

    def loss(self, method: Method) -> Loss:
        """Returns the loss of the first batch, with the same draws in each call."""
        torch.manual_seed(SEED)
        return method.loss(self.batch(method))

    def prepared(self) -> Method:
        """Returns a method in training mode that has read the rows."""
        method = self.build()
        self.rows = list(method.prepare(self.rows))
        method.total_steps = STEPS
        return method.train()

    def fit(self, method: Method, name: str) -> dict[str, bytes]:
        """Trains STEPS steps, or those that remain; returns every file of `best` and `last` by its path."""
        sizes = {"steps": STEPS, "epochs": None, "batch_size": BATCH, "eval_every": 2, "save_every": 1}
        config, folder = self.train.model_copy(update=sizes), self.folder / name
        Trainer(method, config, SEED, _probe, folder, seconds_between=0.0).fit(self.rows)
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for part in (*folder.glob("best*"), folder / "last")
            for path in sorted(part.rglob("*"))
            if path.is_file()
        }


def check_laws(
    build: Callable[[], Method], rows: Sequence[Row], train: TrainConfig, file: Path
) -> Iterator[Law]:
    """Yields every law with its violation; a violation does not stop the check. An error of the method's code
    is the violation of the first law that meets it, and so is a loss that is not finite.

    build: returns the method with weights that a fixed seed draws. rows: at least ROWS sentences.
    """
    with tempfile.TemporaryDirectory(prefix="sentbench-") as folder:
        subject, raised = Subject(build, rows[:ROWS], train, Path(folder), file), set[str]()
        for name, check in LAWS.items():
            try:
                check(subject)
            except NotFiniteError as error:  # of training, unless a law of the loss has named its cause
                yield Law(name, ran=False) if NotFiniteError.__name__ in raised else Law(name, str(error))
                raised.add(NotFiniteError.__name__)
            except InputError as error:
                yield Law(name, str(error))
            except (*RAISED, ValueError) as error:
                fault = " ".join(place_in(file, error).split())
                yield Law(name, ran=False) if fault in raised else Law(name, fault)
                raised.add(fault)
            else:
                yield Law(name)


def _loss(subject: Subject) -> None:
    method = subject.prepared()
    for wide in (False, True):
        with torch.autocast("cpu", torch.bfloat16, enabled=wide):
            loss = subject.loss(method)
        if not isinstance(loss, Loss):
            raise InputError(f"loss returns a {type(loss).__name__}; return Loss(total, {{}})")
        total = loss.total
        where = " under autocast" if wide else ""
        if total.shape != ():
            raise InputError(f"loss{where} has shape {list(total.shape)}; return its mean")
        if total.dtype != torch.float32:
            cause = ": there the product of fp32 vectors has it too" if wide else ""
            remedy = "within torch.autocast(device, enabled=False)" if wide else "with .float()"
            raise InputError(f"loss{where} is {total.dtype}{cause}; compute it {remedy}")
        if not torch.isfinite(total):
            with torch.autocast("cpu", torch.bfloat16, enabled=wide):
                cause = first_not_finite(lambda: subject.loss(method), subject.file)
            raise NotFiniteError(f"loss{where} is {total.item()} before the first step{cause}")
        for name, part in loss.parts.items():
            if part.shape != () or part.requires_grad:
                raise InputError(f"part {name!r} has a shape or a graph; log part.detach().mean()")


def _gradient(subject: Subject) -> None:
    method = subject.prepared()
    total = subject.loss(method).total
    if not total.requires_grad:
        raise InputError("loss has no graph; remove detach() or no_grad()")
    total.backward()
    for name, parameter in method.named_parameters():
        if parameter.grad is not None and not torch.isfinite(parameter.grad).all():
            cause = gradient_not_finite(lambda: subject.loss(method).total, subject.file)
            raise NotFiniteError(f"the gradient of {name} is not finite before the first step{cause}")
    gradients = [p.grad for p in method.encoder.parameters() if p.grad is not None]
    reached = any(bool(gradient.ne(0).any()) for gradient in gradients)
    if not reached and not _vectors_get_a_gradient(subject, method):
        none = "no parameter of self.encoder gets a gradient; compute the loss from its vectors"
        zero = "the gradient is exactly zero: the loss is constant there (an inactive hinge or clamp?)"
        raise InputError(zero if gradients else none)


def _vectors_get_a_gradient(subject: Subject, method: Method) -> bool:
    """Returns whether the gradient reaches the encoder's vectors. Then its trained layers get none because a
    frozen layer of zeros follows them, as the feed-forward output of the small encoder is at its start.
    """
    vectors: list[torch.Tensor] = []

    def keep(module: torch.nn.Module, inputs: Any, output: Any) -> None:
        if isinstance(output, torch.Tensor) and output.requires_grad:
            output.retain_grad()
            vectors.append(output)

    handle = method.encoder.register_forward_hook(keep)
    try:
        subject.loss(method).total.backward()
    finally:
        handle.remove()
    return any(kept.grad is not None and bool(kept.grad.ne(0).any()) for kept in vectors)


def _collate(subject: Subject) -> None:
    method = subject.prepared()
    torch.manual_seed(1)
    first = _flat(subject.batch(method, 4))
    torch.manual_seed(2)
    np.random.seed(2)  # noqa: NPY002 - an author may have used it
    second = _flat(subject.batch(method, 4))
    if first.keys() != second.keys() or not all(map(_same, first.values(), second.values())):
        raise InputError("two calls with the same rows, step and rng differ; draw only from `rng`")


def _seed(subject: Subject) -> None:
    if subject.fit(subject.build(), "second") != subject.whole[1]:
        raise InputError(
            "two trainings with one seed differ; draw from torch or `rng`, never from time or random"
        )


def _resume(subject: Subject) -> None:
    method = subject.build()

    class Interrupted(Exception):
        """Simulates the end of a process."""

    class Dying(type(method)):  # type: ignore[misc]
        def after_step(self, step: int) -> None:
            super().after_step(step)
            if step == STOP:
                raise Interrupted

    method.__class__ = Dying
    with suppress(Interrupted):
        subject.fit(method, "killed")
    if subject.fit(subject.build(), "killed") != subject.whole[1]:
        raise InputError(
            f"a run killed after step {STOP} and continued has different weights; keep state in a parameter "
            f"or a registered buffer"
        )


def _state(subject: Subject) -> None:
    before, after = (
        {name: tensor.shape for name, tensor in method.state_dict().items()}
        for method in (subject.build(), subject.whole[0])
    )
    changed = sorted(name for name in before | after if before.get(name) != after.get(name))
    if changed:
        raise InputError(f"training creates or reshapes {', '.join(changed)}; create it in __init__")


def _attached(subject: Subject) -> None:
    texts = [row.text for row in subject.rows[:BATCH]]
    for method, when in ((subject.prepared(), "before"), (subject.whole[0], "after")):
        encoder: Any = method.encoder
        if not isinstance(encoder, SentenceEncoder):
            return
        tokens = encoder.tokenize(texts)
        with evaluating(encoder):
            torch.manual_seed(SEED)
            called = encoder(tokens)
            torch.manual_seed(SEED)
            expected = pool(encoder.states(tokens), tokens[MASK], encoder.pooling)
        if (called - expected).abs().max() > 10 * VECTORS_APART * max(1.0, float(expected.abs().max())):
            raise InputError(
                f"self.encoder(tokens) differs {when} training from the states of its own layers; what is "
                f"attached to them must not depend on earlier calls"
            )


def _vectors(subject: Subject) -> None:
    encoder = subject.whole[0].exported()
    texts = [row.text for row in subject.rows]
    together = encoder.encode(texts)
    alone = np.concatenate([encoder.encode([text]) for text in texts[::7]])
    if together.shape != (len(texts), encoder.dim):
        raise InputError(f"the exported encoder gives {list(together.shape)}, expected {len(texts)} vectors")
    if np.abs(together[::7] - alone).max() > VECTORS_APART * max(1.0, float(np.abs(alone).max())):
        raise InputError("an exported vector depends on the other texts of its batch")


def _saved(subject: Subject) -> None:
    encoder = subject.build().exported()
    encoder.save(subject.folder / "saved")
    texts = [row.text for row in subject.rows[:BATCH]]
    if not np.array_equal(load_encoder(subject.folder / "saved").encode(texts), encoder.encode(texts)):
        raise InputError("the saved encoder and the encoder in memory give different vectors")


LAWS: Mapping[str, Callable[[Subject], None]] = {
    "the loss is one finite fp32 number": _loss,
    "the gradient reaches the encoder": _gradient,
    "collate depends on its arguments only": _collate,
    "the same seed gives the same bytes": _seed,
    "a killed run continues to the same bytes": _resume,
    "training creates no state": _state,
    "what is attached to the encoder takes part": _attached,
    "a vector does not depend on its batch": _vectors,
    "the saved encoder gives the same vectors": _saved,
}
WITHOUT_TRAINING = 3
"""The first laws train nothing."""


def _probe(encoder: Encoder) -> dict[str, float]:
    """Returns a cheap substitute of a dev score that depends on all weights."""
    first, second = encoder.encode(["a man plays a guitar", "a dog sleeps under the tree"])
    return {"score": float(np.dot(first, second))}


def _flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """Returns the values of a batch (tensors, numbers, others) by their path of names."""
    if not isinstance(value, Mapping):
        return {prefix: value}
    return {name: t for key, part in value.items() for name, t in _flat(part, f"{prefix}/{key}").items()}


def _same(value: Any, other: Any) -> bool:
    if isinstance(value, torch.Tensor) and isinstance(other, torch.Tensor):
        return torch.equal(value, other)
    return type(value) is type(other) and bool(np.array_equal(value, other))
