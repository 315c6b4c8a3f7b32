"""Every kind of input file, damaged in every way: the same result, or a one-line error without changes.

Without a hash, a flipped bit or the first half may be another valid file. A command may then succeed with the
changed content, but no other error is allowed, and an invalid file is refused. This includes a source's
record: its entries on other files are checked, and any other bit changes at most the hash of the folder. DVC
compares the files between stages, which no stage hashes again. `dvc.lock` is DVC's; no command reads it.
"""

from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from harness.data.sources import SOURCES
from harness.paths import SOURCE_RECORD
from tests.faults.corrupt_project import READERS, interrupt, write_everything
from tests.faults.corruptions import SHAPES, Ending, ending_of, flip, truncate
from tests.faults.small_project import copy_project
from tests.faults.trees import tree_but
from tests.support.sources import made_up_source

pytestmark = pytest.mark.thorough
FLIPS = 2
Outcome = tuple[Ending, dict[str, Any]]
"""End of a command, and the project after it."""


def results(folder: Path) -> dict[str, Any]:
    """Returns the files of a project except locks and logs of time."""
    return tree_but(folder, ".cache/locks", "reports/costs")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SENTBENCH_PROVIDERS", "embedded")
        return write_everything(tmp_path_factory.mktemp("original") / "project")


@pytest.fixture
def sound(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An undamaged copy of the project."""
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    monkeypatch.setitem(SOURCES, "tiny", made_up_source({"mirror": {}}))
    monkeypatch.setattr("harness.commands.check.scoring_problems", list)  # they read the whole of STS-B
    return copy_project(original, tmp_path / "sound")


def damages(checksummed: bool) -> dict[str, tuple[Callable[[Path], None], bool]]:
    """Returns each damage by name, and whether it must be detected, which needs a hash for some."""
    result = {name: (damage, True) for name, damage in SHAPES.items()}
    result["truncated"] = truncate, checksummed
    return result | {f"bit {seed}": (flip(seed), checksummed) for seed in range(FLIPS)}


def difference(actual: Outcome, whole: Outcome, before: dict[str, Any], *, must_see: bool) -> str:
    """Returns the fault in a command's outcome on a damaged file, empty if there is none."""
    ending, left = actual
    if ending.problem or (ending.code != 2 and not must_see):
        return ending.problem
    if ending.code != 2 and ending != whole[0]:
        return f"exit code {ending.code}, other words: {ending.out[:200]!r} for {whole[0].out[:200]!r}"
    allowed = [before] if ending.code == 2 else [before, whole[1]]
    names = {*left, *before, *allowed[-1]}
    changed = [name for name in names if left.get(name) not in [tree.get(name) for tree in allowed]]
    return f"exit code {ending.code}, and changed {changed}" if changed else ""


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
def test_a_damaged_file_is_the_same_result_or_one_line(
    sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, pattern: str
) -> None:
    reader, folder = READERS[name], tmp_path / "project"

    def run() -> Outcome:
        with chdir(folder):
            return ending_of(reader.command, capsys, (0, 1)), results(folder)

    if reader.interrupted:
        with chdir(sound):
            interrupt(reader.command)
    copy_project(sound, folder)
    (damaged,) = folder.glob(pattern)  # a command that ends removes the state of its work
    whole = run()
    assert whole[0].code in (0, 1), whole[0].problem
    wrong, checksummed = {}, reader.checksummed and damaged.name != SOURCE_RECORD
    for kind, (damage, must_see) in damages(checksummed).items():
        copy_project(sound, folder)
        damage(damaged)
        before = results(folder)
        wrong[kind] = difference(run(), whole, before, must_see=must_see)
    assert not any(wrong.values()), wrong
