"""Files of the Hugging Face hub: downloaded once per machine, resumed after an interruption, and verified.

The cache keeps each file under its repository and commit, the hub's hash of it (its ETag) next to it, and in
`refs` the commit that a name such as `main` meant. The hash is verified at every use of a file: by another
stage, for another source in the same archive, on a machine without a network. Files in the cache of the hub's
own client are used too.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from harness.data.hub_requests import CONTINUE_COMMAND, PIN, TooLong, Unreachable, asked, limited_waits
from harness.disk.files import discard, sha256_of, write_text
from harness.disk.locks import alone
from harness.errors import InputError
from harness.paths import cache

COMMIT = re.compile(r"[0-9a-f]{40}")
ETAG = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
WEIGHTS, PICKLED_WEIGHTS = "model.safetensors", "pytorch_model.bin"
ROUNDS, PAUSE = 3, 3.0
"""Attempts to download a file, and seconds between them; the hub's client repeats single requests itself."""


def repository_folder(repo: str, repo_type: str, commit: str) -> Path:
    """Returns the folder of one commit of a repository in the cache."""
    return cache() / "hub" / f"{repo_type}s--{repo.replace('/', '--')}" / commit


@limited_waits()
def hub_file(repo: str, repo_type: str, commit: str, name: str) -> Path:
    """Returns a file of a repository, downloaded if this machine does not have it or has it damaged.

    An interrupted download continues where it stopped, also in a later process.
    Errors: Unreachable if the hub does not give the file; InputError if what it gives has another hash.
    """
    what = _File(repo, repo_type, commit, name)
    return _known(what) or _fetched(what)


@limited_waits()
def check_exists(repo: str, repo_type: str, commit: str, name: str) -> None:
    """Errors: Absent if a repository has no such file, Unreachable if the hub does not say."""
    _File(repo, repo_type, commit, name).metadata()


def known_commit(repo: str, repo_type: str, revision: str) -> str | None:
    """Returns the commit that a revision means, as far as this machine knows; the hub is not asked."""
    if COMMIT.fullmatch(revision):
        return revision
    found = _text(repository_folder(repo, repo_type, "refs") / revision)
    return found if COMMIT.fullmatch(found) else None


@limited_waits()
def commit_of(repo: str, repo_type: str, revision: str, name: str, *, ask: bool = False) -> str:
    """Returns the commit that a revision means: the one on record, else what the hub says with a file.

    ask: do not look at the record. What the hub says is recorded.
    Errors: Unreachable if the hub does not say; Absent if it has no such file.
    """
    known = known_commit(repo, repo_type, revision)
    if known and (known == revision or not ask):
        return known
    what = _File(repo, repo_type, revision, name)
    commit = str(what.metadata().commit_hash)
    if not COMMIT.fullmatch(commit):
        raise Unreachable(f"{what}: the answer names no commit (a proxy may remove it); {PIN}")
    record = repository_folder(repo, repo_type, "refs") / revision
    discard(record)
    write_text(record, commit)
    return commit


class _File(NamedTuple):
    """What is asked for."""

    repo: str
    repo_type: str
    revision: str
    name: str

    @property
    def path(self) -> Path:
        return repository_folder(self.repo, self.repo_type, self.revision) / self.name

    @property
    def record(self) -> Path:
        return self.path.with_name(f".{self.path.name}.etag")

    def metadata(self) -> Any:
        """Returns the commit, ETag, size and location of the file that the hub states now."""
        from huggingface_hub import get_hf_file_metadata, hf_hub_url

        endpoint = os.environ.get("HF_ENDPOINT") or None
        which = {"repo_type": self.repo_type, "revision": self.revision, "endpoint": endpoint}
        url = hf_hub_url(self.repo, self.name, **which)
        found = asked(self, lambda: get_hf_file_metadata(url, endpoint=endpoint, retry_on_errors=True))
        if not ETAG.fullmatch(found.etag or ""):
            raise Unreachable(
                f"{self}: the answer is not the hub's, it has no hash of the file, as that of a login page; "
                "log in to the network or correct HF_ENDPOINT"
            )
        return found

    def __str__(self) -> str:
        return f"{self.name} of {self.repo} at {self.revision}"


def _known(what: _File) -> Path | None:
    """Returns the file from our cache or that of the hub's client, if it has the hash on record."""
    etag = _text(what.record)
    if ETAG.fullmatch(etag) and _hash_like(what.path, etag) == etag:
        return what.path
    from huggingface_hub import try_to_load_from_cache

    theirs = try_to_load_from_cache(what.repo, what.name, revision=what.revision, repo_type=what.repo_type)
    if not isinstance(theirs, str):
        return None
    path = Path(theirs).resolve()  # the client names a file by its hash
    return path if _hash_like(path, path.name) == path.name else None


def _fetched(what: _File) -> Path:
    """Returns the file in the cache as the hub has it now, and records its hash."""
    try:
        metadata = what.metadata()
    except Unreachable as error:
        if not os.path.lexists(what.path):
            raise
        raise Unreachable(f"{what.path} is damaged or has lost its hash, and {error}") from None
    what.path.parent.mkdir(parents=True, exist_ok=True)
    part = what.path.with_name(f".{what.path.name}.{metadata.etag[:16]}.part")
    with alone(f"downloading {part}", wait=True):
        if _hash_like(what.path, metadata.etag) != metadata.etag:
            try:
                _download(what, metadata, part)
            except OSError as error:
                raise InputError(
                    f"{part}: cannot be written ({error.strerror or error}), expected room for the "
                    f"download; free some and {CONTINUE_COMMAND}"
                ) from None
            discard(what.path)
            os.replace(part, what.path)
        discard(what.record)
        write_text(what.record, metadata.etag)
    return what.path


def _download(what: _File, metadata: Any, part: Path) -> None:
    """Writes the complete, verified file to `part`; continues a partial download there."""
    for left in reversed(range(ROUNDS)):
        try:
            asked(what, lambda: _receive(what, metadata, part))
        except Unreachable as error:
            if not left or isinstance(error, TooLong):
                raise
            time.sleep(PAUSE)
            continue
        found = _hash_like(part, metadata.etag)
        if found == metadata.etag:
            return
        part.unlink()
    raise InputError(
        f"{what}: hash {found}, expected {metadata.etag} as the hub states; the download was damaged "
        "and is deleted: run the same command again"
    )


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
        about = {"expected_size": metadata.size, "displayed_filename": what.name}
        try:
            http_get(metadata.location, file, resume_size=file.tell(), headers=headers, **about)
        except OSError as error:
            if error.errno is None:  # a whole answer of another size: not the file
                file.truncate(0)
            raise


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace").strip() if path.is_file() else ""


def _hash_like(path: Path, etag: str) -> str:
    """Returns the file's hash of the kind that an ETag is: sha256, or git's name of a small file.

    What is no file, or cannot be read, has none.
    """
    from huggingface_hub.utils.sha import git_hash

    try:
        if not path.is_file():
            return ""
        return sha256_of(path) if len(etag) == 64 else git_hash(path.read_bytes())
    except OSError:
        return ""
