"""What `sentbench readmes` writes: deviations in a method's README, the data sources, the goals of speed."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InputError
from harness.report.audit import Difference, MethodAudit
from harness.report.formats.markdown import escape
from harness.report.measurements import Goal, Machine, Measurements, goals, plain

HEADING = "## Deviations"
WIDTH = 118
INTRO = "Written by `sentbench readmes` from `leaderboards/audit`: change it there."
SOURCES = """# Sources of data

Written by `sentbench readmes` from `sources.yaml` and `sources.lock.yaml` next to it. *Pin* is the commit on
the hub, or the name that stands for one until `sentbench data lock` keeps what it meant. *Hashes* counts the
files whose sha256 is known before the fetch, in any provider; on the hub every other file is compared with
the hash that the hub states.

| source | kind | providers | repository | pin | hashes | licence | how it was confirmed |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""
GOALS = "## Goals and machines"
ABOUT = """Written by `sentbench readmes` from `reports/benchmarks.json`, medians over rounds. At least: how
many times ours is as fast as the other tool. At most: what ours takes, in a unit or in times of the other.
The last row is GFLOP/s of fp32 products by oneDNN, which our layers call, and by torch's default. The
report's Speed page explains each missed goal by a profile, and shows ranges, rounds and threads."""
WORDS = {True: " met", False: " **missed**", None: ""}


def with_section(page: str, section: str, *, where: str) -> str:
    """Returns a page with a section in place of the one that has the same heading.

    section: its heading, a line `## ...` or deeper, and all that appears under it. It reaches to the next
    line that begins with `## `.
    Errors: InputError, which names the page as `where`, unless it has that heading once, before another one.
    """
    heading = section.partition("\n")[0]
    pattern = re.compile(rf"^{re.escape(heading)}$.*?(?=^## )", flags=re.MULTILINE | re.DOTALL)
    if len(pattern.findall(page)) != 1:
        raise InputError(
            f"{where}: expected the heading {heading!r} once, with another one after it; restore the heading"
        )
    return pattern.sub(lambda _: section.rstrip("\n") + "\n\n", page)


def to_deviations(audit: MethodAudit) -> str:
    """Returns the section with its heading: one numbered paragraph a difference."""
    items = [
        textwrap.fill(
            f"{number}. {to_sentences(difference)}",
            WIDTH,
            subsequent_indent="   ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for number, difference in enumerate(audit.differences, 1)
    ]
    return "\n".join([HEADING, INTRO, "", *items]) + "\n"


def to_sentences(difference: Difference) -> str:
    """Returns a difference as one paragraph: what paper and code do, what is done here, how to turn it."""
    parts = [
        f"{difference.about[0].upper()}{difference.about[1:]}",
        f"Paper: {difference.paper}",
        f"Code: {difference.code}",
        f"Here: {difference.ours}",
    ]
    if difference.switches:
        parts.append("Switch: " + ", ".join(f"`{name}`" for name in difference.switches))
    if difference.variants:
        parts.append("Measured by: " + ", ".join(f"`{name}`" for name in difference.variants))
    if difference.effect:
        parts.append(f"Effect: {difference.effect}")
    return " ".join(f"{_escaped(part)}." for part in parts)


def _escaped(text: str) -> str:
    """Returns text that shows no HTML and no link; what is between backticks stays as it is."""
    shown = {"<": "&lt;", "](": "]\\("}
    return re.sub(r"`[^`]*`|<|\]\(", lambda found: shown.get(found[0], found[0]), text)


def with_deviations(readme: str, audit: MethodAudit) -> str:
    """Returns a README with its section on deviations replaced. Errors: as of `with_section`."""
    return with_section(readme, to_deviations(audit), where=f"the README of {audit.method}")


def to_source_table(entries: Sequence[Mapping[str, Any]]) -> str:
    """Returns the page for the entries that `sentbench list sources --json` prints."""
    return SOURCES + "".join(f"| {' | '.join(_cells(entry))} |\n" for entry in entries)


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


def to_speed_section(measured: Measurements) -> str:
    """Returns the section with its heading: a row a goal, a column a machine."""
    titles = [machine.title for machine in measured.machines]
    rows = [["", "goal", *titles], [":--", "--:", *["--:"] * len(titles)]]
    rows += [_goal(goal, titles) for goal in goals(measured)]
    rows.append(["products by oneDNN / by torch", "", *map(_products, measured.machines)])
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([GOALS, "", ABOUT, "", *lines]) + "\n"


def _goal(goal: Goal, titles: list[str]) -> list[str]:
    cells = ["–"] * len(titles)
    for title, found in goal.outcomes.items():
        cells[titles.index(title)] = f"{plain(found.value)}{WORDS[found.met]}"
    return [goal.name, goal.asked, *cells]


def _products(machine: Machine) -> str:
    rates = machine.products
    return f"{rates.onednn.median:.0f} / {rates.torch.median:.0f}" if rates else "not measured"
