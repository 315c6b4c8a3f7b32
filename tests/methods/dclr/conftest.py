"""Fixtures of DCLR's tests: networks of several kinds, and methods built on them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from methods.core.method import Method
from tests.support import tiny
from tests.support.tiny import Sample

Build = Callable[..., Any]


def batch_of(method: Method, count: int = 8, step: int = 0) -> Any:
    return tiny.collate(method, tiny.rows()[:count], step=step)


def loss_of(method: Method, batch: Any = None) -> Any:
    torch.manual_seed(7)
    return method.loss(batch_of(method) if batch is None else batch)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    top = tmp_path_factory.mktemp("dclr")
    parent = tiny.write_parent(top, "encoder", tiny.rows())
    assert parent is not None
    return {
        "student": tiny.write_backbone(top / "student"),
        "calm": tiny.write_backbone(top / "calm", dropout=0.0),
        "wide": tiny.write_backbone(top / "wide", width=24, seed=8),
        "complement": parent,
    }


@pytest.fixture
def build(folders: dict[str, Path]) -> Build:
    def made(
        config: dict[str, Any],
        *,
        parent: str | Path | None = "complement",
        backbone: str = "student",
        name: str = "dclr",
    ) -> Any:
        folder = folders[parent] if isinstance(parent, str) else parent
        method = tiny.build(Sample(name, "test", config), folders[backbone], parent=folder, pooling="cls")
        method.train().prepare(tiny.rows())
        return method

    return made
