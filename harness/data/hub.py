"""Files of the Hugging Face hub: downloaded once into a folder of this machine, continued, and verified.

The cache keeps every file under its repository and commit, so that its content never changes: a pipeline
stage that runs again, another source in the same archive, or a machine without a network finds it there.
Files that the hub's own client has on this machine are used too. The hub's name for a file (its ETag) is a
hash of its bytes: every download is compared with it.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from harness.errors import InputError
from harness.files import sha256_of
from harness.paths import cache

COMMIT = re.compile(r"[0-9a-f]{40}")
WEIGHTS, PICKLED_WEIGHTS = "model.safetensors", "pytorch_model.bin"
ATTEMPTS = 4
"""How often a request is made that fails for a reason that may pass: a reset, a server's error."""

FIRST_PAUSE = 1.0
"""Seconds before the second attempt; twice as long before each further one."""

LONGEST_PAUSE = 120.0
"""Seconds that are waited at most where the hub asks for a pause."""

CONTINUE_COMMAND = "run the same command again: it continues where it stopped"
CONTINUE = f"check the network and {CONTINUE_COMMAND}"

TOO_MANY = 429
"""The hub's answer to too many requests."""

T = TypeVar("T")


class Unreachable(Exception):
    """The hub does not give a file; the message names file, repository, reason and what to do."""


class Absent(Unreachable):
    """The repository exists at that commit and has no such file."""


class HubFile(NamedTuple):
    """A file on this machine, and the commit of its repository that it belongs to."""

    path: Path
    commit: str


def repository_folder(repo: str, repo_type: str, commit: str) -> Path:
    """Returns the folder of one commit of a repository in the cache."""
    return cache() / "hub" / f"{repo_type}s--{repo.replace('/', '--')}" / commit


def hub_file(repo: str, repo_type: str, revision: str, name: str) -> HubFile:
    """Returns a file of a repository, downloaded if this machine does not have it.

    revision: a commit, or a name such as `refs/pr/4` that the hub resolves to one.
    An interrupted download continues where it stopped, also in a later process.
    Errors: Unreachable if the hub does not give the file; InputError if what it gives has another hash.
    """
    if COMMIT.fullmatch(revision):
        known = _known(repo, repo_type, revision, name)
        if known:
            return HubFile(known, revision)
    what = _File(repo, repo_type, revision, name)
    metadata = _patiently(what, what.metadata)
    commit = str(metadata.commit_hash)
    target = repository_folder(repo, repo_type, commit) / name
    if not target.is_file():
        _download(what, metadata, target)
    return HubFile(target, commit)


def commit_of(repo: str, repo_type: str, revision: str, name: str) -> str:
    """Returns the commit that a revision of a repository means, asked at one of its files without its bytes.

    Errors: Unreachable if the hub does not say.
    """
    if COMMIT.fullmatch(revision):
        return revision
    what = _File(repo, repo_type, revision, name)
    return str(_patiently(what, what.metadata).commit_hash)


def _known(repo: str, repo_type: str, commit: str, name: str) -> Path | None:
    """Returns the file from our cache or from that of the hub's client, whose file name is its hash."""
    ours = repository_folder(repo, repo_type, commit) / name
    if ours.is_file():
        return ours
    from huggingface_hub import try_to_load_from_cache

    theirs = try_to_load_from_cache(repo, name, revision=commit, repo_type=repo_type)
    if not isinstance(theirs, str):
        return None
    path = Path(theirs).resolve()
    return path if _hash_like(path, path.name) == path.name else None


class _File(NamedTuple):
    """What is asked for."""

    repo: str
    repo_type: str
    revision: str
    name: str

    def metadata(self) -> Any:
        """Returns commit, ETag, size and location of the file, as the hub tells them now."""
        from huggingface_hub import get_hf_file_metadata, hf_hub_url

        endpoint = os.environ.get("HF_ENDPOINT") or None
        url = hf_hub_url(
            self.repo, self.name, repo_type=self.repo_type, revision=self.revision, endpoint=endpoint
        )
        return get_hf_file_metadata(url, endpoint=endpoint)

    def __str__(self) -> str:
        return f"{self.name} of {self.repo} at {self.revision}"


def _download(what: _File, metadata: Any, target: Path) -> None:
    """Writes the file to `target`, whole and verified; what an interruption leaves is continued."""
    from filelock import FileLock

    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{metadata.etag[:16]}.part")
    with FileLock(part.with_suffix(".lock")):
        if target.is_file():
            return
        try:
            _patiently(what, lambda: _receive(what, metadata, part))
        except OSError as error:
            raise InputError(
                f"{part}: cannot be written ({error.strerror or error}), expected room for the download; "
                f"free some and {CONTINUE_COMMAND}"
            ) from None
        found = _hash_like(part, metadata.etag)
        if found != metadata.etag:
            part.unlink()
            raise InputError(
                f"{what}: hash {found}, expected {metadata.etag} as the hub states; the download was damaged "
                "and is deleted: run the same command again"
            )
        os.replace(part, target)


def _receive(what: _File, metadata: Any, part: Path) -> None:
    """Appends to `part` what is missing of the file.

    The hub stores large files by Xet; they are read through its plain interface, which can continue.
    """
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers

    hub = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    # A token goes to the hub, never to where it stores files.
    headers = build_hf_headers() if urlsplit(metadata.location).netloc == urlsplit(hub).netloc else {}
    with part.open("ab") as file:
        if file.tell() > (metadata.size or 0):
            file.truncate(0)
        http_get(
            metadata.location,
            file,
            resume_size=file.tell(),
            headers=headers,
            expected_size=metadata.size,
            displayed_filename=what.name,
        )


def _patiently(what: _File, request: Callable[[], T]) -> T:
    """Returns what a request gives, made again after a passing failure. Errors: Unreachable in words."""
    from huggingface_hub.errors import (
        FileMetadataError,
        HfHubHTTPError,
        HTTPError,
        OfflineModeIsEnabled,
        RemoteEntryNotFoundError,
    )

    for attempt in range(1, ATTEMPTS + 1):
        pause = FIRST_PAUSE * 2 ** (attempt - 1)
        try:
            with _unheard_client():
                return request()
        except OfflineModeIsEnabled:
            reason, passing = (
                "HF_HUB_OFFLINE is set; unset it, or name a copy of the hub by SENTBENCH_HUB",
                False,
            )
        except HfHubHTTPError as error:
            status = error.response.status_code
            if isinstance(error, RemoteEntryNotFoundError):
                raise Absent(f"{what}: the repository has no such file at that revision") from None
            reason, passing = _in_words(error), status >= 500 or status == TOO_MANY
            pause = max(pause, _seconds_to_wait(error.response.headers.get("Retry-After")))
        except (HTTPError, FileMetadataError) as error:
            reason, passing = f"the connection failed ({_first_line(error)}); {CONTINUE}", True
        except OSError as error:
            if error.errno is not None:  # a file of this machine, not the connection
                raise
            reason, passing = f"it ended too early; {CONTINUE}", True
        if not passing or attempt == ATTEMPTS:
            break
        time.sleep(pause)
    raise Unreachable(f"{what}: {reason}")


@contextmanager
def _unheard_client() -> Iterator[None]:
    """Keeps the client's warnings of each failed attempt from the one line that is said here."""
    logger = logging.getLogger("huggingface_hub")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def _seconds_to_wait(asked: str | None) -> float:
    """Returns the pause that the hub asks for, at most LONGEST_PAUSE; 0 where it asks for none in seconds."""
    return min(float(asked), LONGEST_PAUSE) if asked and asked.isdecimal() else 0.0


def _in_words(error: Any) -> str:
    """Returns why the hub refused a file, and what to do."""
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

    if isinstance(error, GatedRepoError):
        return "the repository is gated; accept its terms on its page and log in with `hf auth login`"
    if isinstance(error, RepositoryNotFoundError):
        return "no such repository, or a private one; correct its name or log in with `hf auth login`"
    if isinstance(error, RevisionNotFoundError):
        return "no such revision; pin another one with `sentbench data fetch NAME --revision HASH`"
    if error.response.status_code == TOO_MANY:
        return "the hub limits requests (429); wait some minutes and run the same command again"
    return f"the hub answers {error.response.status_code}; run the same command again later"


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _hash_like(path: Path, etag: str) -> str:
    """Returns the file's hash of the kind that an ETag is: sha256, or git's name of a small file."""
    if len(etag) == 64:
        return sha256_of(path)
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def converted_weights(repo: str, repo_type: str, commit: str, folder: str) -> Path:
    """Returns where the weights lie that `harness.stages.convert` made from a pickle in `folder`."""
    return repository_folder(repo, repo_type, commit) / "converted" / folder / WEIGHTS
