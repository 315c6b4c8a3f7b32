"""Stages `backbone` and `teacher`: networks that exist before anything is trained."""

from __future__ import annotations

from pathlib import Path

from harness.compute.backbone import write_backbone
from harness.errors import InputError
from harness.files import atomic_folder
from harness.plan.entries import Params
from harness.stages.teacher import describe_teacher, planned_teacher
from harness.stages.train import quiet, resolve_device


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
    quiet()
    with atomic_folder(folder) as part:
        write_backbone(origin, entry.layers, part)
    return folder


def teach(params: Params, name: str, *, device: str = "auto") -> Path:
    """Writes teachers/NAME: the vectors of every text of a corpus, computed once for all students."""
    from harness.compute.teacher import write_vectors

    entry, folder = planned_teacher(params, name), Path("teachers") / name
    description = describe_teacher(entry)
    quiet()
    with atomic_folder(folder) as part:
        write_vectors(
            Path(entry.encoder),
            Path(entry.corpus),
            part,
            pooling=entry.pooling,
            device=resolve_device(device),
            description=description,
        )
    return folder
