"""What DCLR's tests do with a built method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from methods.core.method import Method
from methods.dclr.method import DCLR
from tests.support import tiny

Build = Callable[..., DCLR]


def batch_of(method: Method, count: int = 8, step: int = 0) -> Any:
    return tiny.collate(method, tiny.rows()[:count], step=step)


def loss_of(method: Method, batch: Any = None) -> Any:
    torch.manual_seed(7)
    return method.loss(batch_of(method) if batch is None else batch)
