"""The table of commands, their parsers, and the help that lists them."""

import argparse
import re
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, NoReturn

from harness.errors import InputError, near_matches


class Command(NamedTuple):
    """A command: its module, its sentence in the help, and an example."""

    module: str
    summary: str
    example: str


COMMANDS = {
    "verify": Command(
        "harness.commands.verify",
        "check whether a number replicates, and which number to cite",
        'verify una/table1 "BERT-base UNA" Avg',
    ),
    "list": Command("harness.commands.list", "list the names that other commands take", "list tables"),
    "report": Command(
        "harness.commands.report", "render tables, figures and the HTML pages", "report --strict"
    ),
    "plan": Command(
        "harness.commands.plan",
        "write params.yaml, the runs of tables or recipes, and their cost",
        "plan pcl/table2 --seeds 3 --dry-run",
    ),
    "data": Command("harness.commands.data", "fetch, check or lock data", "data fetch stsb minilm-l6"),
    "launch": Command(
        "harness.commands.launch", "run the stages in parallel, here, on Ray or on Slurm", "launch --jobs 2"
    ),
    "try": Command(
        "harness.commands.try_method",
        "train a method of one file in minutes, and compare it",
        "try mycse.py --against simcse-small,pcl-small --set temperature=0.1",
    ),
    "compare": Command(
        "harness.commands.compare",
        "compare two systems, two models, or two states of scores",
        "compare simcse-small pcl-small --no-pairs",
    ),
    "evaluate": Command(
        "harness.commands.evaluate",
        "score encoder folders, models of the hub, or BM25, in one table",
        "evaluate backbones/minilm-l6 --tasks STSB,sts-part --interval",
    ),
    "mteb": Command(
        "harness.commands.mteb",
        "score an encoder folder on tasks of mteb",
        "mteb backbones/minilm-l6 --tasks STSBenchmark",
    ),
    "publish": Command(
        "harness.commands.publish",
        "make a sentence-transformers folder with a model card, and upload it",
        "publish simcse-small --out published/simcse-small",
    ),
    "check": Command(
        "harness.commands.check",
        "compare first losses and results with the committed ones",
        "check --format github",
    ),
    "stage": Command("harness.commands.stage", "perform one stage of dvc.yaml", "stage entries"),
}
"""Every command by its name; dvc.yaml calls `stage`, which help does not list."""
COMMAND_GROUPS = {
    "check a number": ("verify", "list", "report"),
    "run a table": ("plan", "data", "launch"),
    "try a method": ("try", "compare"),
    "evaluate a model": ("evaluate", "mteb", "publish"),
    "keep watch": ("check",),
}
"""Groups of commands by their user, in the order of the help."""
SHELLS = ("bash", "zsh", "tcsh")
"""The shells in which words can be completed."""


class CommandParser(argparse.ArgumentParser):
    """Parser of a command; a wrong argument raises InputError with similar names."""

    def error(self, message: str) -> NoReturn:
        """Raises InputError instead of printing argparse's usage."""
        wrong = re.search(r"unrecognized arguments: (\S+)", message)
        chosen = re.search(r"invalid choice: '(.*)' \(choose from (.+)\)", message)
        near = ""
        if wrong:
            options = [name for action in self._actions for name in action.option_strings]
            near = near_matches(wrong[1].split("=")[0], options)
        elif chosen:
            near = near_matches(chosen[1], re.findall(r"[\w-]+", chosen[2]))
        name = self.prog.partition(" ")[2]
        shown = f"{name}: {message}".removeprefix(": ")
        raise InputError(f"{shown}{near}; `{self.prog} --help` shows what is expected")

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Parses like argparse, but refuses an empty value of an option and `--NAME=--`, which
        argparse would read as a list.
        """
        words = list(args or ())
        for before, word in zip(["", *words], words, strict=False):
            name, given, value = word.partition("=")
            if name.startswith("--") and given and value in ("", "--"):
                self.error(f"argument {name}: its value is {value or 'empty'}")
            action = self._option_string_actions.get(before)
            if not word and action is not None and action.nargs != 0:
                self.error(f"argument {before}: its value is empty")
        return super().parse_known_args(args, namespace)


class PrintCompletion(argparse.Action):
    """Prints the completion script of a shell and exits."""

    def __call__(self, parser, namespace, values, option_string=None):  # type: ignore[no-untyped-def]
        """Called by argparse; imports every module of a command."""
        import shtab

        listed = {name: [parser_of(name)] for name in public()}
        print(shtab.complete(overview(listed), shell=values))
        parser.exit()


def command_of(name: str) -> Command:
    """Returns the command of a name. Errors: InputError for an unknown one."""
    if name not in COMMANDS:
        known, stages = public(), {*module_of("stage").STAGES} - {*public()}
        near = re.sub(
            r"[\w-]+",
            lambda word: f"stage {word[0]}" if word[0] in stages else word[0],
            near_matches(name, [*known, *stages]),
        )
        raise InputError(f"{name!r} is not a command, expected one of {', '.join(known)}{near}")
    return COMMANDS[name]


def parser_of(name: str) -> CommandParser:
    """Returns the parser of a command; its help ends with the command's example."""
    command = command_of(name)
    parser = CommandParser(
        prog=f"sentbench {name}",
        description=command.summary,
        epilog=f"example: sentbench {command.example}",
    )
    for argument, settings in getattr(module_of(name), "ARGUMENTS", {}).items():
        parser.add_argument(argument, **settings)
    return parser


def public() -> list[str]:
    """Returns the commands that help lists, all except stages, by group."""
    return [name for names in COMMAND_GROUPS.values() for name in names]


def module_of(name: str) -> ModuleType:
    """Returns the module of a command."""
    return import_module(command_of(name).module)


def overview(parents: Mapping[str, list[CommandParser]] | None = None) -> CommandParser:
    """Returns the parser of `sentbench --help` and `--version`; parents: the parsers of its commands."""
    hidden = argparse.SUPPRESS if parents is None else None  # completion skips suppressed arguments
    parser = CommandParser(
        prog="sentbench",
        usage="sentbench [--version] [--print-completion SHELL] COMMAND ...",
        description="A reproducibility benchmark for unsupervised sentence embeddings.",
        epilog=command_listing(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=version(), help=hidden)
    parser.add_argument(
        "--print-completion", choices=SHELLS, metavar="SHELL", action=PrintCompletion,
        help=hidden,
    )  # fmt: skip
    listed = parser.add_subparsers(metavar="COMMAND", help=hidden)
    for name in public():
        description = COMMANDS[name].summary
        listed.add_parser(name, help=description, add_help=False, parents=(parents or {}).get(name, ()))
    return parser


def command_listing() -> str:
    """Returns the help's list of commands by user, and the common options."""
    lines = []
    for group, names in COMMAND_GROUPS.items():
        lines += [f"{group}:", *(f"  {name:<9} {COMMANDS[name].summary}" for name in names), ""]
    return "\n".join(
        [
            *lines,
            "`sentbench COMMAND --help` shows options and an example. Every command takes",
            "`--include DIR`, a folder with your methods, tasks, recipes and tables.",
            f"`--print-completion SHELL` completes words in {', '.join(SHELLS)}.",
        ]
    )


def version() -> str:
    """Returns the version, the commit of a checkout, and the arithmetic that commands compute with."""
    from harness.process import in_effect
    from sentbench import __version__

    code, commit = Path(__file__).parents[1], ""
    if (code / ".git").exists():
        command = ["git", "describe", "--always", "--dirty=, changed", "--exclude=*"]
        with suppress(OSError):
            done = subprocess.run(command, cwd=code, capture_output=True, text=True)
            commit = f" (commit {done.stdout.strip()})" if done.returncode == 0 else ""
    return f"sentbench {__version__}{commit}, {in_effect()} arithmetic"
