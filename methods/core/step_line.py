"""Log line of a training step, read from the device without waiting for later steps."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from methods.core.errors import NotFiniteError

GRAD_NORM = "grad_norm"


class StepLine:
    """A log line whose numbers may still be in transfer from the device."""

    def __init__(self, line: dict[str, float], scalars: Mapping[str, Tensor]) -> None:
        self.line, self.names = line, list(scalars)
        values = torch.stack([scalar.float() for scalar in scalars.values()])
        self.values = values.to("cpu", non_blocking=True)
        self.arrived = torch.cuda.Event() if values.device.type == "cuda" else None
        if self.arrived is not None:
            self.arrived.record()

    def finished(self) -> dict[str, float]:
        """Returns the line without waiting for later steps; NotFiniteError if the loss is not finite."""
        if self.arrived is not None:
            self.arrived.synchronize()
        values = dict(zip(self.names, self.values.tolist(), strict=True))
        if not math.isfinite(values["loss"]):
            shown = ", ".join(f"{name} {value:.6g}" for name, value in values.items() if name != GRAD_NORM)
            raise NotFiniteError(
                f"step {self.line['step']}: the loss is not finite ({shown}); lower the learning rate"
            )
        return self.line | values
