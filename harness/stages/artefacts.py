"""What a stage reads of others: folders whose record has the hash of every file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from harness.data.download import check_unchanged
from harness.disk.files import sha256_of
from harness.disk.records import check_files, check_plain, read_object
from harness.errors import InputError
from harness.paths import (
    ARTEFACTS,
    BACKBONE_RECORD,
    BACKBONES,
    CORPORA,
    CORPUS_RECORD,
    DATA,
    RUN_RECORD,
    SOURCE_RECORD,
)

FILES = "files"
"""Entry of a record: path of a file below the folder -> its sha256. Older records have none."""
AGAIN = "train the run again"


class Artefact(NamedTuple):
    """What the train stage wrote about one run."""

    folder: Path
    about: dict[str, Any]


def file_hashes(folder: Path) -> dict[str, str]:
    """Returns the sha256 of every file of a folder by its path below it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in files}


def read_artefact(folder: Path) -> Artefact:
    """Returns a run's folder with its description.

    Errors: InputError if the folder is not one of ours, or a file is not the one that training wrote.
    """
    if not os.path.lexists(folder / RUN_RECORD):
        raise InputError(f"{folder}: no {RUN_RECORD}, expected the artefact of a run; train it first")
    about = read_object(folder / RUN_RECORD, "key", "selection", again=AGAIN)
    check_plain(folder, again=AGAIN)
    check_files(folder, about.get(FILES, {}), again=AGAIN)
    return Artefact(folder, about)


def check_inputs(*folders: str) -> None:
    """Raises InputError if a folder that a stage reads is not as it was written, as far as a record says.

    Artefacts have one, and so have derived corpora, cut backbones and fetched sources with their copies.
    """
    for folder in map(Path, folders):
        if folder.parent == ARTEFACTS:
            read_artefact(folder)
            continue
        again = f"run `sentbench data fetch {folder.name}`" if folder.parent == DATA else "run `dvc repro`"
        check_plain(folder, again=f"remove {folder} and {again}")
        if folder.parent == CORPORA:
            _check_corpus(folder)
        if folder.parent == BACKBONES and (folder / BACKBONE_RECORD).is_file():
            again = f"remove the folder and make it with `sentbench backbone {folder.name}`"
            record = read_object(folder / BACKBONE_RECORD, FILES, again=again)
            check_files(folder, record[FILES], again=again)
        if (folder / SOURCE_RECORD).is_file():
            check_unchanged(folder)


def _check_corpus(folder: Path) -> None:
    """Raises InputError unless a derived corpus is the one whose hash its record has."""
    again = f"make it again with `sentbench corpus {folder.name}`"
    check_files(folder, read_object(folder / CORPUS_RECORD, FILES, again=again)[FILES], again=again)
