"""The `sentbench` command: finds a command by its name, imports it alone, reports errors in one line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from harness.errors import InputError, near_matches

COMMANDS = Path(__file__).with_name("commands")
STARTS_AGAIN = "the same command starts again"
"""What is said of an interrupted command whose module has no AFTER_INTERRUPTION."""

READER_GONE = 141
"""What a shell reports of a command that the signal SIGPIPE ended."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns 0 for good, 1 for a failed check, 2 and one line for bad input."""
    try:
        code = run_command(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader, `head` for example, has what it wanted
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    except InputError as error:
        problem = str(error)
    except OSError as error:
        path, reason = error.filename or "a file", error.strerror or " ".join(str(error).split())
        problem = f"{path}: {reason}; expected to read or write it; free space or correct the path"
    except KeyboardInterrupt:
        problem = "interrupted"
    print(f"sentbench: {problem}", file=sys.stderr)
    return 2


def run_command(words: Sequence[str]) -> int:
    """Runs the command that the first word names, with the other words, and returns its exit code.

    Errors: InputError if there is no such command.
    """
    commands = command_files()
    if not words or words[0].startswith("-"):
        overview(commands).parse_args(words or ["--help"])
        return 0
    name = words[0]
    if name not in commands:
        raise InputError(
            f"{name!r} is no command, expected one of {', '.join(commands)}"
            f"{near_matches(name, list(commands))}"
        )
    module = import_module(f"harness.commands.{name}")
    parser = argparse.ArgumentParser(prog=f"sentbench {name}", description=headline(commands[name]))
    module.declare(parser)
    arguments = parser.parse_args(words[1:])
    try:
        return int(module.execute(arguments) or 0)
    except KeyboardInterrupt:
        raise InputError(f"interrupted; {getattr(module, 'AFTER_INTERRUPTION', STARTS_AGAIN)}") from None


def command_files() -> dict[str, Path]:
    """Returns the file of each command by its name."""
    return {path.stem: path for path in sorted(COMMANDS.glob("[!_]*.py"))}


def headline(path: Path) -> str:
    """Returns what a command does: the first line of its docstring without its name; imports nothing."""
    with path.open(encoding="utf-8") as file:
        return file.readline().strip().strip('".').partition("`: ")[2]


def overview(commands: dict[str, Path]) -> argparse.ArgumentParser:
    """Returns the parser of `sentbench --help`."""
    parser = argparse.ArgumentParser(
        prog="sentbench", description="A reproducibility benchmark for unsupervised sentence embeddings."
    )
    listed = parser.add_subparsers(metavar="COMMAND")
    for name, path in commands.items():
        listed.add_parser(name, help=headline(path))
    return parser


if __name__ == "__main__":
    sys.exit(main())
