"""`sentbench stage backbone`: pipeline stage that makes a backbone.

Example: `sentbench stage backbone minilm-l2`
"""

import argparse
from pathlib import Path

from harness.errors import InputError
from harness.io.files import disk_errors, write_manifest
from harness.io.layouts import BACKBONE, check_inputs
from harness.io.outputs import check_folder, new_folder, room_of
from harness.paths import BACKBONE_RECORD, BACKBONES
from harness.plan.entries import Params
from harness.plan.params_file import read_plan
from harness.process import quiet

ARGUMENTS = {"name": {"help": "an entry of `backbones` in params.yaml"}}


def execute(arguments: argparse.Namespace) -> None:
    """Makes backbones/NAME."""
    print(make_backbone(read_plan(), arguments.name))


def make_backbone(params: Params, name: str) -> Path:
    """Writes backbones/NAME: an unchanged fetched model, its first layers, or a model over word vectors.
    Except for a fetched model, a record has the hash of each file.
    """
    if name not in params.backbones:
        raise InputError(
            f"backbone {name!r} is not in params.yaml, expected one of {', '.join(params.backbones)}"
        )
    entry, folder = params.backbones[name], BACKBONES / name
    origin = Path(entry.origin)
    check_inputs(entry.origin, entry.corpus)
    check_folder(folder, BACKBONE, room=room_of(origin))
    from harness.compute.backbone import write_backbone
    from harness.models.read import reading

    quiet()
    with disk_errors(folder), reading(origin), new_folder(folder, BACKBONE) as part:
        shape = None if entry.shape is None else entry.shape.model_dump()
        write_backbone(origin, entry.layers, part, shape=shape, centre=entry.centre)
        if entry.layers is not None or entry.shape is not None:  # copies have the record of their source
            write_manifest(part / BACKBONE_RECORD, entry.model_dump())
    return folder
