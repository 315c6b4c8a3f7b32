"""The `sentbench` command: imports the called command alone, and reports errors in one line."""

import errno
import io
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import requires
from pathlib import Path

from harness.command_line import CommandParser, command_of, module_of, overview, parser_of
from harness.errors import CONTROL, InputError
from harness.paths import INSTALLED, is_checkout
from harness.paths import cache as cache_folder
from harness.process import check_docstrings, prepare

READER_GONE, INTERRUPTED = 141, 130
"""The exit codes of a command that SIGPIPE or SIGINT ended."""
CHECKOUT = ("harness/cli.py", "methods/registry.py", "params.yaml")
"""Files of a folder that has this project's code and a plan."""
PACKAGES = ("harness", "methods", "sentbench")
LEAST_FREE = 2**20
"""Bytes: a disk with fewer is full."""
EXTRAS = {
    **dict.fromkeys(("dvc", "psutil", "shtab"), "pipeline"),
    "mteb": "mteb",
    "ray": "launch-ray",
    "submitit": "launch-slurm",
}
"""Packages that only certain commands need -> the extra that installs them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code: 0, 1 for a failed check, 2 (and one line) for bad input."""
    words = sys.argv[1:] if argv is None else list(argv)
    open_closed_streams()
    prepare()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a path may contain bytes that are not characters
    code = 0
    try:
        code = outcome_of(words)
        sys.stdout.flush()
    except OSError as error:
        # Python writes what is left once more when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader, for example `head`, has closed the pipe
            return code or READER_GONE
        if not code:
            print(f"sentbench: the output: {error.strerror}", file=sys.stderr)
        return code or 2
    return code


def outcome_of(words: Sequence[str]) -> int:
    """Runs one command, prints the line of an error, and returns the exit code.

    Errors: BrokenPipeError, where the reader of the output has gone.
    """
    try:
        return run_command(words)
    except BrokenPipeError:
        raise
    except SystemExit as ended:
        if ended.code:
            raise
        return 0  # of a help text
    except InputError as error:
        problem = printable_line(str(error))
    except OSError as error:
        path, reason = error.filename or place_of(error), error.strerror or " ".join(str(error).split())
        problem = printable_line(f"{path}: {reason}; free space or correct the path")
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package not in EXTRAS:
            raise
        problem = (
            f"{package} is not installed; `{sys.executable} -m pip install {packages_of(EXTRAS[package])}`"
            if package != "dvc" or is_checkout()
            else f"{words[0]}: run this in a checkout of the project"
        )
    except KeyboardInterrupt:
        left = "incomplete outputs are removed"
        with suppress(InputError, IndexError):
            left = getattr(module_of(words[0]), "CONTINUES", left)
        print(f"\nsentbench: interrupted; {left}", file=sys.stderr)
        return INTERRUPTED
    print(f"sentbench: {problem}", file=sys.stderr)
    return 2


def place_of(error: OSError) -> str:
    """Returns the folders on full disks for an error of the system that names no file."""
    places = {
        "the current folder": Path(),
        "the cache": cache_folder(),
        "temporary files": Path(tempfile.gettempdir()),
    }
    shown = {f"{name} ({path.resolve()})": path for name, path in places.items() if path.is_dir()}
    if error.errno not in (errno.ENOSPC, errno.EDQUOT):
        return "a file"
    full = [name for name, path in shown.items() if shutil.disk_usage(path).free < LEAST_FREE]
    return " or ".join(full or [*shown, "the output"])


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


def printable_line(text: str) -> str:
    """Returns a text without line breaks and control characters."""
    return CONTROL.sub(lambda match: ascii(match[0])[1:-1], " ".join(text.split()))


def run_command(words: Sequence[str]) -> int:
    """Runs a command, given by its name and arguments, and returns its exit code.

    All commands take `--include DIR`.
    Errors: InputError for an unknown command or wrong arguments.
    """
    check_docstrings()
    parser = CommandParser(prog="sentbench", add_help=False, allow_abbrev=False)
    parser.add_argument("--include", action="append", default=[], metavar="DIR")
    included, words = parser.parse_known_args(words)
    if not words or words[0].startswith("-"):
        overview().parse_args(words or ["--help"])
        return 0
    name, rest = words[0], words[1:]
    command_of(name)
    refuse_other_code()
    from harness.include import include_all

    include_all(included.include)
    return int(module_of(name).execute(parser_of(name).parse_args(rest)) or 0)


def refuse_other_code() -> None:
    """Raises InputError in a checkout whose code differs from the code that runs: results would be recorded
    as those of the checkout.
    """
    here = Path.cwd()
    if here == INSTALLED or not all((here / part).is_file() for part in CHECKOUT):
        return
    packages = [name for name in PACKAGES if (here / name).is_dir()]
    if code_of(here, packages) != code_of(INSTALLED, packages):
        raise InputError(
            f"this folder is the checkout {here}, and the command runs the other code of {INSTALLED}; use "
            f"{here}/.venv, or run `python -m pip install -e .` here"
        )


def code_of(folder: Path, packages: Sequence[str]) -> dict[str, bytes]:
    """Returns the content of every module of packages below a folder, by path."""
    paths = (path for package in packages for path in (folder / package).rglob("*.py"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


if __name__ == "__main__":
    sys.exit(main())
