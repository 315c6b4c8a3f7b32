"""Bad values for every argument of every command, made from the commands' own declarations of arguments."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from harness.command_line import COMMANDS, parser_of
from tests.faults.small_project import RUN

LONG = "x" * 100_000
TEXTS = {
    "empty": "",
    "whitespace": " \t",
    "long": LONG,
    "half a character": os.fsdecode(b"a\xff\xfe"),
    "right to left": "\u202eabc",
    "escape": "\x1b[31mred\x07",
    "line break": "a\nb",
    "format": "%s{0}{x}$(id)`id`",
    "markup": "<script>alert(1)</script>",
    "dots": "../../../../etc/passwd",
    "dashes": "--",
    "list": ",,,",
    "many": ",".join(["STSB"] * 2000 + ["x"]),
}
NUMBERS = {
    "empty": "",
    "whitespace": " ",
    "negative": "-1",
    "zero": "0",
    "huge": "9" * 30,
    "longest": "9" * 5000,
    "infinite": "inf",
    "no number": "nan",
    "overflow": "1e400",
    "tiny": "1e-320",
    "fraction": "1.5",
    "hexadecimal": "0x10",
    "long": LONG,
}
BAD_PATHS = (
    "pipe",
    "loop",
    "dangling",
    "empty",
    "plain.txt",
    "plain.txt/x",
    "locked",
    "params.yaml",
    "harness",
)
DEVICES = ("/dev/full", "/dev/zero", "/", "/proc/self/mem")
PATHS = {name: name for name in (*BAD_PATHS, *DEVICES)}
FLAGS = {"with a value": "=3", "with an empty value": "="}
USUAL = {
    "run": RUN,
    "runs": RUN,
    "name": "minilm-l2",
    "names": "small",
    "table": "una/table1",
    "row": "BERT-base UNA",
    "column": "Avg",
    "before": "reports/scores",
    "after": "reports/scores",
    "first": "simcse",
    "second": "whitening",
    "folder": "encoder",
    "--tasks": "STSB",
    "--out": "new",
    "targets": "entries",
}
"""A value that a command may take for an argument, by its name; any other takes a word."""


class Line(NamedTuple):
    """One command line: the class of its fault, the argument that has it, and the words."""

    fault: str
    argument: str
    words: tuple[str, ...]


def command_lines() -> Iterator[Line]:
    """Yields lines with one bad value each, for every argument of every command."""
    for command in COMMANDS:
        words = command.split()
        actions = [action for action in parser_of(command)._actions if action.dest != "help"]
        yield Line("unknown option", command, (*words, *usual(actions), "--no-such-option"))
        yield Line("one argument more", command, (*words, *usual(actions), "x", "y"))
        for action in actions:
            option = action.option_strings[0] if action.option_strings else action.dest
            rest = usual([other for other in actions if other is not action])
            for fault, value in values_of(action).items():
                given = worded(action, value)
                yield Line(fault, f"{command} {option}", (*words, *rest, *given))
            if action.option_strings:
                twice = worded(action, value_of(action))
                yield Line("twice", f"{command} {option}", (*words, *rest, *twice, *twice))
            if action.option_strings and action.nargs != 0:
                yield Line("without a value", f"{command} {option}", (*words, *rest, option))
            elif action.required and not action.option_strings:
                yield Line("left out", f"{command} {option}", (*words, *rest))


def values_of(action: argparse.Action) -> dict[str, str]:
    """Returns bad values for an argument of this type, by the class of their fault."""
    if action.nargs == 0:
        return FLAGS
    if action.type in (int, float):
        return NUMBERS
    return {**TEXTS, **PATHS}


def worded(action: argparse.Action, value: str) -> tuple[str, ...]:
    """Returns an argument with a value as words of a command line."""
    if not action.option_strings:
        return (value,)
    option = action.option_strings[0]
    return (option + value,) if action.nargs == 0 else (f"{option}={value}",)


def value_of(action: argparse.Action) -> str:
    """Returns a value that an argument may have."""
    if action.nargs == 0:
        return ""
    if action.choices:
        return str(next(iter(action.choices)))
    option = action.option_strings[0] if action.option_strings else action.dest
    return USUAL.get(option, "1" if action.type in (int, float) else "x")


def usual(actions: list[argparse.Action]) -> tuple[str, ...]:
    """Returns the required arguments of a command, with a dry run if it has one."""
    words: list[str] = []
    for action in actions:
        if action.required or action.option_strings == ["--dry-run"]:
            words += worded(action, value_of(action))
    return tuple(words)


def write_places(folder: Path) -> None:
    """Writes files and pipes that no command should wait for, read or overwrite."""
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nowhere/at/all")
    (folder / "empty").mkdir()
    (folder / "plain.txt").write_text("mine\n")
    (folder / "locked").write_text("mine\n")
    (folder / "locked").chmod(0)
