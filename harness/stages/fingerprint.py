"""Stage `fingerprint`: small files whose bytes stand for code or data; unchanged bytes stop the wave."""

from __future__ import annotations

from pathlib import Path

from harness.errors import InputError, near_matches
from harness.files import sha256_of_folder, write_text
from harness.fingerprint import fingerprint
from harness.paths import DATA, FINGERPRINTS
from harness.plan.entries import Params


def write_code_fingerprint(params: Params, name: str) -> Path:
    """Writes .fingerprints/NAME.txt: the fingerprint of a method with methods/core, or of the tasks."""
    if name not in params.code:
        raise InputError(f"{name!r} is not in `code` of params.yaml{near_matches(name, list(params.code))}")
    entry = params.code[name]
    path = FINGERPRINTS / f"{name}.txt"
    write_text(path, fingerprint([Path(entry.code), Path(entry.base)]) + "\n")
    return path


def write_data_fingerprint(params: Params, name: str) -> Path:
    """Writes .fingerprints/data-NAME.txt: the hashes of the sources that selection or evaluation reads."""
    entries = {str(key): value for key, value in params.reads.items()}
    if name not in entries:
        raise InputError(f"{name!r} is not in `reads` of params.yaml; expected one of {', '.join(entries)}")
    path = FINGERPRINTS / f"data-{name}.txt"
    lines = [f"{source} {sha256_of_folder(DATA / source)}\n" for source in entries[name]]
    write_text(path, "".join(lines))
    return path
