"""`python -m benchmarks.mutations`: plants bugs one at a time, counts those that `sentbench check` notices.

Each bug of mutations.yaml is planted in a copy of the code. A process of its own, forked from this one, which
has the libraries loaded, compares first steps with leaderboards/reference_losses.yaml. A bug
is noticed where a number differs, or where the copy stops with an error. No part of a test: it takes minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

from pydantic import Field

from harness.declarations import Declaration, read_declaration
from harness.disk.files import write_text
from harness.errors import InputError

PLANTED = Path(__file__).with_name("mutations.yaml")
REPORT = Path("reports/mutations.md")
CHOSEN, GENERATED = SECTIONS = "## Chosen by hand: sentbench check", "## Generated: the tests"
HEAD = """\
# Planted bugs and what notices them

Bugs are planted one at a time in a copy of the code. Those that nothing notices are first in each table.
"""
PACKAGES = ("harness", "methods")
LIBRARIES = (
    "torch",
    "transformers",
    "scipy.stats",
    "pandas",
    "safetensors.torch",
    "tokenizers",
    "yaml",
    "tqdm",
)
"""What a process needs that measures reference losses, and what is loaded once for all of them."""
MOST_SECONDS = 900
RUN_SUFFIX = "-small__"
OF_WORDS = {"whitening": "glove-whitened"}
"""Groups whose bugs show in a cheaper system than the one of their name."""


class Mutation(Declaration):
    """One bug: text that appears once in a file, and what is put in its place. systems: those that run.

    why: the reason that nothing notices it, if nothing does.
    """

    bug: str
    file: str
    before: str = Field(min_length=1)
    after: str
    systems: list[str] = Field(default_factory=list)
    why: str = ""

    @property
    def place(self) -> str:
        """FILE:LINE of the text. Errors: InputError if it is not there once."""
        parts = Path(self.file).read_text(encoding="utf-8").split(self.before)
        if len(parts) != 2:
            raise InputError(f"{PLANTED}: {self.bug}: {len(parts) - 1} places in {self.file}, expected one")
        return f"{self.file}:{1 + parts[0].count(chr(10))}"


class Mutations(Declaration):
    """The file `mutations.yaml`: group -> its bugs."""

    groups: dict[str, list[Mutation]]


class Outcome(Declaration):
    """What was noticed of a bug: how many numbers differ, and the first line that says so."""

    numbers: int
    line: str


def main() -> int:
    """Writes the table; returns 1 if the code as it is differs from its reference losses, else 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutations", description=__doc__)
    parser.add_argument("groups", nargs="*", help="groups of mutations.yaml (default: all of them)")
    arguments = parser.parse_args()
    planted = read_mutations(arguments.groups)
    sys.dont_write_bytecode = True  # a file that changes twice within a second is still compiled again
    for library in LIBRARIES:
        import_module(library)
    with tempfile.TemporaryDirectory(prefix="sentbench-") as scratch:
        copy = Path(scratch)
        for package in PACKAGES:
            shutil.copytree(package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
        every = sorted(
            {system for group, bugs in planted.items() for bug in bugs for system in systems_of(group, bug)}
        )
        clean = forked(copy, partial(_differences, every))
        print(f"as it is: {clean.numbers} numbers differ in {', '.join(every)} {clean.line}", flush=True)
        if clean.numbers:
            return 1
        found = dict(measured(copy, planted))
    bugs = {(group, bug.bug): bug for group, bugs in planted.items() for bug in bugs}
    write_section(CHOSEN, as_markdown(found, bugs))
    print(f"{REPORT}: {sum(one.numbers > 0 for one in found.values())} of {len(found)} bugs are noticed")
    return 0


def read_mutations(groups: Sequence[str] = ()) -> dict[str, list[Mutation]]:
    """Returns group -> its bugs. Errors: InputError for an unknown group, or a text that is not once there"""
    every = read_declaration(PLANTED, Mutations).groups
    unknown = [group for group in groups if group not in every]
    if unknown:
        raise InputError(f"no group {unknown[0]!r}, expected some of {', '.join(every)}")
    for bugs in every.values():
        for bug in bugs:
            _ = bug.place
    return {group: bugs for group, bugs in every.items() if not groups or group in groups}


def systems_of(group: str, bug: Mutation) -> list[str]:
    """Returns the systems whose reference losses a bug is held against."""
    return bug.systems or [OF_WORDS.get(group, group)]


def measured(copy: Path, planted: dict[str, list[Mutation]]) -> Iterator[tuple[tuple[str, str], Outcome]]:
    """Yields (group, bug) and what was noticed, with the code whole again after each."""
    for group, bugs in planted.items():
        for bug in bugs:
            path, started = copy / bug.file, time.monotonic()
            whole = path.read_text(encoding="utf-8")
            path.write_text(whole.replace(bug.before, bug.after), encoding="utf-8")
            found = forked(copy, partial(_differences, systems_of(group, bug)))
            path.write_text(whole, encoding="utf-8")
            said = "noticed" if found.numbers else "ESCAPED"
            print(f"{said} {group}: {bug.bug}: {found.line} ({time.monotonic() - started:.0f} s)", flush=True)
            yield (group, bug.bug), found


def forked(copy: Path, measure: Callable[[], Sequence[str]]) -> Outcome:
    """Returns what a forked process says that runs the code of a copy: lines of what differs."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        signal.alarm(MOST_SECONDS)
        _measure(copy, measure, writer)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return (
        Outcome(**json.loads(said)) if said else Outcome(numbers=1, line="the process ended without a word")
    )


def _measure(copy: Path, measure: Callable[[], Sequence[str]], writer: int) -> None:
    """Writes the outcome and ends the process."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        for name in [name for name in sys.modules if name.split(".")[0] in PACKAGES]:
            del sys.modules[name]
        sys.path.insert(0, str(copy))
        sys.dont_write_bytecode = True
        said = measure()
    except BaseException as error:  # noqa: BLE001  (whatever a bug raises is noticed)
        last = traceback.format_exception_only(error)[-1].strip()
        said = [f"stops: {' '.join(last.split())[:120]}"]
    with os.fdopen(writer, "w", encoding="utf-8") as pipe:
        json.dump({"numbers": len(said), "line": said[0] if said else ""}, pipe)
    os._exit(0)


def _differences(systems: Sequence[str]) -> list[str]:
    from harness.check.reference_losses import differences, measure_run, read_reference
    from harness.paths import REFERENCE_LOSSES
    from harness.plan.entries import read_params

    params, known = read_params(), read_reference(REFERENCE_LOSSES)
    wanted = [
        next(name for name in known if name == system or name.startswith(system + RUN_SUFFIX))
        for system in systems
    ]
    return [line for name in wanted for line in differences(name, known[name], measure_run(params, name))]


def as_markdown(
    found: Mapping[tuple[str, str], Outcome], bugs: Mapping[tuple[str, str], Mutation]
) -> list[str]:
    """Returns the lines of the section: the share and each bug, those that escape first and why."""
    noticed = sum(one.numbers > 0 for one in found.values())
    lines = [
        f"`python -m benchmarks.mutations`: {noticed} of {len(found)} bugs change a number of first steps",
        "or stop the run, so that `sentbench check` notices them. They are in lines that the small plan runs",
        "in its first three steps. The share says nothing about other lines, where most of a full-scale run",
        "is: other settings, later epochs, evaluation, planning, the report.",
        "",
        "| line | bug | the first number that differs |",
        "| :-- | :-- | :-- |",
    ]
    for (group, bug), one in sorted(found.items(), key=lambda entry: entry[1].numbers > 0):
        planted = bugs[group, bug]
        said = one.line if one.numbers else f"none, it escapes: {planted.why or 'not known why'}"
        lines.append(row(planted.place, f"{group}: {bug}", said))
    return lines


def row(*cells: str) -> str:
    """Returns a row of a table, each cell in one line."""
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "/") for cell in cells) + " |"


def write_section(title: str, lines: Sequence[str]) -> None:
    """Writes the report with one of its sections replaced."""
    text = REPORT.read_text(encoding="utf-8") if REPORT.is_file() else ""
    sections = {name: text.partition(f"\n{name}\n\n")[2].partition("\n## ")[0].strip() for name in SECTIONS}
    sections[title] = "\n".join(lines)
    body = "\n\n".join(f"{name}\n\n{found or 'Not run yet.'}" for name, found in sections.items())
    write_text(REPORT, f"{HEAD}\n{body}\n")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except InputError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        sys.exit(2)
