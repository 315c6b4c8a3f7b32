"""A builder of PCL on tiny backbones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from methods.core.types import Batch, Row
from methods.pcl.method import PCL
from tests.methods.pcl.sample import RELEASED
from tests.support import tiny

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


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    top = tmp_path_factory.mktemp("pcl")
    made = {
        "plain": tiny.write_backbone(top / "plain"),
        "still": tiny.write_backbone(top / "still", dropout=0.0),
    }
    parent = tiny.write_parent(top, "encoder", [])
    assert parent is not None
    return {
        **made,
        "parent": parent,
        "public": tiny.write_backbone(top / "public", seed=9),
        "wide": tiny.write_backbone(top / "wide", width=32),
    }


@pytest.fixture
def make(folders: dict[str, Path]) -> Make:
    """Returns a builder of PCL on a tiny backbone: `backbone` and `parent` name folders, others switches."""

    def build(
        base: dict[str, Any] = RELEASED, *, backbone: str = "plain", parent: str | None = None, **changes: Any
    ) -> PCL:
        sample = tiny.Sample("pcl", "test", {**base, **changes})
        folder = folders[parent] if parent else None
        method = tiny.build(sample, folders[backbone], parent=folder, pooling="cls")
        assert isinstance(method, PCL)
        return method.train()

    return build
