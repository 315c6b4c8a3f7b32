"""`python -m benchmarks.mutations`: plants bugs one at a time, counts those that `sentbench check` notices.

Each bug of mutations.yaml is planted in a copy of the code. A process of its own, forked from this one, which
has the libraries loaded, compares first steps with leaderboards/reference_losses.yaml. A bug
is noticed where a number differs, or where the copy stops with an error. No part of a test: it takes minutes.
"""

import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

from pydantic import Field

from harness.declarations import Declaration, read_declaration
from harness.disk.files import write_text
from harness.errors import InputError

PLANTED = Path(__file__).with_name("mutations.yaml")
HEAD = """\
# Planted bugs and what notices them

`python -m benchmarks.mutations` plants bugs one at a time in a copy of the code: {noticed} of {planted}
change a number of first steps or stop the run, so that `sentbench check` notices them. They are in lines
that the small plan runs in its first three steps. The share says nothing about other lines, where most of a
full-scale run is: other settings, later epochs, evaluation, planning, the report. Bugs that nothing notices
are first.

| line | bug | the first number that differs |
| :-- | :-- | :-- |
"""
PACKAGES = ("harness", "methods")
LIBRARIES = ("torch", "transformers", "scipy.stats", "pandas", "safetensors.torch")
"""What a process needs that measures reference losses, and what is loaded once for all of them."""


class Mutation(Declaration):
    """One bug: text that appears once in a file, and what is put in its place.

    systems: those that run, else the one that the group is named after. why: the reason that nothing notices
    it, if nothing does.
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


def main() -> int:
    """Writes the table; returns 1 if the code as it is differs from its reference losses, else 0."""
    planted = read_mutations()
    for library in LIBRARIES:
        import_module(library)
    every = sorted({one for group in planted for bug in planted[group] for one in bug.systems or [group]})
    with tempfile.TemporaryDirectory(prefix="sentbench-") as scratch:
        copy = Path(scratch)
        for package in PACKAGES:
            shutil.copytree(package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
        clean = differences(copy, every)
        print(f"as it is: {len(clean)} numbers differ in {', '.join(every)}", *clean[:1], flush=True)
        if clean:
            return 1
        found = {group: [noticed(copy, group, bug) for bug in bugs] for group, bugs in planted.items()}
    write_text(Path("reports/mutations.md"), as_markdown(planted, found))
    return 0


def read_mutations() -> dict[str, list[Mutation]]:
    """Returns group -> its bugs. Errors: InputError for a text that is not once in its file."""
    groups = read_declaration(PLANTED, Mutations).groups
    for bugs in groups.values():
        for bug in bugs:
            _ = bug.place
    return groups


def noticed(copy: Path, group: str, bug: Mutation) -> str:
    """Returns the first line that says what a bug changes, empty if none; the copy is whole again after."""
    path, started = copy / bug.file, time.monotonic()
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole.replace(bug.before, bug.after), encoding="utf-8")
    lines = differences(copy, bug.systems or [group])
    path.write_text(whole, encoding="utf-8")
    line = lines[0] if lines else ""
    said = f"{line or 'ESCAPED'} ({time.monotonic() - started:.0f} s)"
    print(f"{group}: {bug.bug}: {said}", flush=True)
    return line


def differences(copy: Path, systems: Sequence[str]) -> list[str]:
    """Returns what differs from the reference losses in a forked process that runs the code of a copy."""
    with ProcessPoolExecutor(1, get_context("fork"), signal.alarm, (900,)) as process:
        try:
            return process.submit(_in_copy, copy, systems).result()
        except BrokenProcessPool:
            return ["the process ended without a word"]


def _in_copy(copy: Path, systems: Sequence[str]) -> list[str]:
    for name in [name for name in sys.modules if name.split(".")[0] in PACKAGES]:
        del sys.modules[name]
    sys.path.insert(0, str(copy))
    sys.dont_write_bytecode = True  # a file that changes twice within a second is still compiled again
    try:
        from harness.check import reference_losses
        from harness.paths import REFERENCE_LOSSES
        from harness.plan.entries import read_params

        params, known = read_params(), reference_losses.read_reference(REFERENCE_LOSSES)
        lines = []
        for system in systems:
            name = next(name for name in known if name == system or name.startswith(f"{system}-small__"))
            found = reference_losses.measure_run(params, name)
            lines += reference_losses.differences(name, known[name], found)
    except BaseException as error:  # noqa: BLE001  (whatever a bug raises is noticed)
        last = traceback.format_exception_only(error)[-1].strip()
        lines = [f"stops: {' '.join(last.split())[:120]}"]
    return lines


def as_markdown(planted: Mapping[str, Sequence[Mutation]], found: Mapping[str, Sequence[str]]) -> str:
    """Returns the report: the share and each bug, those that escape first and why. found: as `noticed`."""
    entries = [
        (said, f"{group}: {bug.bug}", bug)
        for group, bugs in planted.items()
        for said, bug in zip(found[group], bugs, strict=True)
    ]
    rows = []
    for said, title, bug in sorted(entries, key=lambda entry: bool(entry[0])):
        cells = bug.place, title, said or f"none, it escapes: {bug.why or 'not known why'}"
        rows.append("| " + " | ".join(" ".join(cell.split()).replace("|", "/") for cell in cells) + " |")
    head = HEAD.format(noticed=sum(bool(said) for said, *_ in entries), planted=len(entries))
    return head + "\n".join(rows) + "\n"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except InputError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        sys.exit(2)
