"""Stages `backbone` and `teacher`: networks that exist before anything is trained."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.layouts import BACKBONE, TEACHER
from harness.outputs import check_folder, new_folder, room_of
from harness.plan.entries import Params
from harness.stages.teacher import describe_teacher, planned_teacher
from harness.stages.train import quiet, read_rows, resolve_device


def make_backbone(params: Params, name: str) -> Path:
    """Writes backbones/NAME: a fetched model as it is, or the first layers of another backbone."""
    if name not in params.backbones:
        raise InputError(
            f"backbone {name!r} is not in params.yaml, expected one of {', '.join(params.backbones)}"
        )
    entry, folder = params.backbones[name], Path("backbones") / name
    origin = Path(entry.origin)
    if not origin.is_dir():
        raise InputError(f"{origin}: no such folder, expected the origin of backbone {name}; run `dvc repro`")
    check_folder(folder, BACKBONE, room=room_of(origin))
    with new_folder(folder, BACKBONE) as part:
        if entry.layers is None:
            shutil.copytree(origin, part, dirs_exist_ok=True)
        else:
            from methods.core.folders import cut_layers, load_encoder
            from methods.core.saving import save_backbone

            quiet()
            save_backbone(cut_layers(load_encoder(origin, pooling="mean"), entry.layers), part)
    return folder


def teach(params: Params, name: str, *, device: str = "auto") -> Path:
    """Writes teachers/NAME: the vectors of every text of a corpus, computed once for all students."""
    from methods.core.folders import load_encoder
    from methods.core.teachers import write_teacher

    entry, folder = planned_teacher(params, name), Path("teachers") / name
    description = describe_teacher(entry)
    check_folder(folder, TEACHER)
    rows = read_rows(Path(entry.corpus))
    quiet()
    encoder: Any = load_encoder(Path(entry.encoder), pooling=entry.pooling)
    texts = sum(len(row.columns) for row in rows)
    check_folder(folder, TEACHER, room=texts * (4 * encoder.dim + 16))
    with new_folder(folder, TEACHER) as part:
        write_teacher(
            part,
            encoder.to(resolve_device(device)),
            rows,
            description,
        )
    return folder
