"""Files and models of the Hugging Face hub by its client, which downloads, caches, logs in and works offline.

This module repeats failed requests after pauses, checks the hash of a data file, chooses the files of a
model, and gives each failure one line.
"""

import glob
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from harness.errors import InputError
from harness.io.files import sha256_of
from harness.paths import ARTEFACTS, BACKBONES, DATA

Result = TypeVar("Result")
REVISION = r"^([0-9a-f]{40}|[A-Za-z0-9][A-Za-z0-9._-]*|refs/pr/[0-9]+)$"
"""A commit of the hub, the name of a branch or tag, or a pull request."""
REPOSITORY = re.compile(r"(?P<repo>[\w.-]{1,96}/[\w.-]{1,96})(@(?P<revision>.*))?")
PAUSES = (1, 2, 4, 8)
"""Seconds before each retry of a failed request, unless the hub asks for more."""
MOST_WAIT = 120
"""Most seconds of one pause that the hub may request."""
CUT_LOSS = 2**16
"""Most bytes that a cut connection loses; the download continues before them."""
MARKS = ("config.json", "modules.json")
"""Files that identify a model; one of them is in its top folder."""
SAFE, PICKLES = "*.safetensors", ("pytorch_model*.bin", "*/pytorch_model*.bin")
READ = ("*.json", "*.txt", "*.model", "*.jinja", SAFE, *PICKLES)
"""Patterns of the files that the libraries read: settings, tokenizers and weights."""
NOT_DOWNLOADED = (
    "onnx/*",
    "openvino/*",
    "coreml/*",
    "*/onnx/*",
    "*/openvino/*",
    "runs/*",
    "eval/*",
    "checkpoint-*/*",
)
"""Patterns of skipped files: other formats, and remains of the training."""
AGAIN = "run the same command again"
LOG_IN = "log in with `hf auth login` or set HF_TOKEN"
NOT_THE_HUB = "may be a login page; log in to the network or correct HF_ENDPOINT"
_NO_ANSWER: ContextVar[list[str] | None] = ContextVar("_NO_ANSWER", default=None)


class Unreachable(Exception):
    """Raised if the hub does not do what was asked; the message names what, the reason and the remedy."""


class Absent(Unreachable):
    """Raised if the repository has no such file at that commit."""


@contextmanager
def not_asked_again() -> Iterator[None]:
    """Inside the context an unreachable hub is asked once, not once per file."""
    token = _NO_ANSWER.set([])
    try:
        yield
    finally:
        _NO_ANSWER.reset(token)


def hub_file(repo: str, repo_type: str, revision: str, name: str) -> tuple[Path, str]:
    """Returns a file of the client's cache, downloaded if it is missing or damaged, and its commit.

    Errors: Unreachable if the hub does not deliver the file with its hash; InputError if it cannot be
    written.
    """
    from huggingface_hub import hf_hub_download, try_to_load_from_cache

    def download() -> Path:
        for force in (False, True):
            options: dict[str, Any] = {"repo_type": repo_type, "revision": revision, "force_download": force}
            path = Path(hf_hub_download(repo, name, endpoint=_endpoint(), **options))
            if _is_intact(path):
                return path
        path.resolve().unlink()
        raise OSError("its hash differs from the one that the hub states")

    cached = try_to_load_from_cache(repo, name, revision=revision, repo_type=repo_type)
    if len(revision) == 40 and isinstance(cached, str) and _is_intact(Path(cached)):
        path = Path(cached)
    else:
        path = asked(f"{name} of {repo} at {revision}", download, repeated=True)
    return path, path.parents[len(PurePosixPath(name).parts) - 1].name


def model_folder(named: str | Path) -> Path:
    """Returns an existing folder, or the folder of the client's cache with the hub model of that name.

    A hub name has two parts, and the first is not an existing folder. Errors: InputError if the hub does not
    deliver the model.
    """
    path = Path(named)
    match = REPOSITORY.fullmatch(str(named))
    if not match or path.exists() or path.parent.exists() or path.parent in (DATA, BACKBONES, ARTEFACTS):
        return path
    revision = "main" if match["revision"] is None else match["revision"]
    if not re.fullmatch(REVISION, revision):
        raise InputError(f"{named}: expected a commit, a branch or a tag of the hub after @")
    try:
        return asked(f"{match['repo']} at {revision}", lambda: _snapshot(match["repo"], revision))
    except Unreachable as error:
        raise InputError(f"{named}: no such folder, and not on the hub: {error}") from None


def _snapshot(repo: str, revision: str) -> Path:
    """Returns the folder of a model in the client's cache, with every file that a library reads."""
    from huggingface_hub import get_cached_repo_tree, snapshot_download
    from huggingface_hub.errors import CachedRepoTreeNotFoundError

    options: dict[str, Any] = {"repo_id": repo, "endpoint": _endpoint()}
    folder = Path(snapshot_download(revision=revision, allow_patterns=list(MARKS), **options))
    if not any((folder / mark).is_file() for mark in MARKS):
        raise Unreachable(f"{repo} at {revision}: it has no {' or '.join(MARKS)}, so it is not a model")
    try:
        names = [file.path for file in get_cached_repo_tree(repo, revision=folder.name)]
    except CachedRepoTreeNotFoundError:  # another program filled the cache, and the hub is not reached
        return folder
    wanted = [glob.escape(name) for name in wanted_files(names)]
    return Path(snapshot_download(revision=folder.name, allow_patterns=wanted, **options))


def wanted_files(names: list[str]) -> list[str]:
    """Returns the files of a repository that a library reads, sorted; pickles only without safetensors."""
    from huggingface_hub.utils import filter_repo_objects

    inside = [name for name in names if not {"..", "/"} & {*PurePosixPath(name).parts} and "\\" not in name]
    wanted = set(filter_repo_objects(inside, allow_patterns=list(READ), ignore_patterns=list(NOT_DOWNLOADED)))
    safe = {PurePosixPath(name).parent for name in filter_repo_objects(wanted, allow_patterns=SAFE)}
    pickled = set(filter_repo_objects(wanted, allow_patterns=list(PICKLES)))
    return sorted(name for name in wanted if name not in pickled or PurePosixPath(name).parent not in safe)


def asked(
    what: str, request: Callable[[], Result], *, repeated: bool = False, uploads: bool = False
) -> Result:
    """Returns the result of a request by the client; repeats it after pauses if the failure may be temporary.

    repeated: the client itself has repeated the request if it then reports that a file is not in its cache.
    uploads: the client says on standard error how long it waits for the hub, which may be many minutes.
    Errors: Unreachable; InputError for a file that cannot be written.
    """
    from huggingface_hub import constants, errors
    from huggingface_hub.utils import logging

    if known := _NO_ANSWER.get():
        raise Unreachable(f"{what}: {known[0]}")
    level, size = logging.get_verbosity(), constants.DOWNLOAD_CHUNK_SIZE
    constants.DOWNLOAD_CHUNK_SIZE = CUT_LOSS
    if not uploads:
        logging.set_verbosity_error()
    try:
        for pause in (*PAUSES, None):
            try:
                return request()
            except (errors.HTTPError, OSError, ValueError, LookupError, TypeError, AssertionError) as error:
                temporary = not (repeated and isinstance(error, errors.LocalEntryNotFoundError))
                wait = _pause(what, error, pause if temporary else None)
            time.sleep(wait)
    finally:
        logging.set_verbosity(level)
        constants.DOWNLOAD_CHUNK_SIZE = size
    raise AssertionError("the last failure has no pause")


def _pause(what: str, error: Exception, pause: int | None) -> float:
    """Returns the seconds to wait after a failure. Errors: Unreachable if it is permanent or the last."""
    from huggingface_hub import errors
    from huggingface_hub.utils import parse_ratelimit_headers

    cause = error.__cause__ if isinstance(error, errors.LocalEntryNotFoundError) else error
    reason, temporary = _in_words(cause if isinstance(cause, Exception) else error)
    if isinstance(cause, errors.RemoteEntryNotFoundError):
        raise Absent(f"{what}: {reason}") from None
    wanted = 0
    if isinstance(cause, errors.HfHubHTTPError):
        limit, stated = (
            parse_ratelimit_headers(cause.response.headers),
            cause.response.headers.get("Retry-After"),
        )
        wanted = limit.reset_in_seconds if limit and limit.remaining == 0 else 0
        wanted = max(wanted, int(stated) if stated and stated.isdecimal() else 0)
    if pause is not None and temporary and wanted <= MOST_WAIT:
        return max(pause, wanted)
    known = _NO_ANSWER.get()
    if (
        known is not None
        and isinstance(cause, errors.HTTPError)
        and not isinstance(cause, errors.HfHubHTTPError)
    ):
        known.append(reason)
    raise Unreachable(f"{what}: {reason}") from None


def _in_words(error: Exception) -> tuple[str, bool]:
    """Returns the reason of a failure, and whether it may pass. Errors: InputError for a file here."""
    from huggingface_hub import errors

    match error:
        case errors.OfflineModeIsEnabled():
            return "HF_HUB_OFFLINE is set; unset it, or name a copy of the hub by SENTBENCH_HUB", False
        case errors.RemoteEntryNotFoundError():
            return "the repository has no such file at that revision", False
        case errors.HfHubHTTPError():
            status = error.response.status_code
            return _refusal(error, status), status == 429 or status >= 500
        case errors.HTTPError():
            message = " ".join(str(error).split()) or type(error).__name__
            return f"the connection failed ({message}); check the network and {AGAIN}", True
        case errors.FileMetadataError():
            return f"the answer has no commit or no hash of the file and {NOT_THE_HUB}", False
        case UnicodeError():
            return "the token has a character outside ASCII; correct HF_TOKEN", False
        case errors.HFValidationError():
            return str(error).splitlines()[0], False
        case ValueError(__cause__=Exception() as cause):  # a damaged file could not be replaced
            return f"the file is damaged in the cache, and {_in_words(cause)[0]}", False
        case ValueError() if not isinstance(error, json.JSONDecodeError):  # for example of a model card
            return " ".join(str(error).split()), False
        case OSError() if error.errno is not None:
            raise InputError(
                f"{error.filename or 'the cache of the hub'}: cannot be written ({error.strerror}); free "
                f"space or set HF_HOME to another folder, and {AGAIN}"
            ) from None
        case OSError():
            return f"damaged or another page came in its place ({str(error).splitlines()[0]}); {AGAIN}", True
    return f"the answer is not the hub's and {NOT_THE_HUB}", False


def _refusal(error: Exception, status: int) -> str:
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

    if isinstance(error, RevisionNotFoundError):
        return "no such revision; pin a commit with `sentbench data fetch NAME --revision HASH`"
    if isinstance(error, RepositoryNotFoundError) and not isinstance(error, GatedRepoError):
        return f"no such repository, or a private one; correct its name or {LOG_IN}"
    if status in (401, 403):
        return (
            f"access is refused ({status}): accept the terms on the repository's page, for an upload use a "
            f"token that may write there, and {LOG_IN}"
        )
    if status == 429:
        return "the hub limits requests (429); wait some minutes and run the same command again"
    if status < 500:
        stated = getattr(error, "server_message", None) or str(error).strip().partition("\n")[0]
        return f"the hub refuses the request ({status}): {' '.join(stated.split()) or 'without a reason'}"
    return f"the hub answers {status}; run the same command again later"


def _is_intact(path: Path) -> bool:
    """Returns whether a file of the cache has the hash that its blob is named by: sha256, or git's."""
    from huggingface_hub.utils.sha import git_hash

    blob = path.resolve()
    if not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", blob.name):  # a file system without links
        return True
    return blob.name == (sha256_of(blob) if len(blob.name) == 64 else git_hash(blob.read_bytes()))


def _endpoint() -> str | None:
    return os.environ.get("HF_ENDPOINT") or None
