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
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from pydantic import Field

from harness.declarations import Declaration, read_declaration
from harness.disk.files import write_text
from harness.errors import InputError

PLANTED = Path(__file__).with_name("mutations.yaml")
REPORT = Path("reports/mutations.md")
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
"""What a process needs that measures probes, and what is loaded once for all of them."""
MOST_SECONDS = 900
RUN_SUFFIX = "-small__"
OF_WORDS = {"whitening": "glove-whitened"}
"""Groups whose bugs show in a cheaper system than the one of their name."""


class Mutation(Declaration):
    """One bug: text that appears once in a file, and what is put in its place. probes: of which systems.

    why: the reason that nothing notices it, if nothing does.
    """

    bug: str
    file: str
    before: str = Field(min_length=1)
    after: str
    probes: list[str] = Field(default_factory=list)
    why: str = ""


class Mutations(Declaration):
    """The file `mutations.yaml`: group -> its bugs."""

    groups: dict[str, list[Mutation]]


class Outcome(Declaration):
    """What was noticed of a bug: how many numbers differ, and the first line that says so."""

    numbers: int
    line: str


def main() -> int:
    """Writes the table; returns 1 if the code as it is differs from its probes, else 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutations", description=__doc__)
    parser.add_argument("groups", nargs="*", help="groups of mutations.yaml (default: all of them)")
    parser.add_argument("--out", type=Path, default=REPORT, metavar="FILE")
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
            {probe for group, bugs in planted.items() for bug in bugs for probe in probes_of(group, bug)}
        )
        clean = outcome(copy, every)
        print(f"as it is: {clean.numbers} numbers differ in {', '.join(every)} {clean.line}", flush=True)
        if clean.numbers:
            return 1
        found = dict(measured(copy, planted))
    reasons = {(group, bug.bug): bug.why for group, bugs in planted.items() for bug in bugs}
    write_text(arguments.out, as_markdown(found, reasons))
    print(
        f"{arguments.out}: {sum(one.numbers > 0 for one in found.values())} of {len(found)} bugs are noticed"
    )
    return 0


def read_mutations(groups: Sequence[str] = ()) -> dict[str, list[Mutation]]:
    """Returns group -> its bugs. Errors: InputError for an unknown group, or a text that is not once there"""
    every = read_declaration(PLANTED, Mutations).groups
    unknown = [group for group in groups if group not in every]
    if unknown:
        raise InputError(f"no group {unknown[0]!r}, expected some of {', '.join(every)}")
    for group, bugs in every.items():
        for bug in bugs:
            count = Path(bug.file).read_text(encoding="utf-8").count(bug.before)
            if count != 1:
                raise InputError(f"{PLANTED}: {group}: {bug.bug}: {count} places in {bug.file}, expected one")
    return {group: bugs for group, bugs in every.items() if not groups or group in groups}


def probes_of(group: str, bug: Mutation) -> list[str]:
    """Returns the systems whose probes a bug is held against."""
    return bug.probes or [OF_WORDS.get(group, group)]


def measured(copy: Path, planted: dict[str, list[Mutation]]) -> Iterator[tuple[tuple[str, str], Outcome]]:
    """Yields (group, bug) and what was noticed, with the code whole again after each."""
    for group, bugs in planted.items():
        for bug in bugs:
            path, started = copy / bug.file, time.monotonic()
            whole = path.read_text(encoding="utf-8")
            path.write_text(whole.replace(bug.before, bug.after), encoding="utf-8")
            found = outcome(copy, probes_of(group, bug))
            path.write_text(whole, encoding="utf-8")
            said = "noticed" if found.numbers else "ESCAPED"
            print(f"{said} {group}: {bug.bug}: {found.line} ({time.monotonic() - started:.0f} s)", flush=True)
            yield (group, bug.bug), found


def outcome(copy: Path, systems: Sequence[str]) -> Outcome:
    """Returns what a forked process notices that measures the probes of these systems with a copy's code."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        signal.alarm(MOST_SECONDS)
        _measure(copy, systems, writer)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return (
        Outcome(**json.loads(said)) if said else Outcome(numbers=1, line="the process ended without a word")
    )


def _measure(copy: Path, systems: Sequence[str], writer: int) -> None:
    """Writes the outcome and ends the process."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        for name in [name for name in sys.modules if name.split(".")[0] in PACKAGES]:
            del sys.modules[name]
        sys.path.insert(0, str(copy))
        sys.dont_write_bytecode = True
        said = _differences(systems)
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


def as_markdown(found: dict[tuple[str, str], Outcome], reasons: Mapping[tuple[str, str], str]) -> str:
    """Returns the table of all bugs, those that escape first and why."""
    noticed = sum(one.numbers > 0 for one in found.values())
    lines = [
        "# Planted bugs and what notices them",
        "",
        f"`python -m benchmarks.mutations`: {noticed} of {len(found)} planted bugs change a number of",
        "the first steps, by which `sentbench check` notices them, or stop the run.",
        "",
        "| where | bug | the first number that differs |",
        "| :-- | :-- | :-- |",
    ]
    for (group, bug), one in sorted(found.items(), key=lambda entry: entry[1].numbers > 0):
        escapes = f"none, it escapes: {reasons[group, bug] or 'not known why'}"
        said = one.line.replace("|", "/") if one.numbers else escapes
        lines.append(f"| {group} | {bug} | {said} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except InputError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        sys.exit(2)
