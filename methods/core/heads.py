"""Training heads: layers on the pooled vector that are dropped at export."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field
from torch import Tensor, nn

from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.fast.linear import linear

INITIAL_SD = 0.02
"""Standard deviation of initial weights, as in BERT."""

TrainingHead = Annotated[
    Literal["mlp", "none"], Field(description="dense layer with tanh during training; never exported")
]
"""Setting of methods that train with the head of SimCSE or without a head."""


class TanhHead(nn.Module):
    """A newly initialised dense layer with tanh, the training head of SimCSE. Shapes: [B, d] to [B, d]."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, width)
        nn.init.normal_(self.dense.weight, std=INITIAL_SD)
        nn.init.zeros_(self.dense.bias)

    def forward(self, pooled: Tensor) -> Tensor:
        return self.dense(pooled).tanh()


class BatchNormHead(nn.Sequential):
    """Dense layers, each followed by batch norm, with ReLU between them; the last norm has no scale or shift.

    widths: of the input and of every layer, [d, ..., D]. Only the first layer may have a bias. It always uses
    the statistics of the batch.
    Source: the projectors of DiffCSE ([d, 2d, d], no bias) and of SCD ([d, D, D, D], one bias) in their code.
    Shapes: [B, d] to [B, D]; every column of the result has mean 0 and variance v / (v + eps) over the batch.
    Errors: InputError for a batch of one row, which has no variance.
    """

    def __init__(self, widths: Sequence[int], *, first_bias: bool) -> None:
        layers: list[nn.Module] = []
        for number, (narrow, wide) in enumerate(pairwise(widths), start=1):
            dense = nn.Linear(narrow, wide, bias=first_bias and number == 1)
            nn.init.normal_(dense.weight, std=INITIAL_SD)
            if dense.bias is not None:
                nn.init.zeros_(dense.bias)
            last = number == len(widths) - 1
            layers += [dense, nn.BatchNorm1d(wide, affine=not last)]
            layers += [] if last else [nn.ReLU()]
        super().__init__(*layers)

    def forward(self, pooled: Tensor) -> Tensor:
        if len(pooled) < 2:
            raise InputError(
                "batch norm needs at least 2 vectors; use a larger batch, or drop an "
                "epoch's last batch with `drop_last: true`"
            )
        layer: Any
        for layer in self:
            pooled = linear(layer, pooled) if isinstance(layer, nn.Linear) else layer(pooled)
        return pooled


def training_head(kind: TrainingHead, width: int) -> nn.Module:
    """Returns the training head of a kind; [B, d] to [B, d]."""
    return TanhHead(width) if kind == "mlp" else nn.Identity()


def take_pooler(encoder: SentenceEncoder) -> nn.Linear:
    """Removes the backbone's pooler (`hf_pooler`) and returns its dense layer."""
    backbone: Any = encoder.backbone
    dense: nn.Linear = backbone.pooler.dense
    backbone.pooler = None
    return dense


@contextmanager
def without_output(encoder: SentenceEncoder) -> Iterator[Any]:
    """Yields the output layer of an encoder, which lacks it in the block."""
    layer, encoder.output = encoder.output, None
    try:
        yield layer
    finally:
        encoder.output = layer


def pooler_head(encoder: SentenceEncoder) -> TanhHead:
    """Returns the backbone's pooler as a training head; it is no longer exported with the backbone."""
    head = TanhHead(encoder.width)
    head.dense = take_pooler(encoder)
    return head
