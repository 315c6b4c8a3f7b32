"""A section of a hand-written page that a command replaces; the rest of the page stays."""

from __future__ import annotations

import re

from harness.errors import InputError


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
