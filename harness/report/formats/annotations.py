"""Changes as workflow commands of GitHub Actions, which show them next to a pull request.

Source: GitHub's documentation of workflow commands: `::error title=...::message`, with the characters that
would end a part of it written as % and two hexadecimal digits.
"""

from __future__ import annotations

from typing import Literal

Level = Literal["notice", "warning", "error"]


def annotation(level: Level, title: str, message: str) -> str:
    """Returns one annotation as a line that GitHub Actions reads from a step's output."""
    heading = _escaped(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={heading}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
