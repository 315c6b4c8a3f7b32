"""ARCHITECTURE: short, and true of the code."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
STEPS = TEXT.partition("| step |")[2].partition("\n\n")[0]
FUNCTIONS = re.findall(r"`((?:harness|methods)\.[\w.]+)`", STEPS)


def test_the_architecture_is_read_in_ten_minutes() -> None:
    assert len(TEXT.splitlines()) <= 120


def test_the_steps_are_numbered_in_order() -> None:
    numbers = [int(number) for number in re.findall(r"^\| (\d+) \|", STEPS, re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(FUNCTIONS) >= len(numbers)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_on_the_way_from_text_to_cell_exists(name: str) -> None:
    module, _, function = name.rpartition(".")
    assert callable(getattr(import_module(module), function))


def test_every_folder_and_file_that_is_named_exists() -> None:
    named = re.findall(r"`((?:harness|methods|tests|leaderboards|recipes|benchmarks)/[\w/.]+)`", TEXT)
    missing = [name for name in named if "NAME" not in name and not (ROOT / name).exists()]
    assert (missing, len(named) > 15) == ([], True)
    modules = [name for name in re.findall(r"`(harness\.[a-z_.]+)`", TEXT) if not (ROOT / name).exists()]
    assert [name for name in modules if not importable(name)] == []


def importable(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        path = ROOT.joinpath(*parts[:end])
        if path.with_suffix(".py").is_file():
            return end == len(parts) or hasattr(import_module(".".join(parts[:end])), parts[end])
        if path.is_dir():
            return end == len(parts)
    return False
