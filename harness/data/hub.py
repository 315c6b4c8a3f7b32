"""Files of the Hugging Face hub: downloaded once per machine, resumed after an interruption, and verified.

The cache has each file under its repository and commit, with the hub's hash (its ETag), and in `refs` the
commit of each name such as `main`. The hash is verified at every use of a file. Files in the cache of the
hub's own client are used too.
"""

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tqdm import tqdm

from harness.data.hub_requests import CONTINUE_COMMAND, ETAG, PIN, HubFile, Unreachable, size_of
from harness.errors import InputError
from harness.io.files import discard, sha256_of, write_text
from harness.io.locks import alone
from harness.paths import cache

COMMIT = re.compile(r"[0-9a-f]{40}")
WEIGHTS, PICKLED_WEIGHTS = "model.safetensors", "pytorch_model.bin"


def repository_folder(repo: str, repo_type: str, commit: str) -> Path:
    """Returns the folder of one commit of a repository in the cache."""
    return cache() / "hub" / f"{repo_type}s--{repo.replace('/', '--')}" / commit


def hub_file(repo: str, repo_type: str, commit: str, name: str) -> Path:
    """Returns a file of a repository; downloads it if it is missing or damaged.

    An interrupted download continues where it stopped, also in a later process.
    Errors: Unreachable if the hub does not deliver the file with its hash; InputError if it cannot be
    written.
    """
    what, path = HubFile(repo, repo_type, commit, name), repository_folder(repo, repo_type, commit) / name
    return _known(what, path) or _fetched(what, path)


def known_commit(repo: str, repo_type: str, revision: str) -> str | None:
    """Returns the recorded commit of a revision, None if unknown; does not ask the hub."""
    if COMMIT.fullmatch(revision):
        return revision
    commit = _text(repository_folder(repo, repo_type, "refs") / revision)
    return commit if COMMIT.fullmatch(commit) else None


def commit_of(repo: str, repo_type: str, revision: str, name: str, *, ask: bool = False) -> str:
    """Returns the commit of a revision: the recorded one, or the hub's answer for a file.

    ask: ignore the record. The hub's answer is recorded.
    Errors: Unreachable without an answer; Absent if the file does not exist.
    """
    known = known_commit(repo, repo_type, revision)
    if known and (known == revision or not ask):
        return known
    what = HubFile(repo, repo_type, revision, name)
    commit = str(what.metadata().commit_hash)
    if not COMMIT.fullmatch(commit):
        raise Unreachable(f"{what}: the answer names no commit (a proxy may remove it); {PIN}")
    keep_commit(repo, repo_type, revision, commit)
    return commit


def keep_commit(repo: str, repo_type: str, revision: str, commit: str) -> None:
    """Records the current commit of a revision."""
    record = repository_folder(repo, repo_type, "refs") / revision
    discard(record)
    write_text(record, commit)


def _known(what: HubFile, path: Path) -> Path | None:
    """Returns the file from our cache or the hub client's cache if its hash matches the record."""
    etag = _text(_record(path))
    if ETAG.fullmatch(etag) and _hash_like(path, etag) == etag:
        return path
    from huggingface_hub import try_to_load_from_cache

    theirs = try_to_load_from_cache(what.repo, what.name, revision=what.revision, repo_type=what.repo_type)
    if not isinstance(theirs, str):
        return None
    file = Path(theirs).resolve()  # the client names a file by its hash
    return file if _hash_like(file, file.name) == file.name else None


def _fetched(what: HubFile, path: Path) -> Path:
    """Downloads the file to the cache and records its hash."""
    try:
        metadata = what.metadata()
    except Unreachable as error:
        if not os.path.lexists(path):
            raise
        raise Unreachable(f"{path} is damaged or has lost its hash, and {error}") from None
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{metadata.etag[:16]}.part")
    with alone(f"downloading {part}", wait=True):
        if _hash_like(path, metadata.etag) != metadata.etag:
            try:
                what.asked(lambda: _receive(metadata, part), part)
            except OSError as error:
                raise InputError(
                    f"{part}: cannot be written ({error.strerror or error}); free space and "
                    f"{CONTINUE_COMMAND}"
                ) from None
            discard(path)
            os.replace(part, path)
        discard(_record(path))
        write_text(_record(path), metadata.etag)
    return path


def _receive(metadata: Any, part: Path) -> None:
    """Appends the missing bytes to `part`; empties it and raises OSError if they belong to another file.

    The hub stores large files by Xet; they are read through its plain interface, which can continue.
    """
    from huggingface_hub import constants, get_session
    from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

    hub = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    # A token is sent to the hub only, not to its storage.
    headers = build_hf_headers() if urlsplit(metadata.location).netloc == urlsplit(hub).netloc else {}
    start = size_of(part)
    if start and start < (metadata.size or 0):
        headers["Range"] = f"bytes={start}-"
    if not start or start != metadata.size:
        timeout = constants.HF_HUB_DOWNLOAD_TIMEOUT
        with get_session().stream("GET", metadata.location, headers=headers, timeout=timeout) as response:
            hf_raise_for_status(response)
            continued = response.status_code == 206
            shown = {"total": metadata.size, "initial": start * continued, "unit": "B", "unit_scale": True}
            with part.open("ab" if continued else "wb") as file, tqdm(**shown, disable=None) as bar:
                for chunk in response.iter_bytes(constants.DOWNLOAD_CHUNK_SIZE):
                    if metadata.size is not None and file.tell() + len(chunk) > metadata.size:
                        file.truncate(0)
                        raise OSError(
                            f"more than the {metadata.size} bytes that the hub states: another page came in "
                            "its place; run the command again"
                        )
                    file.write(chunk)
                    bar.update(len(chunk))
    actual = _hash_like(part, metadata.etag)
    if actual != metadata.etag:
        damaged = metadata.size in (None, size_of(part))
        why = "the download was damaged and is deleted" if damaged else "another page came in its place"
        part.write_bytes(b"")
        raise OSError(
            f"hash {actual}, expected {metadata.etag} as the hub states: {why}; run the command again"
        )


def _record(path: Path) -> Path:
    return path.with_name(f".{path.name}.etag")


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace").strip() if path.is_file() else ""


def _hash_like(path: Path, etag: str) -> str:
    """Returns the file's hash of the ETag's kind: sha256, or git's blob hash; None if unreadable."""
    from huggingface_hub.utils.sha import git_hash

    try:
        if not path.is_file():
            return ""
        return sha256_of(path) if len(etag) == 64 else git_hash(path.read_bytes())
    except OSError:
        return ""
