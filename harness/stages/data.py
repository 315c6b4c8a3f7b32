"""Stage `data`: sources fetched into data/NAME and checked there."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tqdm import tqdm

from harness.data.download import check, copy_fetched, fetch, read_record
from harness.data.sources import SOURCES
from harness.paths import SOURCE_RECORD


def fetch_sources(
    names: Sequence[str],
    *,
    directory: Path,
    tiers: Sequence[str] | None,
    revision: str | None = None,
    copies: Path | None = None,
) -> None:
    """Brings each source into `directory`/NAME and prints one line for it; see `harness.data.download.fetch`.

    `copies`/NAME, where it is given, is made a copy of that folder.
    A file whose hash the sources table does not know is named with the hash it was found to have.
    """
    for name in _with_bar(names):
        folder = fetch(name, directory, tiers=tiers, revision=revision)
        if copies is not None:
            copy_fetched(name, directory, copies)
        tqdm.write(describe(folder), file=sys.stdout)
        for line in unpinned(folder):
            tqdm.write(line, file=sys.stdout)


def check_sources(names: Sequence[str], *, directory: Path) -> None:
    """Verifies each fetched source and prints one line for it; stops at the first that is not whole."""
    for name in _with_bar(names):
        check(name, directory)
        tqdm.write(describe(directory / name), file=sys.stdout)


def describe(folder: Path) -> str:
    """Returns the line of a fetched source: name, tier, lines of text, bytes."""
    record = read_record(folder)
    rows = sum(file["rows"] or 0 for file in record["files"].values())
    size = sum((folder / file).stat().st_size for file in record["files"])
    return f"{record['name']:<24} {record['tier']:<9} {rows:>9,} rows {size:>14,} bytes"


def unpinned(folder: Path) -> list[str]:
    """Returns one line for each file whose sha256 neither the table pins nor a pinned input determines."""
    record = read_record(folder)
    tier = SOURCES[record["name"]].tiers[record["tier"]]
    if tier.inputs and None not in tier.inputs.values():
        return []
    return [
        f"  {file}: sha256 {found['sha256']} is not in the sources table; recorded in "
        f"{folder / SOURCE_RECORD}"
        for file, found in record["files"].items()
        if file not in tier.sha256
    ]


def _with_bar(names: Sequence[str]) -> Iterable[str]:
    return tqdm(names, unit="source", leave=False, disable=not sys.stderr.isatty())
