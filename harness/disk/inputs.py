"""What a stage reads of others: folders whose record has the checksum of every file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from harness.disk.records import check_plain, read_manifest
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
from methods.core.files import FILES

RECORDS = {
    ARTEFACTS: ("train the run again", RUN_RECORD),
    CORPORA: ("make it again with `sentbench corpus {}`", CORPUS_RECORD),
    BACKBONES: ("remove the folder and make it with `sentbench backbone {}`", BACKBONE_RECORD),
    DATA: ("remove the folder and run `sentbench data fetch {}`", SOURCE_RECORD),
}
"""Room of the project -> how a folder of it is made again, and its record."""


def read_artefact(folder: Path) -> dict[str, Any]:
    """Returns the description of a run's folder.

    Errors: InputError if the folder is not one of ours, or a file is not the one that training wrote.
    """
    again, record = RECORDS[ARTEFACTS]
    if not os.path.lexists(folder / record):
        raise InputError(f"{folder}: no {record}, expected the artefact of a run; train it first")
    check_plain(folder, again=again)
    return read_manifest(folder / record, "key", "selection", again=again)


def check_inputs(*folders: str) -> None:
    """Raises InputError if a folder that a stage reads is not as it was written, as far as a record says."""
    for folder in map(Path, folders):
        if folder.parent == ARTEFACTS:
            read_artefact(folder)
            continue
        again, record = RECORDS.get(folder.parent, ("make it again with `dvc repro`", SOURCE_RECORD))
        again = again.format(folder.name)
        check_plain(folder, again=again)
        for name in dict.fromkeys((record, SOURCE_RECORD)):
            if os.path.lexists(folder / name) or (name == record and folder.parent == CORPORA):
                needed = (FILES,) if folder.parent in (CORPORA, BACKBONES) else ()
                read_manifest(folder / name, *needed, again=again)
