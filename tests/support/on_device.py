"""Steps and trainings of a sample on a device, a simulated GPU or this machine's own."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from harness.process import make_gpu_deterministic
from methods.core.method import Method
from methods.core.optimizer import build_optimizer, set_rate
from methods.core.rows import Row
from methods.core.train_config import TrainConfig
from methods.core.types import to_device
from tests.support import tiny
from tests.support.samples import SampleInputs, folder_bytes, make
from tests.support.simulated_device import DEVICE, on_host, simulated_device
from tests.support.tiny import Sample


class Card(NamedTuple):
    """A GPU: its name for torch, how often the host has waited for it, and the operators that it ran."""

    device: str
    waits: Callable[[], int]
    operators: set[str]


@contextmanager
def card(kind: str) -> Iterator[Card]:
    """Yields a `simulated` GPU, or with `cuda` this machine's own, set up as the harness does it.

    Waits of a real one are torch's warnings; which operators it runs is not recorded: torch itself refuses
    those without a deterministic form.
    """
    if kind == "simulated":
        with simulated_device() as gpu:
            yield Card(DEVICE, gpu.waits.total, gpu.operators)
        return
    make_gpu_deterministic()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            yield Card(
                "cuda", lambda: sum("synchronizing" in str(warning.message) for warning in caught), set()
            )
        finally:
            torch.cuda.set_sync_debug_mode("default")


class Steps(NamedTuple):
    """Losses and the host's waits of two steps, and the gradients of the first."""

    losses: list[float]
    waits: list[int]
    gradients: dict[str, Tensor]


class DrawnOnTheHost(TorchFunctionMode):
    """Draws the random numbers of a loss on the CPU, as a GPU's generator gives others for the same seed."""

    def __torch_function__(  # type: ignore[override]
        self,
        function: Callable[..., Any],
        types: Any,
        given: Any = (),
        settings: dict[str, Any] | None = None,
    ) -> Any:
        """Draws on the CPU and copies the numbers to the device that the method named."""
        settings = dict(settings or {})
        if function in (Tensor.bernoulli_, Tensor.exponential_) and given[0].is_cuda:
            drawn = function(torch.empty(given[0].shape), *given[1:], **settings)
            return given[0].copy_(drawn, non_blocking=True)
        if function is torch.randn_like and given[0].is_cuda:
            return torch.randn(given[0].shape).to(given[0], non_blocking=True)
        if function in (torch.randn, torch.randint) and "cuda" in str(settings.get("device")):
            device = settings.pop("device")
            return function(*given, **settings).to(device, non_blocking=True)
        return function(*given, **settings)


@contextmanager
def without_dropout() -> Iterator[None]:
    """Turns off all dropout, and draws other random numbers on the CPU: a GPU would draw others."""
    attention = functional.scaled_dot_product_attention

    def undropped(*given: Tensor, dropout_p: float = 0.0, **settings: Any) -> Tensor:
        return attention(*given, **settings)

    def unchanged(inputs: Tensor, *_: Any, **__: Any) -> Tensor:
        return inputs

    with (
        mock.patch("methods.core.dropout.dropped", unchanged),
        mock.patch("torch.nn.functional.dropout", unchanged),
        mock.patch("torch.nn.functional.scaled_dot_product_attention", undropped),
        DrawnOnTheHost(),
    ):
        yield


def steps_on(
    device: str,
    method: Method,
    rows: list[Row],
    waits: Callable[[], int] = lambda: 0,
    *,
    precision: str = "fp32",
) -> Steps:
    """Takes the first two steps of a training. waits: how often the host has waited for the device so far."""
    method.to(device).train()
    config = TrainConfig.model_validate(tiny.TRAIN)
    optimizer = build_optimizer(method, config)
    losses, waited, kept = [], list[int](), dict[str, Tensor]()
    for step in range(2):
        batch = to_device(tiny.collate(method, rows[:8], step=step), device)
        before = waits()
        torch.manual_seed(step)
        set_rate(optimizer, config, step=step, factor=1.0)
        with torch.autocast(device, torch.bfloat16, enabled=precision == "bf16"):
            loss = method.loss(batch).total
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        gradients = {name: value.grad for name, value in method.named_parameters() if value.grad is not None}
        optimizer.step()
        method.after_step(step)
        waited.append(waits() - before)
        losses.append(loss.detach())
        if step == 0:
            kept = {name: on_host(value).cpu().clone() for name, value in gradients.items()}
    return Steps([float(on_host(loss)) for loss in losses], waited, kept)


class TrainingKilled(Exception):
    """Ends a training in the middle of a step."""


def killed_and_resumed(device: str, sample: Sample, base: SampleInputs, folder: Path) -> tiny.Trainer:
    """Returns a training on the device that was killed after its second step and resumed.

    Errors: AssertionError unless it writes the same weights and log as one that was not killed.
    """
    methods = [make(sample, base, seed) for seed in (3, 3, 99)]

    def die(step: int) -> None:
        type(methods[1]).after_step(methods[1], step)
        if step == 2:
            raise TrainingKilled

    methods[1].after_step = die  # type: ignore[method-assign]
    folders = folder / "whole", folder / "killed", folder / "killed"
    short = {"steps": 4, "eval_every": 2}
    whole, dying, resumed = (
        tiny.trainer(method, into, **short) for method, into in zip(methods, folders, strict=True)
    )
    for trainer in (whole, dying, resumed):
        trainer.device = device
    whole.fit(base.rows)
    try:
        dying.fit(base.rows)
    except TrainingKilled:
        resumed.fit(base.rows)
    assert resumed.record == whole.record
    assert folder_bytes(resumed.folder.last) == folder_bytes(whole.folder.last)
    assert (resumed.directory / "train.jsonl").read_bytes() == (whole.directory / "train.jsonl").read_bytes()
    return resumed
