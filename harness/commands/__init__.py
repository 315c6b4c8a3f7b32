"""Commands of `sentbench`, one file a command: `add_to(commands)` declares it, heavy imports stand inside."""

from __future__ import annotations

import argparse
from typing import Any


def add_command(commands: Any, name: str, handler: Any, text: str) -> argparse.ArgumentParser:
    """Returns the parser of a new command; `handler` takes the parsed arguments and returns an exit code."""
    made: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    made.set_defaults(handler=handler)
    return made
