"""`sentbench data`: fetch, check or lock data."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.commands import name_list
from harness.data.download import (
    NotFetched,
    check,
    check_revision,
    copy_fetched,
    fetch,
    provider_order,
    read_source_record,
)
from harness.data.sources import LOCK, lock_sources, source_named
from harness.errors import InputError
from harness.models.hub import not_asked_again
from harness.paths import DATA, PARAMS, data_roots, is_project
from methods.core.progress import progress_bar

ACTIONS = (
    "fetch: into the folder SENTBENCH_DATA, by default data, outside a project the user's cache; in a "
    "project data/NAME, which the pipeline reads, is then a copy; check: verify fetched data; lock: pin "
    "the fetched commit of hub sources"
)
CONTINUES = "the same command downloads what is missing"
ARGUMENTS = {
    "action": {"choices": ["fetch", "check", "lock"], "help": ACTIONS},
    "names": {"nargs": "*", "metavar": "NAME", "help": "sources; default: all of params.yaml"},
    "--providers": {"help": "order of providers, for example embedded,mirror,hub"},
    "--revision": {"help": "another revision of the hub than the table names"},
}


def execute(arguments: argparse.Namespace) -> None:
    """Runs one action on the named sources, or on the plan's sources, and prints a line for each. See
    ACTIONS. In the pipeline `fetch` runs after data/NAME was deleted: it copies from the folder of
    SENTBENCH_DATA instead of downloading again.
    """
    from harness.plan.params_file import read_params

    if arguments.providers is not None and not name_list(arguments.providers):
        raise InputError("--providers is empty; give for example embedded,hub")
    for name in ("providers", "revision"):
        if getattr(arguments, name) is not None and arguments.action in ("check", "lock"):
            raise InputError(f"data {arguments.action} does not take --{name}")
    if arguments.revision is not None and "hub" not in name_list(arguments.providers or "hub"):
        raise InputError(f"--revision {arguments.revision}: needs the provider hub")
    planned = read_params() if PARAMS.is_file() or not arguments.names else None
    folder = data_roots()[-1]
    names = arguments.names or list(planned.sources if planned else ())
    if arguments.action == "check":
        check_sources(names, directory=folder)
    elif arguments.action == "lock":
        lock_sources({name: read_source_record(folder / name) for name in names})
        print(f"{LOCK.name}: {', '.join(names)}")
    else:
        # others than the hub would take no notice of a revision
        named = name_list(arguments.providers or "") if arguments.revision is None else ["hub"]
        providers = named or (planned.providers if planned else None)
        copies = DATA if is_project() and folder != DATA else None
        fetch_sources(
            names, directory=folder, providers=providers, revision=arguments.revision, copies=copies
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
    with not_asked_again(), progress_bar(len(names), "sources") as bar:
        for name in names:
            try:
                folder = fetch(name, directory, providers=providers, revision=revision)
            except NotFetched as error:
                missing[name] = error
                bar.update()
                continue
            if copies is not None:
                copy_fetched(name, directory, copies)
            print_above(bar, source_line(folder))
            bar.update()
    if missing and len(names) == 1:
        raise missing[names[0]]
    for reason in missing.values():
        print("missing", " ".join(str(reason).split()), file=sys.stderr)
    if missing:
        raise InputError(f"{len(missing)} of {len(names)} sources are missing: {', '.join(missing)}")


def check_sources(names: Sequence[str], *, directory: Path) -> None:
    """Verifies each fetched source and prints one line for it; stops at the first damaged one."""
    with progress_bar(len(names), "sources") as bar:
        for name in names:
            check(name, directory)
            print_above(bar, source_line(directory / name))
            bar.update()


def print_above(bar: Any, line: str) -> None:
    """Prints a line, above a drawn `progress_bar`; `bar.write` alone would draw the bar of short work."""
    if bar.disable or bar.last_print_t < bar.start_t + (bar.delay or 0.0):
        print(line, flush=True)
    else:
        bar.write(line, file=sys.stdout)


def source_line(folder: Path) -> str:
    """Returns the line of a fetched source: name, provider, lines of text, bytes."""
    record = read_source_record(folder)
    rows = sum(file["rows"] or 0 for file in record["files"].values())
    size = sum((folder / file).stat().st_size for file in record["files"])
    return f"{record['name']:<24} {record['provider']:<9} {rows:>9,} rows {size:>14,} bytes"
