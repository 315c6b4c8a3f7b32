"""Named members out of wheels and tar files: nothing is imported, no path leaves its folder."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from harness.errors import InputError


def unpack_zip(archive: Path, members: Iterable[str], folder: Path) -> None:
    """Writes the named members of a zip file (a wheel is one) to their paths below `folder`.

    Errors: InputError if the file is not a complete zip file, or a member is missing or damaged.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            known = set(opened.namelist())
            for member in members:
                target = folder / _safe(archive, member, known)
                target.parent.mkdir(parents=True, exist_ok=True)
                with opened.open(member) as packed, target.open("wb") as file:
                    shutil.copyfileobj(packed, file)
    except (zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise InputError(
            f"{archive}: not a complete wheel ({error}), expected an undamaged zip file; "
            "delete it and fetch again"
        ) from None


def unpack_tar(archive: Path, members: Iterable[str], folder: Path) -> None:
    """Writes the named members of a tar file, plain or compressed, to their paths below `folder`.

    Errors: InputError if the file is not a complete tar file, or a member is missing or not a plain file.
    """
    try:
        with tarfile.open(archive) as opened:
            found = {PurePosixPath(member.name).as_posix(): member for member in opened}
            for name in members:
                member = found[_safe(archive, name, found)]
                packed = opened.extractfile(member) if member.isfile() else None
                if packed is None:
                    raise InputError(f"{archive}: member {name} is not a plain file")
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("wb") as file:
                    shutil.copyfileobj(packed, file)
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise InputError(
            f"{archive}: not a complete tar file ({error}), expected an undamaged archive; "
            "delete it and fetch again"
        ) from None


def _safe(archive: Path, member: str, known: Iterable[str]) -> str:
    path = PurePosixPath(member)
    if path.is_absolute() or ".." in path.parts:
        raise InputError(f"{archive}: member {member} leaves its folder, expected a relative path without ..")
    if member not in known:
        raise InputError(
            f"{archive}: no member {member}, expected one; is this the version that the sources table names?"
        )
    return member
