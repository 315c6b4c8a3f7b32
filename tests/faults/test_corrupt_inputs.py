"""Every kind of file that a command reads is damaged in every way: the same result, or one line, no change.

Where nobody has a hash, a bit that is turned over may give another valid file, and so may the first half.
There a command may succeed with what the file now says, but no other error may come, and a file that cannot
be what it was is refused. So it is with a source's
record: what it says of others is checked, and any other bit of it gives at most another hash of the folder.
All else that this project writes has a digest, in the file or in a record next to it. `dvc.lock` is DVC's; no
command reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.cli import main
from harness.data.sources import SOURCES
from harness.paths import SOURCE_RECORD
from tests.faults.corrupt_project import READERS, Reader, in_folder, interrupt, write_everything
from tests.faults.corruptions import SHAPES, StillWaiting, flip, no_waiting, truncate
from tests.faults.small_project import copy_project
from tests.faults.trees import tree_but
from tests.support.sources import made_up_source

FLIPS = 2


class Outcome(NamedTuple):
    """What a command did: its exit code, what it printed, and the project after it."""

    code: int
    printed: str
    problems: list[str]
    left: dict[str, Any]


class Workshop:
    """A copy of the project in which a command meets damaged files, and a sound one to copy again."""

    def __init__(self, original: Path, top: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.original, self.sound, self.folder, self.capsys = original, top / "sound", top / "project", capsys

    def prepare(self, reader: Reader) -> None:
        """Makes the project as it is before a command."""
        copy_project(self.original, self.sound)
        if reader.interrupted:
            with in_folder(self.sound):
                interrupt(reader.command)
        self.capsys.readouterr()
        copy_project(self.sound, self.folder)

    def run(self, reader: Reader) -> Outcome:
        """Returns what the command did, of which no damage may be hidden by what was read before."""
        with in_folder(self.folder), no_waiting():
            code = main(reader.command)
        printed = self.capsys.readouterr()
        lines = [line for line in printed.err.splitlines() if line and not line.startswith("step ")]
        return Outcome(code, printed.out, lines, results(self.folder))


def results(folder: Path) -> dict[str, Any]:
    """Returns all that a project holds but locks and logs of time."""
    return tree_but(folder, ".cache/locks", "reports/costs")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SENTBENCH_PROVIDERS", "embedded")
        return write_everything(tmp_path_factory.mktemp("original") / "project")


@pytest.fixture
def workshop(
    original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Workshop:
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    source = made_up_source({"mirror": {}})
    monkeypatch.setitem(SOURCES, "tiny", source)
    monkeypatch.setattr("harness.commands.check.scoring_problems", list)  # they read the whole of STS-B
    return Workshop(original, tmp_path, capsys)


def damages(checksummed: bool) -> dict[str, tuple[Callable[[Path], None], bool]]:
    """Returns each damage by name, and whether it must be seen: not every one of a file without a hash."""
    found = {name: (damage, True) for name, damage in SHAPES.items()}
    found["truncated"] = truncate, checksummed
    return found | {f"bit {seed}": (flip(seed), checksummed) for seed in range(FLIPS)}


def difference(found: Outcome, whole: Outcome, before: dict[str, Any], *, must_see: bool) -> str:
    """Returns what is wrong with a command's outcome on a damaged file; nothing where all is well."""
    if found.code == 2:
        if len(found.problems) != 1 or not found.problems[0].startswith("sentbench: "):
            return f"not one line: {found.problems}"
        changed = [name for name in {*found.left, *before} if found.left.get(name) != before.get(name)]
        return f"refused, and changed {changed}" if changed else ""
    if not must_see:
        return "" if found.code in (0, 1) else f"exit code {found.code}"
    other = [
        name
        for name in {*found.left, *whole.left}
        if found.left.get(name) not in (whole.left.get(name), before.get(name))
    ]
    if (found.code, found.printed) != (whole.code, whole.printed):
        return f"exit code {found.code}, other words: {found.printed[:200]!r} for {whole.printed[:200]!r}"
    return f"another result in {other}" if other else ""


def try_damages(workshop: Workshop, reader: Reader, pattern: str) -> list[str]:
    """Returns what was wrong with how a command took each damage of a file."""
    workshop.prepare(reader)
    whole = workshop.run(reader)
    assert whole.code in (0, 1), whole.problems
    (place,) = workshop.folder.glob(pattern)
    wrong, checksummed = [], reader.checksummed and place.name != SOURCE_RECORD
    for name, (damage, must_see) in damages(checksummed).items():
        copy_project(workshop.sound, workshop.folder)
        damage(place)
        before = results(workshop.folder)
        try:
            problem = difference(workshop.run(reader), whole, before, must_see=must_see)
        except (Exception, StillWaiting) as error:  # noqa: BLE001  # each is a finding, and the others are tried as well
            problem = f"{type(error).__name__}: {error}"[:300]
        if problem:
            wrong.append(f"{place.name} {name}: {problem}")
    return wrong


FILES = [(name, pattern) for name, reader in READERS.items() for pattern in reader.files]
CASES = [
    pytest.param(
        name,
        pattern,
        id=f"{name}-{pattern}",
        marks=[pytest.mark.slow] if READERS[name].slow or number % 6 else [],
    )
    for number, (name, pattern) in enumerate(FILES)
]
"""Every file that a command reads; each sixth one is in the default run, no slow command."""


@pytest.mark.parametrize(("name", "pattern"), CASES)
def test_a_damaged_file_is_the_same_result_or_one_line(workshop: Workshop, name: str, pattern: str) -> None:
    wrong = try_damages(workshop, READERS[name], pattern)
    assert not wrong, "\n".join(wrong)
