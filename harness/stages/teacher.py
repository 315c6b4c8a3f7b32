"""What determines a teacher's vectors, and that a run gets no other teacher's."""

from __future__ import annotations

import json
from pathlib import Path

from harness.errors import InputError
from harness.files import sha256_of_folder
from harness.plan.entries import Params, Teacher


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
    place = folder / "teacher.json"
    if not place.is_file():
        raise InputError(f"{place}: no such file, expected a teacher's vectors; run `dvc repro`")
    found = json.loads(place.read_text(encoding="utf-8"))
    for key, value in wanted.items():
        if found.get(key) != value:
            raise InputError(
                f"{folder}: vectors of {key} {str(found.get(key))[:40]}, the plan's is {value[:40]}; "
                f"make them again with `sentbench teach {folder.name}`"
            )
