"""Verified, atomic download of a source to a folder."""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from harness.data.conversions import CONVERSIONS
from harness.data.lines import decoded_lines
from harness.data.providers import Unavailable, bring, mirror_folder
from harness.data.sources import (
    INCLUDED,
    LOCKS,
    PROVIDERS,
    Provider,
    ProviderName,
    Source,
    source_named,
)
from harness.errors import InputError, near_matches
from harness.io.files import sha256_of, sha256_of_folder, write_json
from harness.io.locks import alone
from harness.io.outputs import check_folder, new_folder, room_of
from harness.io.records import read_manifest, read_object
from harness.models.hub import REVISION
from harness.paths import SOURCE_RECORD, data_roots

REMEDY: dict[ProviderName, str] = {
    "embedded": "correct the sources table or name another version of the package there",
    "system": "correct the sources table or install the package again",
    "mirror": "correct the sources table or replace the file in the mirror",
    "folder": "correct the file in the included folder",
    "hub": "correct the sources table or fetch another --revision",
}
"""Advice if the files of a provider differ from the sources table."""

OTHER_PROVIDERS = "name a mirror by SENTBENCH_MIRROR, a hub copy by SENTBENCH_HUB, or other providers"


class NotFetched(InputError):
    """Raised for a source that no provider has as described in the table; other sources may be available."""


def folder_of(name: str) -> Path:
    """Returns the folder of a source; fetches it if it is missing.

    Errors: as of `fetch`; InputError if the files of a fetched folder do not match its record.
    """
    roots = data_roots()
    folders = [root / name for root in roots if (root / name / SOURCE_RECORD).is_file()]
    if not folders:
        return fetch(name, roots[-1])
    again = f"remove {folders[0]} and run `sentbench data fetch {name}`"
    read_manifest(folders[0] / SOURCE_RECORD, again=again)
    return folders[0]


def fetch(
    name: str, directory: Path, *, providers: Sequence[str] | None = None, revision: str | None = None
) -> Path:
    """Downloads a source to `directory`/NAME and returns that folder; a complete one is not changed.

    Providers are tried in order (`providers`, SENTBENCH_PROVIDERS, or embedded, system, mirror, hub) until
    one has the files; damaged files are an error. `revision` overrides the hub revision of the lock and of
    the table. Errors: InputError for an unknown source or provider, files that differ from the table, files
    that no provider has, or a folder that cannot be written.
    """
    source, order, folder = source_named(name), provider_order(providers), directory / name
    check_revision(revision)
    with _refused_writes_in_words(folder):
        if _is_whole(source, folder, revision):
            with suppress(InputError, OSError):
                check_folder(folder, SOURCE_RECORD)  # removes what a killed fetch left next to it
            return folder
        check_folder(folder, SOURCE_RECORD)
        with alone(f"fetching {folder}", wait=True):
            if not _is_whole(source, folder, revision):  # by another process
                _fetch_from_first(source, order, folder, revision)
            return folder


def check_revision(revision: str | None) -> None:
    """Raises InputError if a text cannot be a commit or a revision name of the hub."""
    if revision is not None and not re.fullmatch(REVISION, revision):
        raise InputError(
            f"revision {revision!r}: expected the 40 digits of a hub commit or a name such as refs/pr/4"
        )


def copy_fetched(name: str, root: Path, directory: Path) -> Path:
    """Copies a complete source from `root` to `directory`/NAME and returns that folder.

    An equal folder, or a link to it, is not changed. Nothing is downloaded. Errors: InputError for a folder
    that cannot be written, or that contains other files.
    """
    origin, folder = root / name, directory / name
    with _refused_writes_in_words(folder):
        check_folder(folder, SOURCE_RECORD, room=room_of(origin))
        with alone(f"fetching {folder}", wait=True):
            if folder.is_dir() and sha256_of_folder(folder) == sha256_of_folder(origin):
                return folder
            with new_folder(folder, SOURCE_RECORD) as part:
                shutil.copytree(origin, part, copy_function=shutil.copyfile, dirs_exist_ok=True)
    return folder


@contextmanager
def _refused_writes_in_words(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        place = Path(error.filename or folder)
        elsewhere = place.absolute().is_relative_to(folder.absolute().parent)  # and not a lock of the project
        raise InputError(
            f"{place}: cannot be written ({error.strerror or error}); free space or correct its permissions"
            f"{', or set SENTBENCH_DATA to another folder' if elsewhere else ''}"
        ) from None


def provider_order(providers: Sequence[str] | None) -> list[ProviderName]:
    """Returns the providers to try, in order. Errors: InputError for an unknown one or a missing mirror."""
    asked = providers or os.environ.get("SENTBENCH_PROVIDERS", ",".join(PROVIDERS)).split(",")
    known: dict[str, ProviderName] = {provider: provider for provider in PROVIDERS}
    for name in asked:
        if name.strip() not in known:
            raise InputError(
                f"provider {name!r} is not known; use {', '.join(PROVIDERS)}"
                f"{near_matches(name, list(PROVIDERS))}"
            )
    order = [known[name.strip()] for name in asked]
    if "mirror" in order:
        mirror_folder()
    return order


def check(name: str, directory: Path) -> None:
    """Verifies a fetched source: hashes against the table and its own record, row counts, decodability.

    Errors: InputError with the file, the line if it has one, and the expected value.
    """
    source, folder = source_named(name), directory / name
    record = read_source_record(folder)
    provider = record.get("provider")
    if provider not in source.providers:
        raise InputError(
            f"{folder / SOURCE_RECORD}: provider {provider!r}, expected {' or '.join(source.providers)}; "
            f"fetch {name} again"
        )
    again = f"fetch {name} again"
    for file, (_, sha256) in _verify(source, source.providers[provider], folder, again).items():
        recorded = record.get("files", {}).get(file, {}).get("sha256")
        if sha256 != recorded:
            raise InputError(f"{folder / file}: sha256 {sha256}, recorded {recorded}; {again}")


def read_source_record(folder: Path) -> dict[str, Any]:
    """Returns the source.json of a fetched folder."""
    path = folder / SOURCE_RECORD
    if not path.is_file():
        raise InputError(f"{path}: no such file; run `sentbench data fetch {folder.name}`")
    again = f"delete {folder}"
    record = read_object(path, "name", "provider", "files", again=again)
    files = record["files"].values() if isinstance(record["files"], dict) else [None]
    if not all(isinstance(file, dict) and isinstance(file.get("rows", ""), int | None) for file in files):
        raise InputError(f"{path}: `files` must be a table of files with their rows; {again}")
    return record


def _is_whole(source: Source, folder: Path, revision: str | None) -> bool:
    try:
        check(source.name, folder.parent)
    except InputError:
        return False
    return revision in (None, read_source_record(folder).get("revision"))


def _fetch_from_first(source: Source, order: list[ProviderName], folder: Path, revision: str | None) -> None:
    reasons: list[str] = []
    for name in (INCLUDED, *order):
        if name not in source.providers:
            continue
        try:
            _fetch_from(name, source, folder, revision)
            return
        except Unavailable as error:
            reasons.append(f"{name}: {error}")
    details = "; ".join(reasons) or f"it exists in {', '.join(source.providers)} only"
    raise NotFetched(f"source {source.name}: not in {', '.join(order)} ({details}); {OTHER_PROVIDERS}")


def _fetch_from(name: ProviderName, source: Source, folder: Path, revision: str | None) -> None:
    provider = source.providers[name]
    if name == "hub" and revision is None and source.name in LOCKS:
        revision = LOCKS[source.name].commit
    with new_folder(folder, SOURCE_RECORD) as part:
        try:
            commit = _bring_and_make(name, provider, source, part, revision)
            files = _verify(source, provider, part, REMEDY[name])
        except InputError as error:
            raise NotFetched(f"source {source.name} from provider {name}: {error}") from None
        record = {
            "name": source.name,
            "provider": name,
            "text": source.text,
            "files": {file: {"rows": rows, "sha256": sha256} for file, (rows, sha256) in files.items()},
        }
        if name == "hub":
            record["revision"] = commit
        write_json(part / SOURCE_RECORD, record)


def _bring_and_make(
    name: ProviderName, provider: Provider, source: Source, folder: Path, revision: str | None
) -> str | None:
    """Fills a folder with the files of a source; returns their commit on the hub."""
    if provider.make is None:
        return bring(name, provider, source.files, folder, revision)
    inputs = folder / ".inputs"
    inputs.mkdir()
    commit = bring(name, provider, list(provider.inputs), inputs, revision)
    for path, expected in provider.inputs.items():
        _verify_hash(inputs / path, sha256_of(inputs / path), expected, REMEDY[name])
    CONVERSIONS[provider.make](inputs, folder)
    shutil.rmtree(inputs)
    return commit


def _verify(
    source: Source, provider: Provider, folder: Path, again: str
) -> dict[str, tuple[int | None, str]]:
    """Returns rows and sha256 of every file of the source. Errors: see `check`; they end with `again`."""
    locked = LOCKS[source.name].files if provider.repo and source.name in LOCKS else {}
    verified = {}
    for file, rows in source.rows.items():
        path = folder / file
        if not path.is_file():
            raise InputError(f"{path}: no such file; {again}")
        if rows is not None:
            expected = provider.rows.get(file, rows)
            rows = sum(1 for _ in decoded_lines(path, source.encoding))
            if rows != expected:
                raise InputError(f"{path}: ends after line {rows}, expected {expected} lines; {again}")
        sha256 = sha256_of(path)
        _verify_hash(path, sha256, provider.sha256.get(file) or locked.get(file), again)
        verified[file] = rows, sha256
    return verified


def _verify_hash(path: Path, actual: str, expected: str | None, again: str) -> None:
    if expected is not None and actual != expected:
        raise InputError(
            f"{path.name}: sha256 {actual}, expected {expected} by the sources table or its lock; {again}"
        )
