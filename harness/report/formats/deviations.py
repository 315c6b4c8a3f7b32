"""A method's differences between paper and code as the section `Deviations` of its README."""

from __future__ import annotations

import re
import textwrap

from harness.report.audit import Difference, MethodAudit
from harness.report.formats.sections import with_section

HEADING = "## Deviations"
WIDTH = 118
INTRO = "Written by `sentbench readmes` from `leaderboards/audit`: change it there."


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
