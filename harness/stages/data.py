"""`sentbench stage data`: pipeline stage that fetches one source of params.yaml into data/NAME.

Example: `sentbench stage data stsb`
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tqdm import tqdm

from harness.data.download import (
    NotFetched,
    check,
    check_revision,
    copy_fetched,
    fetch,
    provider_order,
    read_record,
)
from harness.data.sources import source_named
from harness.errors import InputError
from harness.models.hub import not_asked_again
from harness.paths import DATA, data_roots
from harness.plan.params_file import read_plan

CONTINUES = "the same command downloads what is missing"
ARGUMENTS = {"name": {"help": "an entry of `sources` in params.yaml"}}


def execute(arguments: argparse.Namespace) -> None:
    """Fetches the source, or copies it from the folder of SENTBENCH_DATA, so no file is downloaded twice."""
    folder = data_roots()[-1]
    fetch_sources(
        [arguments.name],
        directory=folder,
        providers=read_plan().providers,
        copies=DATA if folder != DATA else None,
    )


def fetch_sources(
    names: Sequence[str],
    *,
    directory: Path,
    providers: Sequence[str] | None,
    revision: str | None = None,
    copies: Path | None = None,
) -> None:
    """Fetches each source into `directory`/NAME and prints one line for it; see
    `harness.data.download.fetch`. If `copies` is given, the folder is copied to `copies`/NAME. Errors:
    InputError if sources are missing after all were tried; for several names each reason is printed.
    """
    for name in names:
        source_named(name)
    provider_order(providers)
    check_revision(revision)
    missing: dict[str, NotFetched] = {}
    with not_asked_again():
        for name in _with_bar(names):
            try:
                folder = fetch(name, directory, providers=providers, revision=revision)
            except NotFetched as error:
                missing[name] = error
                continue
            if copies is not None:
                copy_fetched(name, directory, copies)
            tqdm.write(describe(folder), file=sys.stdout)
    if missing and len(names) == 1:
        raise missing[names[0]]
    for reason in missing.values():
        print("missing", " ".join(str(reason).split()), file=sys.stderr)
    if missing:
        raise InputError(f"{len(missing)} of {len(names)} sources are missing: {', '.join(missing)}")


def check_sources(names: Sequence[str], *, directory: Path) -> None:
    """Verifies each fetched source and prints one line for it; stops at the first damaged one."""
    for name in _with_bar(names):
        check(name, directory)
        tqdm.write(describe(directory / name), file=sys.stdout)


def describe(folder: Path) -> str:
    """Returns the line of a fetched source: name, provider, lines of text, bytes."""
    record = read_record(folder)
    rows = sum(file["rows"] or 0 for file in record["files"].values())
    size = sum((folder / file).stat().st_size for file in record["files"])
    return f"{record['name']:<24} {record['provider']:<9} {rows:>9,} rows {size:>14,} bytes"


def _with_bar(names: Sequence[str]) -> Iterable[str]:
    return tqdm(names, unit="source", leave=False, disable=not sys.stderr.isatty())
