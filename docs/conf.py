"""Settings of Sphinx for `make docs`; writes the page of commands from their help."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ["COLUMNS"] = "100"  # the width of a help text

from harness.command_line import COMMANDS, parser_of
from sentbench import __version__

project = "sentbench"
author = "the sentbench contributors"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "examples/**/README.md"]  # the README of an example is a template, not a page
default_role = "code"
autodoc_typehints = "none"
html_theme = "furo"
html_title = f"sentbench {__version__}"


def command_page() -> str:
    """Returns the reference page with the help of every command."""
    parts = ["# Commands\n\nThe output of `sentbench COMMAND --help`.\n"]
    for name in COMMANDS:
        parser = parser_of(name)
        parts.append(f"## {name}\n\n```text\n{parser.format_help()}```\n")
    return "\n".join(parts)


reference = Path(__file__).with_name("reference")
reference.mkdir(exist_ok=True)
(reference / "commands.md").write_text(command_page(), encoding="utf-8")
