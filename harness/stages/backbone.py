"""Stage `backbone`: a network that exists before anything is trained."""

from __future__ import annotations

from pathlib import Path

from harness.compute.backbone import write_backbone
from harness.errors import InputError
from harness.files import disk_errors, write_json
from harness.layouts import BACKBONE
from harness.outputs import check_folder, new_folder, room_of
from harness.paths import BACKBONE_RECORD, BACKBONES
from harness.plan.entries import Params
from harness.process import quiet
from harness.records import sealed
from harness.stages.artefacts import FILES, check_inputs, file_hashes


def make_backbone(params: Params, name: str) -> Path:
    """Writes backbones/NAME: a fetched model as it is, the first layers of another, one over word vectors.

    All but a fetched model have a record beside them with the hash of each file.
    """
    if name not in params.backbones:
        raise InputError(
            f"backbone {name!r} is not in params.yaml, expected one of {', '.join(params.backbones)}"
        )
    entry, folder = params.backbones[name], BACKBONES / name
    origin = Path(entry.origin)
    if not origin.is_dir():
        raise InputError(f"{origin}: no such folder, expected the origin of backbone {name}; run `dvc repro`")
    check_folder(folder, BACKBONE, room=room_of(origin))
    from harness.stages.encoders import reading

    quiet()
    check_inputs(entry.origin)
    with disk_errors(folder), reading(origin), new_folder(folder, BACKBONE) as part:
        shape = None if entry.shape is None else entry.shape.model_dump()
        write_backbone(origin, entry.layers, part, shape=shape)
        if entry.layers is not None or entry.shape is not None:  # a copy has the record of its source
            write_json(part / BACKBONE_RECORD, sealed({**entry.model_dump(), FILES: file_hashes(part)}))
    return folder
