"""The files of .fingerprints, on which stages depend: hashes of code and of data.

If the bytes are unchanged, no dependent stage runs again.
"""

from pathlib import Path

from harness.errors import InputError, near_matches
from harness.io.files import discard_parts, sha256_of_folder, write_text
from harness.io.records import check_present
from harness.paths import DATA_HASHES, FINGERPRINTS
from harness.plan.entries import Params
from harness.plan.identity import code_base, fingerprints


def write_code_fingerprints(params: Params) -> list[Path]:
    """Writes .fingerprints/STAGE.txt, train/METHOD.txt of all methods and evaluate/KEY.txt of all runs."""
    files = code_fingerprints(params)
    folders = sorted({path.parent for path in files} - {FINGERPRINTS})
    for path in (path for folder in folders for path in folder.glob("*.txt") if path not in files):
        path.unlink()
    for path, text in files.items():
        discard_parts(path)
        write_text(path, text)
    return folders + [path for path in files if path.parent == FINGERPRINTS]


def code_fingerprints(params: Params) -> dict[Path, str]:
    """Returns the text of each file that the stage writes: the hash of the code that a stage runs."""
    texts = fingerprints({key: run.tasks for key, run in params.runs.items()}, code_base())
    return {FINGERPRINTS / f"{name}.txt": f"{sha256}\n" for name, sha256 in texts.items()}


def write_data_fingerprint(params: Params, name: str) -> Path:
    """Writes .fingerprints/data/NAME.txt: a line with the hash of each source of a chain up to this link.

    Errors: InputError if the link is not in `reads`, or its source is missing.
    """
    if name not in params.reads:
        raise InputError(
            f"{name!r} is not in `reads` of params.yaml, expected one of {', '.join(params.reads)}"
            f"{near_matches(name, list(params.reads))}"
        )
    link = params.reads[name]
    check_present(link.source)
    before = "" if link.after == link.source else Path(link.after).read_text(encoding="utf-8")
    path = DATA_HASHES / f"{name}.txt"
    discard_parts(path)
    write_text(path, f"{before}{link.source} {sha256_of_folder(Path(link.source))}\n")
    return path
