"""What the tests of PCL do with a built method: a batch, the parts of its loss, gradients, views."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from methods.core.types import Batch, Row
from methods.pcl.method import PCL

Make = Callable[..., PCL]
DIVERGENCES = ("kl_consistency", "kl_agreement")


def gradient_of(method: PCL, batch: Batch, seed: int = 0) -> dict[str, Tensor]:
    method.zero_grad()
    torch.manual_seed(seed)
    method.loss(batch).total.backward()
    return {name: p.grad.clone() for name, p in method.named_parameters() if p.grad is not None}


def parts(method: PCL, batch: Batch) -> dict[str, float]:
    torch.manual_seed(0)
    loss = method.loss(batch)
    return {"total": loss.total.item(), **{name: part.item() for name, part in loss.parts.items()}}


def views_of(method: PCL, row: Row, seed: int = 0) -> list[list[int]]:
    ids = method.token_ids([row])
    return [view.tolist() for view in method.views(ids, np.random.default_rng(seed))]
