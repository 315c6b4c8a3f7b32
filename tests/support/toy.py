"""A training of two numbers: every file that the trainer writes, in a few milliseconds."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from methods.core.method import Method, MethodConfig
from methods.core.rows import Row
from methods.core.train_config import TrainConfig
from methods.core.trainer import Trainer
from methods.core.types import Batch, Loss
from tests.support import tiny

ROWS = [Row(index, f"row {index}") for index in range(4)]
SCHEDULE = {"steps": None, "epochs": 4, "batch_size": 2}
"""Two steps an epoch, eight in all."""


class ToyEncoder(nn.Module):
    """Two weights and the number of steps they have behind them; saved as one file."""

    dim = 2

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2))
        self.steps: torch.Tensor
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def encode(self, texts: Sequence[str], *, batch_size: int = 128) -> np.ndarray:
        return np.tile(self.weight.detach().numpy(), (len(texts), 1))

    def save(self, directory: Path) -> None:
        directory.mkdir(parents=True)
        (directory / "weight").write_bytes(self.weight.detach().numpy().tobytes())


class ToyNetworks:
    """Provides the toy's encoder, like `Networks` for a backbone."""

    new_encoder = ToyEncoder


class Toy(Method):
    """Draws its weights towards random points."""

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        return rows

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        return {"points": torch.from_numpy(rng.normal(size=(len(rows), 2)).astype(np.float32))}

    def loss(self, batch: Batch) -> Loss:
        noise = torch.randn(2)  # from the trainer's stream of the step
        return Loss((self.encoder.weight + noise - batch["points"]).square().sum(), {})

    def after_step(self, step: int) -> None:
        self.encoder.steps += 1  # type: ignore[operator]


def toy_trainer(
    folder: Path,
    scores: Mapping[int, float],
    *,
    start: int = 0,
    seed: int = 3,
    seconds_between: float = 0.0,
    **train: Any,
) -> Trainer:
    """Returns a trainer of a toy whose dev score after that many steps is `scores[steps]`, otherwise 0.

    start: seed of the weights, which a run that goes on must not depend on.
    """
    torch.manual_seed(start)
    method = Toy(MethodConfig(max_length=3), ToyNetworks())  # type: ignore[arg-type]
    config = TrainConfig.model_validate({**tiny.TRAIN, **SCHEDULE, **train})
    return Trainer(
        method,
        config,
        seed,
        lambda encoder: {"score": scores.get(int(encoder.steps), 0.0)},  # type: ignore[attr-defined]
        folder,
        seconds_between=seconds_between,
    )


class AtOnce:
    """A writer of resume points that has written when `submit` returns, as if the disk took no time."""

    def submit(self, write: Callable[..., None], *given: Any) -> Future[None]:
        written: Future[None] = Future()
        write(*given)
        written.set_result(None)
        return written


class Later(Future[None]):
    """A write that takes place when it is asked for the third time whether it did, or is waited for."""

    def __init__(self, write: Callable[[], None]) -> None:
        super().__init__()
        self.write, self.asked = write, 0

    def done(self) -> bool:
        self.asked += 1
        if self.asked == 3:
            self.result()
        return super().done()

    def result(self, timeout: float | None = None) -> None:
        if not super().done():
            self.set_result(None)
            self.write()


class StepsLate:
    """A writer of resume points that writes while training is two steps further."""

    def submit(self, write: Callable[..., None], *given: Any) -> Later:
        return Later(lambda: write(*given))
