"""Files of the Hugging Face hub: downloaded once per machine, resumed after an interruption, and verified.

The cache keeps each file under its repository and commit, the hub's hash of it (its ETag) next to it, and in
`refs` the commit that a name such as `main` meant. The hash is verified at every use of a file: by another
stage, for another source in the same archive, on a machine without a network. Files in the cache of the hub's
own client are used too.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache as once
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from harness.disk.files import discard, sha256_of, write_text
from harness.errors import InputError
from harness.paths import cache

COMMIT = re.compile(r"[0-9a-f]{40}")
ETAG = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
WEIGHTS, PICKLED_WEIGHTS = "model.safetensors", "pytorch_model.bin"
ROUNDS, PAUSE = 3, 3.0
"""Attempts to download a file, and seconds between them; the hub's client repeats single requests itself."""

MOST_WAIT = 120
"""Seconds of pauses that the hub may ask for, for all requests of one file."""

CONTINUE_COMMAND = "run the same command again: it continues where it stopped"
CONTINUE = f"check the network and {CONTINUE_COMMAND}"
LOG_IN = "log in with `hf auth login` or set HF_TOKEN"
PIN = "pin a commit with `sentbench data fetch NAME --revision HASH`"

T = TypeVar("T")
_NO_ANSWER: ContextVar[list[str] | None] = ContextVar("_NO_ANSWER", default=None)
_ASKED_WAITS: ContextVar[list[int] | None] = ContextVar("_ASKED_WAITS", default=None)


class Unreachable(Exception):
    """The hub does not give a file; the message names file, repository, reason and what to do."""


class _Refused(Unreachable):
    """The hub is there and gives nothing for now: not worth a further attempt."""


class _TooLong(Exception):
    """The hub asks for a longer pause than is left of MOST_WAIT; the message has its seconds."""


class Absent(Unreachable):
    """The repository exists at that commit and has no such file."""


def repository_folder(repo: str, repo_type: str, commit: str) -> Path:
    """Returns the folder of one commit of a repository in the cache."""
    return cache() / "hub" / f"{repo_type}s--{repo.replace('/', '--')}" / commit


def hub_file(repo: str, repo_type: str, commit: str, name: str) -> Path:
    """Returns a file of a repository, downloaded if this machine does not have it or has it damaged.

    An interrupted download continues where it stopped, also in a later process.
    Errors: Unreachable if the hub does not give the file; InputError if what it gives has another hash.
    """
    what = _File(repo, repo_type, commit, name)
    with _limited_waits():
        return _known(what) or _fetched(what)


def check_exists(repo: str, repo_type: str, commit: str, name: str) -> None:
    """Errors: Absent if a repository has no such file, Unreachable if the hub does not say."""
    _File(repo, repo_type, commit, name).metadata()


def known_commit(repo: str, repo_type: str, revision: str) -> str | None:
    """Returns the commit that a revision means, as far as this machine knows; the hub is not asked."""
    if COMMIT.fullmatch(revision):
        return revision
    found = _text(repository_folder(repo, repo_type, "refs") / revision)
    return found if COMMIT.fullmatch(found) else None


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
        found = _asked(self, lambda: get_hf_file_metadata(url, endpoint=endpoint, retry_on_errors=True))
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
    from filelock import FileLock

    try:
        metadata = what.metadata()
    except Unreachable as error:
        if not os.path.lexists(what.path):
            raise
        raise Unreachable(f"{what.path} is damaged or has lost its hash, and {error}") from None
    what.path.parent.mkdir(parents=True, exist_ok=True)
    part = what.path.with_name(f".{what.path.name}.{metadata.etag[:16]}.part")
    with FileLock(part.with_suffix(".lock")):
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
            _asked(what, lambda: _receive(what, metadata, part))
        except _Refused:
            raise
        except Unreachable:
            if not left:
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


@contextmanager
def not_asked_again() -> Iterator[None]:
    """In the block, an unreachable hub is asked once, not once per file."""
    token = _NO_ANSWER.set([])
    try:
        yield
    finally:
        _NO_ANSWER.reset(token)


@contextmanager
def _limited_waits() -> Iterator[None]:
    """In the block, the pauses that the hub asks for are at most MOST_WAIT in all, inner blocks included."""
    outer = _ASKED_WAITS.get()
    token = _ASKED_WAITS.set([] if outer is None else outer)
    try:
        yield
    finally:
        _ASKED_WAITS.reset(token)


@once
def _check_waits() -> None:
    """Makes the hub's client, which obeys any Retry-After, stop where _limited_waits says so."""
    from huggingface_hub import set_client_factory
    from huggingface_hub.utils._http import default_client_factory

    def client() -> Any:
        made = default_client_factory()
        made.event_hooks["response"].append(_check_wait)
        return made

    set_client_factory(client)


def _check_wait(response: Any) -> None:
    """Errors: _TooLong if an answer that the client repeats asks for more than is left."""
    from huggingface_hub.utils import parse_ratelimit_headers

    asked, retry = _ASKED_WAITS.get(), response.headers.get("Retry-After", "")
    if asked is None or (response.status_code not in (408, 429) and response.status_code < 500):
        return
    limit = parse_ratelimit_headers(response.headers) if response.status_code == 429 else None
    by_limit = limit.reset_in_seconds if limit and limit.remaining == 0 else None
    seconds = by_limit if by_limit is not None else int(retry) if retry.isdecimal() else 0
    asked.append(seconds)
    if sum(asked) > MOST_WAIT:
        raise _TooLong(f"the hub asks to wait {seconds} s ({response.status_code})")


def _asked(what: _File, request: Callable[[], T]) -> T:
    """Returns what a request of the hub's client gives. Errors: Unreachable in words."""
    from huggingface_hub.errors import (
        HfHubHTTPError,
        HTTPError,
        OfflineModeIsEnabled,
        RemoteEntryNotFoundError,
    )

    no_answer = _NO_ANSWER.get()
    if no_answer:
        raise Unreachable(f"{what}: {no_answer[0]}")
    _check_waits()
    logger = logging.getLogger("huggingface_hub")
    level = logger.level
    logger.setLevel(logging.ERROR)  # one line is said here, not one for each attempt
    try:
        with _limited_waits():
            return request()
    except _TooLong as error:
        raise _Refused(f"{what}: {error}; run the same command again later") from None
    except OfflineModeIsEnabled:
        reason = "HF_HUB_OFFLINE is set; unset it, or name a copy of the hub by SENTBENCH_HUB"
    except RemoteEntryNotFoundError:
        raise Absent(f"{what}: the repository has no such file at that revision") from None
    except HfHubHTTPError as error:
        reason = _in_words(error)
    except HTTPError as error:
        reason = f"the connection failed ({' '.join(str(error).split()) or type(error).__name__}); {CONTINUE}"
        if no_answer is not None and type(error).__name__ in ("ConnectError", "ConnectTimeout"):
            no_answer.append(reason)
    except OSError as error:
        if error.errno is not None:  # a file of this machine, not the connection
            raise
        reason = f"another page came in its place; {CONTINUE}"
    finally:
        logger.setLevel(level)
    raise Unreachable(f"{what}: {reason}")


def _in_words(error: Any) -> str:
    """Returns why the hub refused a file, and what to do."""
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

    status = error.response.status_code
    if isinstance(error, RevisionNotFoundError):
        return f"no such revision; {PIN}"
    if isinstance(error, RepositoryNotFoundError) and not isinstance(error, GatedRepoError):
        return f"no such repository, or a private one; correct its name or {LOG_IN}"
    if status in (401, 403):
        return (
            f"access is refused ({status}): the repository is private or gated; accept its terms on its page "
            f"and {LOG_IN}"
        )
    if status == 429:
        return "the hub limits requests (429); wait some minutes and run the same command again"
    return f"the hub answers {status}; run the same command again later"


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
