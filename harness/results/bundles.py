"""The bytes of a contributed bundle: a zip file of result files, curves and vectors with a manifest.

Nothing in a bundle is executed. Every member is one of four kinds of plain file, named in the manifest with
its size and sha256; arrays are read without pickle; nothing is written outside the folder it is unpacked to.

    manifest.json            contributor, fingerprints of the methods' code, members
    scores/RUN.json          result files (harness/results/schema.py)
    curves/RUN.jsonl         evaluations during training, optional
    vectors/RUN/NAME.npy     stored vectors with their meta.json (harness/results/embeddings.py), optional
"""

from __future__ import annotations

import hashlib
import json
import re
import stat
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field, ValidationError

from harness.declarations import Declaration
from harness.errors import InputError
from harness.files import atomic_path, sha256_of

MANIFEST = "manifest.json"
RUN = r"[a-z0-9][a-z0-9_-]{0,120}"
MEMBERS = {
    re.compile(rf"scores/{RUN}\.json"): 8 * 2**20,
    re.compile(rf"curves/{RUN}\.jsonl"): 32 * 2**20,
    re.compile(rf"vectors/{RUN}/meta\.json"): 2**16,
    re.compile(rf"vectors/{RUN}/[0-9a-f]{{16}}-[0-9a-f]{{64}}\.npy"): 2**30,
}
"""What a member may be called, with the most bytes it may have."""

MOST_MEMBERS, MOST_BYTES, MOST_MANIFEST = 2_000, 8 * 2**30, 2**21
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""The time stamp of every member: equal content makes equal bytes."""


class Contributor(Declaration):
    """Who ran it. `link` is where readers find them; only with `may_be_cited` a page shows name and link."""

    name: str = Field(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f<>]+$")
    link: str = Field(default="", max_length=200, pattern=r"^(https://[^\s<>\"]+)?$")
    may_be_cited: bool


class Member(Declaration):
    """One file of a bundle."""

    bytes: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Manifest(Declaration):
    """The file manifest.json. code: the fingerprint of the code of each method whose runs are there."""

    format: Literal[1]
    contributor: Contributor
    code: dict[str, str] = Field(min_length=1)
    members: dict[str, Member] = Field(min_length=1)


def write_bundle(
    out: Path, files: Mapping[str, Path], *, contributor: Contributor, code: Mapping[str, str]
) -> Manifest:
    """Writes a bundle of `files` by member name, atomically; equal content makes equal bytes.

    Errors: InputError if a member's name or size is not allowed.
    """
    for name, path in files.items():
        _check_member(out, name, path.stat().st_size)
    manifest = Manifest(
        format=1,
        contributor=contributor,
        code=dict(sorted(code.items())),
        members={
            name: Member(bytes=files[name].stat().st_size, sha256=sha256_of(files[name]))
            for name in sorted(files)
        },
    )
    text = json.dumps(manifest.model_dump(mode="json"), indent=1, sort_keys=True)
    with atomic_path(out) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(MANIFEST, FIRST_DAY), text + "\n")
        for name in sorted(files):
            info = zipfile.ZipInfo(name, FIRST_DAY)
            info.compress_type = zipfile.ZIP_DEFLATED
            with files[name].open("rb") as source, archive.open(info, "w") as target:
                while block := source.read(2**20):
                    target.write(block)
    return manifest


def is_bundle(path: Path) -> bool:
    """Returns whether a file is a zip file with a manifest; nothing of it is unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            return MANIFEST in archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


def unpack_bundle(bundle: Path, folder: Path) -> Manifest:
    """Writes the members of a bundle below an empty `folder`; returns its manifest.

    Errors: InputError if it is no whole zip file, has a member that is not in the manifest, is not a plain
    file, has another name, size or sha256 than allowed or stated, or holds an array that needs pickle.
    """
    try:
        with zipfile.ZipFile(bundle) as archive:
            infos = _checked_infos(bundle, archive)
            manifest = _read_manifest(bundle, archive)
            odd = sorted(infos.keys() ^ manifest.members.keys())
            if odd:
                place = "manifest" if odd[0] in infos else "zip file"
                raise InputError(
                    f"{bundle}: {odd[0]!r} is not in the {place}, expected in both; pack it again"
                )
            for name, info in infos.items():
                _extract(bundle, archive, info, manifest.members[name], folder / name)
    except InputError:
        raise
    except (OSError, EOFError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(
            f"{bundle}: not a whole bundle ({error}), expected a zip file; pack it again"
        ) from None
    return manifest


def _checked_infos(bundle: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Returns the members beside the manifest by name, before one byte of them is unpacked."""
    infos = archive.infolist()
    names = [info.filename for info in infos]
    total = sum(info.file_size for info in infos)
    if len(infos) > MOST_MEMBERS or total > MOST_BYTES:
        raise InputError(
            f"{bundle}: {len(infos)} members of {total} bytes, expected at most {MOST_MEMBERS} of "
            f"{MOST_BYTES}; contribute it in parts"
        )
    for info in infos:
        kind = stat.S_IFMT(info.external_attr >> 16)
        if names.count(info.filename) > 1 or kind not in (0, stat.S_IFREG):
            raise InputError(
                f"{bundle}: member {info.filename!r} is there twice or no plain file, expected a plain file; "
                "pack it again"
            )
        if info.filename != MANIFEST:
            _check_member(bundle, info.filename, info.file_size)
    return {info.filename: info for info in infos if info.filename != MANIFEST}


def _check_member(bundle: Path, name: str, size: int) -> None:
    """Names are matched as a whole against four forms, so that none is absolute or leaves the folder."""
    most = next((most for form, most in MEMBERS.items() if form.fullmatch(name)), None)
    if most is None:
        raise InputError(
            f"{bundle}: member {name!r} has no place in a bundle, expected scores/RUN.json, "
            "curves/RUN.jsonl or vectors/RUN/; remove it"
        )
    if size > most:
        raise InputError(f"{bundle}: member {name!r} has {size} bytes, expected at most {most}; leave it out")


def _read_manifest(bundle: Path, archive: zipfile.ZipFile) -> Manifest:
    if MANIFEST not in archive.namelist() or archive.getinfo(MANIFEST).file_size > MOST_MANIFEST:
        raise InputError(
            f"{bundle}: no {MANIFEST} of up to {MOST_MANIFEST} bytes, expected one; "
            "pack it with `sentbench contribute`"
        )
    try:
        return Manifest.model_validate(json.loads(archive.read(MANIFEST)))
    except ValidationError as error:
        first = error.errors()[0]
        reason = f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    except ValueError as error:
        reason = f"not JSON ({error})"
    raise InputError(f"{bundle}: {MANIFEST}: {reason}; pack it again")


def _extract(
    bundle: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo, stated: Member, target: Path
) -> None:
    """Writes one member, which must have the size and bytes that the manifest states."""
    digest, size = hashlib.sha256(), 0
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(info) as source, target.open("xb") as file:
        while block := source.read(2**20):
            size += len(block)
            digest.update(block)
            file.write(block)
    if (size, digest.hexdigest()) != (stated.bytes, stated.sha256):
        raise InputError(
            f"{bundle}: member {info.filename!r} has other bytes than the manifest states; pack it again"
        )
    if target.suffix == ".npy":
        try:
            np.load(target, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(
                f"{bundle}: member {info.filename!r} is no array of numbers ({reason}); leave it out"
            ) from None
