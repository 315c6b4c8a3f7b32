"""A builder of PCL on tiny backbones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from methods.pcl.method import PCL
from tests.methods.pcl.building import Make
from tests.methods.pcl.sample import RELEASED
from tests.support import tiny


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
