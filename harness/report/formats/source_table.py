"""The table of all data sources as a Markdown page: where each comes from, what pins it, its licence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.report.formats.markdown import escape

HEAD = """# Sources of data

Written by `sentbench readmes` from `sources.yaml` and `sources.lock.yaml` next to it. *Pin* is the commit on
the hub, or the name that stands for one until `sentbench data lock` keeps what it meant. *Hashes* counts the
files whose sha256 is known before the fetch, in any provider; on the hub every other file is compared with
the hash that the hub states.

| source | kind | providers | repository | pin | hashes | licence | how it was confirmed |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""


def to_source_table(entries: Sequence[Mapping[str, Any]]) -> str:
    """Returns the page for the entries that `sentbench list sources --json` prints."""
    return HEAD + "".join(f"| {' | '.join(_cells(entry))} |\n" for entry in entries)


def _cells(entry: Mapping[str, Any]) -> list[str]:
    pin = f"`{entry['revision']}`" if entry["revision"] else ""
    return [
        f"`{entry['name']}`",
        entry["kind"],
        ", ".join(entry["providers"]),
        escape(entry["repository"] or ""),
        pin,
        f"{entry['hashes']} of {entry['files']}",
        escape(entry["licence"]),
        escape(entry["confirmed"]),
    ]
