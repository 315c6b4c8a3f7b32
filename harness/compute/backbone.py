"""The folder that training starts from."""

from __future__ import annotations

import shutil
from pathlib import Path


def write_backbone(origin: Path, layers: int | None, folder: Path) -> None:
    """Fills `folder` with the model of `origin` as it is, or with its first `layers` layers."""
    if layers is None:
        shutil.copytree(origin, folder, dirs_exist_ok=True)
        return
    from methods.core.folders import cut_layers, load_encoder
    from methods.core.saving import save_backbone

    save_backbone(cut_layers(load_encoder(origin, pooling="mean"), layers), folder)
