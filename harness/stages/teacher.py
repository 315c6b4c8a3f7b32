"""`sentbench teach`: pipeline stage that computes a teacher's vectors of a corpus.

Example: `sentbench teach minilm-l6__wiki-small`
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from harness.disk.files import sha256_of_folder
from harness.disk.inputs import check_inputs
from harness.disk.layouts import TEACHER
from harness.disk.outputs import check_folder, new_folder
from harness.disk.records import read_manifest, write_manifest
from harness.errors import InputError
from harness.paths import TEACHER_RECORD, TEACHERS
from harness.plan.entries import Params, Teacher, read_plan
from harness.process import DEVICE, compute_with, device_for, quiet, resolve_device

ARGUMENTS = {"name": {"help": "an entry of `teachers` in params.yaml"}, "--device": DEVICE}


def execute(arguments: argparse.Namespace) -> None:
    """Makes teachers/NAME."""
    print(teach(read_plan(), arguments.name, device=arguments.device))


def teach(params: Params, name: str, *, device: str = "auto") -> Path:
    """Writes teachers/NAME: the vectors of every text of a corpus, computed once for all students."""
    entry, folder = planned_teacher(params, name), TEACHERS / name
    compute_with(entry.arithmetic)
    from harness.compute.encoders import read_encoder
    from harness.compute.teacher import read_rows, write_vectors

    device = resolve_device(device_for(entry.arithmetic, device))
    description = describe_teacher(entry)
    check_folder(folder, TEACHER)
    check_inputs(entry.encoder, entry.corpus)
    rows = read_rows(Path(entry.corpus))
    quiet()
    encoder: Any = read_encoder(Path(entry.encoder), pooling=entry.pooling)
    texts = sum(len(row.columns) for row in rows)
    check_folder(folder, TEACHER, room=texts * (4 * encoder.dim + 16))
    with new_folder(folder, TEACHER) as part:
        write_vectors(part, encoder.to(device), rows, description)
        record = json.loads((part / TEACHER_RECORD).read_text(encoding="utf-8"))
        write_manifest(part / TEACHER_RECORD, record)
    return folder


def planned_teacher(params: Params, name: str) -> Teacher:
    """Returns the plan's entry of a teacher; InputError if there is none of that name."""
    if name not in params.teachers:
        raise InputError(
            f"teacher {name!r} is not in params.yaml, expected one of {', '.join(params.teachers)}"
        )
    return params.teachers[name]


def describe_teacher(entry: Teacher) -> dict[str, str]:
    """Returns what determines a teacher's vectors: the bytes of encoder and corpus, and the pooling.

    Errors: InputError if either folder is missing.
    """
    for path in (entry.encoder, entry.corpus):
        if not Path(path).is_dir():
            raise InputError(f"{path}: no such folder, a teacher needs it; make it with `dvc repro`")
    return {
        "encoder": entry.encoder,
        "corpus": entry.corpus,
        "pooling": entry.pooling or "as its folder states",
        "encoder_sha256": sha256_of_folder(Path(entry.encoder)),
        "corpus_sha256": sha256_of_folder(Path(entry.corpus)),
    }


def check_teacher(params: Params, folder: Path) -> None:
    """Refuses teacher vectors of another encoder, corpus or pooling than the plan names.

    Errors: InputError that names the first property in which teachers/NAME differs.
    """
    wanted = describe_teacher(planned_teacher(params, folder.name))
    record = folder / TEACHER_RECORD
    if not os.path.lexists(record):
        raise InputError(f"{record}: no such file, expected a teacher's vectors; run `dvc repro`")
    again = f"make them again with `sentbench teach {folder.name}`"
    found = read_manifest(record, again=again)
    for key, value in wanted.items():
        if found.get(key) != value:
            raise InputError(
                f"{folder}: vectors of {key} {str(found.get(key))[:40]}, the plan's is {value[:40]}; {again}"
            )
