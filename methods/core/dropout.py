"""The dropout of a network: its rate, set for all of training or for one pass."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


def set_dropout(module: nn.Module, rate: float) -> None:
    """Sets the rate of every dropout layer of `module`: embeddings, attention and both outputs of a layer."""
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = rate


@contextmanager
def dropout_rate(module: nn.Module, rate: float) -> Iterator[None]:
    """Sets the rate of every dropout layer of `module` and gives each its own back after.

    What was computed inside keeps its masks, so gradients may be taken later.
    """
    rates = {part: part.p for part in module.modules() if isinstance(part, nn.Dropout)}
    set_dropout(module, rate)
    try:
        yield
    finally:
        for part, own in rates.items():
            part.p = own
