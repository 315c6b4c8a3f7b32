"""The `sentbench` command: finds a command by its name, imports only that, reports errors in one line."""

import argparse
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import requires
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, NoReturn

from harness.errors import CONTROL, InputError, near_matches, without_passwords
from harness.process import prepare

ROOMS = ("commands", "stages")
"""Folders with commands: a file is a command if its first line has the form COMMAND_LINE."""
HEADLINE = re.compile(r'"""`sentbench ((?:stage )?[\w-]+)`: (.+)\.$')
STAGE = "stage"
"""First word of the pipeline's stages, which dvc.yaml calls; help does not list them."""
GROUPS = {
    "check a number": ("verify", "list", "report"),
    "run a table": ("plan", "data", "launch"),
    "try a method": ("try", "compare"),
    "evaluate a model": ("evaluate", "mteb", "publish"),
    "keep watch": ("check",),
}
"""Groups of commands by their user, in the order of the help."""
READER_GONE, INTERRUPTED = 141, 130
"""The exit codes of a command that SIGPIPE or SIGINT ended."""
SHELLS = ("bash", "zsh", "tcsh")
"""The shells in which words can be completed."""
EXTRAS = {
    **dict.fromkeys(("dvc", "psutil", "shtab"), "pipeline"),
    "mteb": "mteb",
    "ray": "launch-ray",
    "submitit": "launch-slurm",
}
"""Packages that only certain commands need -> the extra that installs them."""
EXAMPLE = re.compile(r"^Example: `(.+)`$", flags=re.M)


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
        """Parses like argparse, but refuses `--option=--`, which argparse would read as a list."""
        for word in args or ():
            if word.startswith("--") and word.endswith("=--"):
                self.error(f"argument {word[:-3]}: expected one argument")
        return super().parse_known_args(args, namespace)


class PrintCompletion(argparse.Action):
    """Prints the completion script of a shell and exits."""

    def __call__(self, parser, namespace, values, option_string=None):  # type: ignore[no-untyped-def]
        """Called by argparse; imports every module of a command."""
        import shtab

        listed = {name: [parser_of(name)] for name in public()}
        print(shtab.complete(overview(listed), shell=values))
        parser.exit()


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code: 0, 1 for a failed check, 2 (and one line) for bad input."""
    words = sys.argv[1:] if argv is None else list(argv)
    open_closed_streams()
    prepare()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a path may contain bytes that are not characters
    try:
        code = run_command(words)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader, for example `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    except InputError as error:
        problem = one_line(str(error))
    except OSError as error:
        path, reason = error.filename or "a file", error.strerror or " ".join(str(error).split())
        problem = one_line(f"{path}: {reason}; free space or correct the path")
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package not in EXTRAS:
            raise
        problem = (
            f"{package} is not installed; `{sys.executable} -m pip install {packages_of(EXTRAS[package])}`"
        )
    except KeyboardInterrupt:
        left = "incomplete outputs are removed"
        with suppress(InputError, IndexError):
            left = getattr(module_of(command_in(words)[0]), "CONTINUES", left)
        print(f"\nsentbench: interrupted; {left}", file=sys.stderr)
        return INTERRUPTED
    print(f"sentbench: {problem}", file=sys.stderr)
    return 2


def packages_of(extra: str) -> str:
    """Returns the packages of an extra, quoted for a shell: sentbench itself is on no package index."""
    named = (requirement.partition(";") for requirement in requires("sentbench") or ())
    return " ".join(
        shlex.quote(package.strip())
        for package, _, marker in named
        if marker.split() == ["extra", "==", f'"{extra}"']
    )


def open_closed_streams() -> None:
    """Opens the null device for each standard stream that the caller has closed, as with `2>&-`. Otherwise
    the next opened file would get the stream's number and its output.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115


def one_line(text: str) -> str:
    """Returns a text without line breaks, control characters and passwords, very long words shortened."""
    printable = CONTROL.sub(lambda match: ascii(match[0])[1:-1], " ".join(without_passwords(text).split()))
    return re.sub(r"\S{300,}", lambda word: f"{word[0][:80]}...{word[0][-40:]}", printable)


def run_command(words: Sequence[str]) -> int:
    """Runs a command, given by its name and arguments, and returns its exit code.

    All commands take `--include DIR`.
    Errors: InputError for an unknown command or wrong arguments.
    """
    parser = CommandParser(prog="sentbench", add_help=False, allow_abbrev=False)
    parser.add_argument("--include", action="append", default=[], metavar="DIR")
    included, words = parser.parse_known_args(words)
    if not words or words[0].startswith("-"):
        overview().parse_args(words or ["--help"])
        return 0
    name, rest = command_in(words)
    from harness.include import include_all

    include_all(included.include)
    return int(module_of(name).execute(parser_of(name).parse_args(rest)) or 0)


def command_in(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Returns the name of the command at the start of words, `stage train` for a stage, and its arguments.
    Errors: InputError for an unknown command.
    """
    length = 2 if words[0] == STAGE else 1
    name = " ".join(words[:length])
    known = [command for command in commands() if command.startswith(f"{STAGE} ") == (length == 2)]
    if name not in known:
        raise InputError(
            f"{name!r} is not a command, expected one of {', '.join(known)}{near_matches(name, known)}"
        )
    return name, words[length:]


def parser_of(name: str) -> CommandParser:
    """Returns the parser of a command; its help ends with the example of the module's docstring."""
    module = module_of(name)
    example = EXAMPLE.search(module.__doc__ or "")
    parser = CommandParser(
        prog=f"sentbench {name}",
        description=commands()[name].summary,
        epilog=f"example: {example[1]}" if example else None,
    )
    for argument, settings in getattr(module, "ARGUMENTS", {}).items():
        parser.add_argument(argument, **settings)
    return parser


class Command(NamedTuple):
    """A command: its description, from the first line of its file, and its module."""

    summary: str
    module: str


@cache
def commands() -> dict[str, Command]:
    """Returns the commands by name, from the first lines of their files, without imports."""
    by_name = {}
    for path in (path for room in ROOMS for path in Path(__file__).with_name(room).glob("[!_]*.py")):
        with path.open(encoding="utf-8") as file:
            line = HEADLINE.match(file.readline().strip())
        if line:
            by_name[line[1]] = Command(line[2], f"harness.{path.parent.name}.{path.stem}")
    return dict(sorted(by_name.items()))


def public() -> list[str]:
    """Returns the commands that help lists, all except stages, by group."""
    return [name for names in GROUPS.values() for name in names]


def module_of(name: str) -> ModuleType:
    """Returns the module of a command."""
    return import_module(commands()[name].module)


def overview(parents: Mapping[str, list[CommandParser]] | None = None) -> CommandParser:
    """Returns the parser of `sentbench --help` and `--version`; parents: the parsers of its commands."""
    hidden = argparse.SUPPRESS if parents is None else None  # completion skips suppressed arguments
    parser = CommandParser(
        prog="sentbench",
        usage="sentbench [--version] [--print-completion SHELL] COMMAND ...",
        description="A reproducibility benchmark for unsupervised sentence embeddings.",
        epilog=listing(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=version(), help=hidden)
    parser.add_argument(
        "--print-completion", choices=SHELLS, metavar="SHELL", action=PrintCompletion,
        help=hidden,
    )  # fmt: skip
    listed = parser.add_subparsers(metavar="COMMAND", help=hidden)
    for name in public():
        description = commands()[name].summary
        listed.add_parser(name, help=description, add_help=False, parents=(parents or {}).get(name, ()))
    return parser


def listing() -> str:
    """Returns the help's list of commands by user, and the common options."""
    lines = []
    for group, names in GROUPS.items():
        lines += [f"{group}:", *(f"  {name:<9} {commands()[name].summary}" for name in names), ""]
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


if __name__ == "__main__":
    sys.exit(main())
