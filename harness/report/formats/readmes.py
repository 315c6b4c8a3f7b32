"""Generated text: deviations in a method's README, the table of data sources, the words of verdicts."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InputError
from harness.evidence.words import DRAWS, WORDS, Verdict, Word
from harness.report.formats.markdown import escape
from harness.report.pages.audit import CodeDeviation, MethodAudit

HEADING = "## Deviations"
LINE_WIDTH = 118
INTRO = "Written by `make generated` from `leaderboards/audit`: change it there."
SOURCES_INTRO = """# Sources of data

Written by `make generated` from `sources.yaml` and `sources.lock.yaml` next to it. *Pin* is the commit on
the hub, or the name that stands for one until `sentbench data lock` keeps what it meant. *Hashes* counts the
files whose sha256 is known before the fetch, in any provider; on the hub every other file is compared with
the hash that the hub states.

| source | kind | providers | repository | pin | hashes | licence | how it was confirmed |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""


SCALE = """## The words

`make generated` writes this table from `harness/evidence/words.py`. A circle marks verdicts by independent
runs; *k* is the number of runs that a number was chosen from.

| verdict | sign | level | draw | meaning |
| --- | :-: | --- | --- | --- |
"""


def with_section(page: str, section: str, *, where: str) -> str:
    """Returns a page with a section that replaces the section of the same heading.

    section: its heading, a line `## ...` or deeper, and its text, up to the next line that begins with `## `.
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
    """Returns the section with its heading: one numbered paragraph per difference."""
    items = [
        textwrap.fill(
            f"{number}. {to_sentences(difference)}",
            LINE_WIDTH,
            subsequent_indent="   ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for number, difference in enumerate(audit.differences, 1)
    ]
    return "\n".join([HEADING, INTRO, "", *items]) + "\n"


def to_sentences(difference: CodeDeviation) -> str:
    """Returns a difference as one paragraph: paper and code, our choice, and its switch."""
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
    """Returns text without HTML and links; text between backticks stays unchanged."""
    shown = {"<": "&lt;", "](": "]\\("}
    return re.sub(r"`[^`]*`|<|\]\(", lambda match: shown.get(match[0], match[0]), text)


def to_source_table(entries: Sequence[Mapping[str, Any]]) -> str:
    """Returns the page for the entries that `sentbench list sources --json` prints."""
    return SOURCES_INTRO + "".join(f"| {' | '.join(_cells(entry))} |\n" for entry in entries)


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


def to_scale() -> str:
    """Returns the section of the words of verdicts, each with the answers that it stands for."""
    verdicts: dict[Word, list[Verdict]] = {}
    for verdict, word in WORDS.items():
        verdicts.setdefault(word, []).append(verdict)
    return SCALE + "".join(map(_scale_line, verdicts, verdicts.values()))


def _scale_line(word: Word, verdicts: Sequence[Verdict]) -> str:
    draws = [verdict.draw for verdict in verdicts]
    if verdicts[0].by not in ("ours", "others"):
        level, drawn = "", ""
    else:
        level, drawn = verdicts[0].level, "any" if len(draws) == len(DRAWS) else ", ".join(draws)
    return f"| {escape(word.text)} | {escape(word.sign)} | {level} | {drawn} | {escape(word.meaning)} |\n"
