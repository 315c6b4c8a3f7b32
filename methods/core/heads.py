"""Layers that appear on the pooled vector during training and are dropped at export."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field
from torch import Tensor, nn

from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.fast.linear import linear

INITIAL_SD = 0.02
"""Standard deviation of new weights, as BERT initialises its own."""

TrainingHead = Annotated[
    Literal["mlp", "none"], Field(description="dense layer with tanh during training; never exported")
]
"""The setting of methods that train with the head of SimCSE, or without any."""


class TanhHead(nn.Module):
    """One dense layer with tanh, new weights: the head of SimCSE's training. Shapes: [B, d] to [B, d]."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, width)
        nn.init.normal_(self.dense.weight, std=INITIAL_SD)
        nn.init.zeros_(self.dense.bias)

    def forward(self, pooled: Tensor) -> Tensor:
        return self.dense(pooled).tanh()


class BatchNormHead(nn.Sequential):
    """Dense layers, each followed by batch norm, with ReLU between them; the last norm has no scale or shift.

    widths: of the input and of every layer, [d, ..., D]. Only the first layer may have a bias. A head of
    training: its statistics are always those of the batch.
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
                "a batch norm of 1 vector, expected at least 2; take a larger batch, or drop an "
                "epoch's last batch with `drop_last: true`"
            )
        layer: Any
        for layer in self:
            pooled = linear(layer, pooled) if isinstance(layer, nn.Linear) else layer(pooled)
        return pooled


def training_head(kind: TrainingHead, width: int) -> nn.Module:
    """Returns the head that a config asks for; [B, d] to [B, d]."""
    return TanhHead(width) if kind == "mlp" else nn.Identity()


def take_pooler(encoder: SentenceEncoder) -> nn.Linear:
    """Returns the dense layer of the backbone's own pooler (`hf_pooler`), which the backbone loses."""
    backbone: Any = encoder.backbone
    dense: nn.Linear = backbone.pooler.dense
    backbone.pooler = None
    return dense


def pooler_head(encoder: SentenceEncoder) -> TanhHead:
    """Returns the backbone's own pooler as a head; it is not exported with the backbone any more."""
    head = TanhHead(encoder.width)
    head.dense = take_pooler(encoder)
    return head
