"""An invertible map with additive couplings and a constant determinant: an output layer of an encoder.

Source: Glow on images of one pixel, as in the released code of BERT-flow.
Legend: B vectors, d their width.
"""

from pathlib import Path
from typing import Literal, Self, cast

import torch
from pydantic import BaseModel, ConfigDict, Field
from safetensors.torch import save_file
from torch import Tensor, nn

from methods.core.checkpoints import read_tensors
from methods.core.errors import InputError
from methods.core.losses import wide
from methods.core.model_errors import in_one_line, read_json

SCALE_FACTOR = 3.0
"""Divisor of stored scales."""
INITIAL_SD = 0.05
"""Standard deviation of the initial weights of a coupling's inner layers; its last layer starts at zero."""

SMALLEST_DEVIATION = 1e-6
SETTINGS, WEIGHTS = "config.json", "model.safetensors"

Permutation = Literal["reversal", "random"]


class FlowSettings(BaseModel):
    """The sizes of a flow, stored next to its weights."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    width: int = Field(ge=2, description="d, of the vectors")
    levels: int = Field(
        ge=1, le=60, description="M; after each level but the last, half of the channels is final"
    )
    depth: int = Field(ge=1, description="steps of each level")
    hidden: int = Field(ge=1, description="width of the couplings' inner layers")
    permutation: Permutation = Field(description="order of the channels between scaling and coupling")


class Scaling(nn.Module):
    """x to exp(3 s) (x + b), per channel; [B, d] to [B, d]."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(width))
        self.scale = nn.Parameter(torch.zeros(width))

    def forward(self, vectors: Tensor) -> Tensor:
        return (SCALE_FACTOR * self.scale).exp() * (vectors + self.bias)

    @torch.no_grad()
    def fit(self, vectors: Tensor) -> None:
        """Sets s and b so that the outputs of `vectors` have mean 0 and variance 1."""
        deviation = vectors.std(dim=0, correction=0)
        self.bias.copy_(-vectors.mean(dim=0))
        self.scale.copy_(-(deviation + SMALLEST_DEVIATION).log() / SCALE_FACTOR)


class Coupling(nn.Module):
    """Adds a function of the first half of the channels to the second half; the determinant is 1."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        half = width // 2
        self.first, self.second = (nn.Linear(size, hidden, bias=False) for size in (half, hidden))
        self.first_scaling, self.second_scaling = Scaling(hidden), Scaling(hidden)
        self.last = nn.Linear(hidden, half)
        self.last_scale = nn.Parameter(torch.zeros(half))
        for layer in (self.first, self.second):
            nn.init.normal_(layer.weight, std=INITIAL_SD)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def forward(self, vectors: Tensor) -> Tensor:
        first, second = vectors.chunk(2, dim=-1)
        inner = self.first_scaling(self.first(first)).relu()
        inner = self.second_scaling(self.second(inner)).relu()
        shift = self.last(inner) * (SCALE_FACTOR * self.last_scale).exp()
        return torch.cat([first, second + shift], dim=-1)


class FlowStep(nn.Module):
    """Scaling, a fixed order of the channels, coupling; [B, d] to [B, d]."""

    order: Tensor

    def __init__(self, width: int, settings: FlowSettings) -> None:
        super().__init__()
        self.scaling = Scaling(width)
        reversal = torch.arange(width).flip(0)
        self.register_buffer(
            "order", reversal if settings.permutation == "reversal" else torch.randperm(width)
        )
        self.coupling = Coupling(width, settings.hidden)

    def forward(self, vectors: Tensor) -> Tensor:
        return self.coupling(self.scaling(vectors)[:, self.order])


class CouplingFlow(nn.Module):
    """The whole map, u to z = [second halves of the levels in order; the first half of the last level].

    Computed in fp32 or wider, also under autocast. The width stays the same and is also `out_features`.
    Shapes: [B, d] to [B, d].
    Errors: InputError if the width cannot be halved at every level.
    """

    def __init__(self, settings: FlowSettings) -> None:
        super().__init__()
        if settings.width % 2**settings.levels:
            raise InputError(
                f"a flow of {settings.levels} levels needs a width divisible by "
                f"{2**settings.levels}, not {settings.width}; use fewer levels"
            )
        self.settings = settings
        self.out_features = settings.width
        self.levels = nn.ModuleList(
            nn.ModuleList(FlowStep(settings.width // 2**level, settings) for _ in range(settings.depth))
            for level in range(settings.levels)
        )

    def forward(self, vectors: Tensor) -> Tensor:
        done = []
        with torch.autocast(vectors.device.type, enabled=False):
            vectors = wide(vectors)
            for number, level in enumerate(self.levels):
                for step in cast(nn.ModuleList, level):
                    vectors = step(vectors)
                if number < len(self.levels) - 1:
                    vectors, second = vectors.chunk(2, dim=-1)
                    done.append(second)
        return torch.cat([*done, vectors], dim=-1)

    @torch.no_grad()
    def fit(self, vectors: Tensor) -> Tensor:
        """Fits every scaling in order to these vectors; returns their outputs, with mean 0 and variance 1."""
        scalings = [part for part in self.modules() if isinstance(part, Scaling)]
        hooks = [
            part.register_forward_pre_hook(lambda scaling, given: scaling.fit(*given)) for part in scalings
        ]
        try:
            return self(vectors)
        finally:
            for hook in hooks:
                hook.remove()

    def log_determinant(self) -> Tensor:
        """Returns log |det dz/du|, a scalar equal for all vectors: 3 times the sum of the steps' scales."""
        scales: list[Tensor] = [part.scaling.scale for part in self.modules() if isinstance(part, FlowStep)]
        return SCALE_FACTOR * torch.cat(scales).sum()

    def save(self, folder: Path) -> None:
        """Writes settings and weights into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / SETTINGS).write_text(self.settings.model_dump_json(indent=1) + "\n", encoding="utf-8")
        save_file(
            {name: value.detach().cpu().contiguous() for name, value in self.state_dict().items()},
            folder / WEIGHTS,
        )

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Returns the flow in a folder that `save` wrote. Errors: InputError if there is none."""
        tensors = read_tensors(folder / WEIGHTS)
        with in_one_line(folder, "a flow"):
            flow = cls(FlowSettings.model_validate(read_json(folder / SETTINGS)))
            flow.load_state_dict(tensors)
        return flow
