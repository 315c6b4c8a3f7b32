"""A method's differences between paper and code as the section `Deviations` of its README."""

from __future__ import annotations

import re
import textwrap

from harness.errors import InputError
from harness.report.audit import Difference, MethodAudit

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
    return " ".join(f"{part}." for part in parts)


def with_deviations(readme: str, audit: MethodAudit) -> str:
    """Returns a README with its section on deviations written anew.

    Errors: InputError unless it has that heading once, before another one.
    """
    pattern = re.compile(rf"^{HEADING}$.*?(?=^## )", flags=re.MULTILINE | re.DOTALL)
    if len(pattern.findall(readme)) != 1:
        raise InputError(
            f"the README of {audit.method}: expected the heading {HEADING!r} once, with another one after "
            "it; restore the heading"
        )
    return pattern.sub(lambda _: to_deviations(audit) + "\n", readme)
