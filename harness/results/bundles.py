"""The bytes of a contributed bundle: a zip file of result files, curves and vectors with a manifest.

Nothing in a bundle is executed. Every member is one of four kinds of regular file, named in the manifest with
its size and sha256; arrays are read without pickle; nothing is written outside the folder it is unpacked to.

    manifest.json            contributor, fingerprints of the methods' code, members
    manifest.json.sig        SSH signature of the manifest, optional (harness/results/contributions.py)
    scores/RUN.json          result files (harness/results/schema.py)
    curves/RUN.json          evaluations during training, optional
    vectors/RUN/NAME.npy     stored vectors with their meta.json (harness/results/embeddings.py), optional
"""

import hashlib
import json
import re
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from harness.declarations import Declaration, Name, validated
from harness.disk.files import atomic_path, sha256_of
from harness.disk.records import read_object
from harness.errors import InputError
from harness.paths import STORE_RECORD
from harness.results.schema import ResultFile
from harness.results.store import read_result, write_result

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
MOST_TEXT = 2**28
"""Bytes of all members but the vectors of a bundle: they are unpacked together, vectors run by run."""
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""The time stamp of every member: equal content makes equal bytes."""
AGAIN = "pack it with `sentbench contribute`"


class Contributor(Declaration):
    """Who ran it. `link` is their address; a page shows name and link only with `may_be_cited`."""

    name: str = Field(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f<>]+$")
    link: str = Field(default="", max_length=200, pattern=r"^(https://[^\s<>\"]+)?$")
    may_be_cited: bool


class Member(Declaration):
    """One file of a bundle."""

    bytes: int = Field(ge=0, le=MOST_BYTES)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Manifest(Declaration):
    """The file manifest.json. code: the fingerprint of the code of each method with runs in it."""

    format: Literal[1]
    contributor: Contributor
    code: dict[Name, str] = Field(min_length=1)
    members: dict[str, Member] = Field(min_length=1)


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
    text = sum(size for name, size in sizes.items() if not name.startswith("vectors/"))
    total = sum(sizes.values())
    if len(sizes) > MOST_MEMBERS or total > MOST_BYTES or text > MOST_TEXT:
        raise InputError(
            f"{where}: {len(sizes)} members of {total} bytes, expected at most {MOST_MEMBERS} of "
            f"{MOST_BYTES}, {MOST_TEXT} of them not vectors; contribute it in parts"
        )


class RunFiles(NamedTuple):
    """The files of one run: its result file, and its curve and folder of vectors if present."""

    scores: Path
    curve: Path | None
    vectors: Path | None

    def members(self) -> dict[str, Path]:
        """Returns the files by what they are called in a bundle."""
        key = self.scores.stem
        files = {f"scores/{key}.json": self.scores}
        if self.curve is not None:
            files[f"curves/{key}.json"] = self.curve
        if self.vectors is not None:
            kept = [self.vectors / STORE_RECORD, *sorted(self.vectors.glob("*.npy"))]
            files |= {f"vectors/{key}/{path.name}": path for path in kept}
        return files


def pack(
    out: Path,
    runs: Sequence[RunFiles],
    *,
    contributor: Contributor,
    code: Mapping[str, str],
    commit: tuple[str, bool] = ("unknown", True),
    sign: Callable[[Path], Path] | None = None,
) -> Manifest:
    """Writes a bundle of runs, atomically; equal content makes equal bytes.

    code: the fingerprints of the runs' methods by name. commit: of the code that made the results, and
    whether it has changes that are in no commit; a result that states its own keeps it. sign: writes the
    signature of a file and returns where.
    Errors: InputError if no run is named, there are more files than a bundle may have, or a run's code was
    not committed.
    """
    if not runs:
        raise InputError("no run is named, expected at least one; see `sentbench list runs`")
    files = {name: path for run in runs for name, path in run.members().items()}
    sizes = {name: path.stat().st_size for name, path in files.items()}
    check_limits(out, {MANIFEST: 0, SIGNATURE: 0, **sizes})
    with tempfile.TemporaryDirectory(prefix="sentbench-") as scratch:
        for run in runs:
            result = _with_commit(read_result(run.scores), commit)
            check_committed(str(run.scores), result)
            files[f"scores/{run.scores.name}"] = Path(scratch, run.scores.name)
            write_result(Path(scratch, run.scores.name), result)
        files = dict(sorted(files.items()))
        stated = {
            name: Member(bytes=path.stat().st_size, sha256=sha256_of(path)) for name, path in files.items()
        }
        manifest = Manifest(format=1, contributor=contributor, code=dict(code), members=stated)
        described = Path(scratch, MANIFEST)
        text = json.dumps(manifest.model_dump(mode="json"), indent=1, sort_keys=True)
        described.write_text(text + "\n", encoding="utf-8")
        signed = {SIGNATURE: sign(described)} if sign else {}
        with atomic_path(out) as part, zipfile.ZipFile(part, "w") as archive:
            for name, path in {MANIFEST: described, **signed, **files}.items():
                info = zipfile.ZipInfo(name, FIRST_DAY)
                info.compress_type = zipfile.ZIP_DEFLATED
                with path.open("rb") as source, archive.open(info, "w") as target:
                    shutil.copyfileobj(source, target, 2**20)
    return manifest


def _with_commit(result: ResultFile, commit: tuple[str, bool]) -> ResultFile:
    if result.provenance.git_commit is not None:
        return result
    stated = {"git_commit": commit[0], "git_dirty": commit[1]}
    return result.model_copy(update={"provenance": result.provenance.model_copy(update=stated)})


def check_committed(where: str, result: ResultFile) -> None:
    """Raises InputError unless a result states the commit of its code."""
    provenance = result.provenance
    if provenance.git_dirty or not re.fullmatch(r"[0-9a-f]{40}", provenance.git_commit or ""):
        raise InputError(
            f"{where}: run from code that is in no commit, expected a commit; commit, run it again"
        )


def is_bundle(path: Path) -> bool:
    """Returns whether a file is a zip file with a manifest; nothing of it is unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            return MANIFEST in archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


class Bundle:
    """An opened bundle whose members are written below `folder` when they are asked for."""

    def __init__(self, archive: zipfile.ZipFile, folder: Path) -> None:
        self.folder, self._archive = folder, archive
        infos = archive.infolist()
        counts = Counter(info.filename for info in infos)
        for info in infos:
            kind = stat.S_IFMT(info.external_attr >> 16)
            known = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
            plain = known and kind in (0, stat.S_IFREG)
            if counts[info.filename] > 1 or not plain:
                raise InputError(
                    f"member {info.filename!r} is there twice or not a regular file, expected a regular file "
                    f"once; {AGAIN}"
                )
        check_limits(folder, {info.filename: info.file_size for info in infos})
        if MANIFEST not in counts:
            raise InputError(f"no {MANIFEST}; {AGAIN}")
        self._write(MANIFEST)
        self.manifest = validated(Manifest, read_object(folder / MANIFEST, again=AGAIN), where=MANIFEST)
        self.names = sorted(counts.keys() - {MANIFEST, SIGNATURE})
        odd = sorted(set(self.names) ^ self.manifest.members.keys())
        if odd:
            place = "manifest" if odd[0] in counts else "zip file"
            raise InputError(f"{odd[0]!r} is not in the {place}, expected in both; {AGAIN}")
        if SIGNATURE in counts:
            self._write(SIGNATURE)

    @property
    def signature(self) -> Path | None:
        """The file of the signature, None if the bundle has none."""
        path = self.folder / SIGNATURE
        return path if path.is_file() else None

    def unpack(self, names: Iterable[str]) -> None:
        """Writes members, which must have the size and bytes that the manifest states."""
        for name in names:
            stated = self.manifest.members[name]
            if self._write(name, most=stated.bytes) != (stated.bytes, stated.sha256):
                raise InputError(f"member {name!r} has other bytes than the manifest states; {AGAIN}")

    def _write(self, name: str, most: int = MOST_BYTES) -> tuple[int, str]:
        """Returns the size and sha256 of a member that it wrote; not more than `most` bytes and a block."""
        digest, size = hashlib.sha256(), 0
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with self._archive.open(name) as source, target.open("xb") as file:
                while size <= most and (block := source.read(2**20)):
                    size += len(block)
                    digest.update(block)
                    file.write(block)
        except (EOFError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
            raise InputError(f"not a complete bundle ({error}), expected a zip file; {AGAIN}") from None
        return size, digest.hexdigest()


@contextmanager
def opened(path: Path, folder: Path) -> Iterator[Bundle]:
    """Yields the bundle in a file, to be unpacked below an empty `folder`.

    Errors: InputError that begins with the bundle's path, for it and for whatever is raised in the block
    about a file in `folder`, if it is not a regular file, not a zip file, or has a member that is not in the
    manifest, is not a regular file, or has another name, size or sha256 than is allowed or stated.
    """
    if not path.is_file():
        raise InputError(f"{path}: not a regular file, expected a bundle; name another one")
    try:
        archive = zipfile.ZipFile(path)
    except (EOFError, ValueError, RuntimeError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: not a complete bundle ({error}), expected a zip file; {AGAIN}") from None
    try:
        with archive:
            yield Bundle(archive, folder)
    except InputError as error:
        fault = str(error).replace(f"{folder}/", "").removeprefix(f"{folder}: ")
        raise InputError(f"{path}: {fault}") from None
