"""The bytes of a contributed bundle: a zip file of result files, curves and vectors with a manifest.

Nothing in a bundle is executed. Every member is one of four kinds of regular file, named in the manifest with
its sha256; arrays are read without pickle; nothing is written outside the folder it is unpacked to.

    manifest.json            contributor, fingerprints of the methods' code, files
    manifest.json.sig        SSH signature of the manifest, optional (harness/results/signatures.py)
    scores/RUN.json          result files (harness/results/schema.py)
    curves/RUN.json          evaluations during training, optional
    vectors/RUN/NAME.npy     stored vectors with their meta.json (harness/results/embeddings.py), optional
"""

from __future__ import annotations

import re
import stat
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from typing import Literal, NamedTuple

from pydantic import Field

from harness.declarations import Declaration, Name, validated
from harness.disk.files import atomic_path
from harness.disk.records import read_manifest, write_manifest
from harness.errors import InputError

MANIFEST, SIGNATURE = "manifest.json", "manifest.json.sig"
RUN = r"[a-z0-9][a-z0-9_-]{0,120}"
MEMBERS = {
    re.compile(re.escape(MANIFEST)): 2**21,
    re.compile(re.escape(SIGNATURE)): 2**14,
    re.compile(rf"scores/{RUN}\.json"): 2**20,
    re.compile(rf"curves/{RUN}\.json"): 2**22,
    re.compile(rf"vectors/{RUN}/meta\.json"): 2**16,
    re.compile(rf"vectors/{RUN}/[0-9a-f]{{16}}-[0-9a-f]{{64}}\.npy"): 2**30,
}
"""The allowed names of members and their size limits in bytes."""

MOST_MEMBERS, MOST_BYTES = 2_000, 8 * 2**30
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""The time stamp of every member: equal content makes equal bytes."""
AGAIN = "pack it with `sentbench contribute`"


class Contributor(Declaration):
    """Who ran it. `link` is their address; a page shows name and link only with `may_be_cited`."""

    name: str = Field(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f<>]+$")
    link: str = Field(default="", max_length=200, pattern=r"^(https://[^\s<>\"]+)?$")
    may_be_cited: bool


class Manifest(Declaration):
    """The file manifest.json. code: the fingerprint of the code of each method with runs in it."""

    format: Literal[2]
    contributor: Contributor
    code: dict[Name, str] = Field(min_length=1)
    files: dict[str, str] = Field(min_length=1, description="sha256 by name")


class Bundle(NamedTuple):
    """A bundle unpacked to a folder; every file of its manifest has the bytes that the manifest states."""

    folder: Path
    manifest: Manifest

    @property
    def signature(self) -> Path | None:
        """The file of the signature, None if the bundle has none."""
        path = self.folder / SIGNATURE
        return path if path.is_file() else None


def check_limits(where: Path, sizes: Mapping[str, int]) -> None:
    """Raises InputError unless a bundle may have these members, given with their bytes.

    Packing and accepting both call it, before they read or write a member. Names are matched as a whole
    against `MEMBERS`, so that none is absolute or leaves the folder.
    """
    for name, size in sizes.items():
        most = next((most for form, most in MEMBERS.items() if form.fullmatch(name)), None)
        if most is None:
            raise InputError(
                f"{where}: member {name!r} has no place in a bundle, expected scores/RUN.json, "
                "curves/RUN.json or vectors/RUN/; remove it"
            )
        if size > most:
            raise InputError(f"{where}: member {name!r} has {size} bytes, expected at most {most}")
    total = sum(sizes.values())
    if len(sizes) > MOST_MEMBERS or total > MOST_BYTES:
        raise InputError(
            f"{where}: {len(sizes)} members of {total} bytes, expected at most {MOST_MEMBERS} of "
            f"{MOST_BYTES}; contribute it in parts"
        )


def write_bundle(
    out: Path,
    folder: Path,
    *,
    contributor: Contributor,
    code: Mapping[str, str],
    sign: Callable[[Path], Path] | None = None,
) -> Manifest:
    """Writes the files of a folder as a bundle, atomically; equal content makes equal bytes.

    sign: writes the signature of a file and returns where. Errors: InputError if nothing can be signed.
    """
    about = {"format": 2, "contributor": contributor.model_dump(), "code": dict(code)}
    write_manifest(folder / MANIFEST, about)
    manifest = read_bundle(folder).manifest
    if sign:
        sign(folder / MANIFEST)
    with atomic_path(out) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            info = zipfile.ZipInfo(path.relative_to(folder).as_posix(), FIRST_DAY)
            info.compress_type = zipfile.ZIP_DEFLATED
            with path.open("rb") as source, archive.open(info, "w") as target:
                copyfileobj(source, target)
    return manifest


def is_bundle(path: Path) -> bool:
    """Returns whether a file is a zip file with a manifest; nothing of it is unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            return MANIFEST in archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


def read_bundle(folder: Path) -> Bundle:
    """Returns the bundle in a folder. Errors: InputError if it is not what its manifest states."""
    manifest = validated(Manifest, read_manifest(folder / MANIFEST, again=AGAIN), where=MANIFEST)
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    odd = sorted((found - {MANIFEST, SIGNATURE}) ^ manifest.files.keys())
    if odd:
        raise InputError(f"{odd[0]!r} is not in both the manifest and the zip file; {AGAIN}")
    return Bundle(folder, manifest)


@contextmanager
def opened(path: Path) -> Iterator[Bundle]:
    """Yields the bundle in a file, unpacked to a temporary folder.

    Errors: InputError that begins with the bundle's path, for it and for whatever is raised in the block
    about a file of it, if it is not a regular file, not a zip file, or has a member that is not in the
    manifest, is not a regular file, or has another name, size or sha256 than is allowed or stated.
    """
    if not path.is_file():
        raise InputError(f"{path}: not a regular file, expected a bundle; name another one")
    with tempfile.TemporaryDirectory(prefix="sentbench-") as scratch:
        folder = Path(scratch)
        try:
            _unpack(path, folder)
            yield read_bundle(folder)
        except InputError as error:
            fault = str(error).replace(f"{folder}/", "").removeprefix(f"{folder}: ")
            raise InputError(f"{path}: {fault}") from None


def _unpack(path: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            _check_members(archive.infolist(), folder)
            archive.extractall(folder)  # writes of no member more than the size that was checked
    except (EOFError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"not a complete bundle ({error}), expected a zip file; {AGAIN}") from None


def _check_members(infos: Sequence[zipfile.ZipInfo], folder: Path) -> None:
    """Raises InputError unless each member is a regular file, there once, with an allowed name and size."""
    counts = Counter(info.filename for info in infos)
    for info in infos:
        kind = stat.S_IFMT(info.external_attr >> 16)
        packed = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if counts[info.filename] > 1 or kind not in (0, stat.S_IFREG) or not packed:
            raise InputError(
                f"member {info.filename!r} is there twice or not a regular file, expected a regular file "
                f"once; {AGAIN}"
            )
    check_limits(folder, {info.filename: info.file_size for info in infos})
