"""Every method's README has the same headings and names tests that exist."""

import re
from pathlib import Path

import pytest

from methods.registry import METHODS

ROOT = Path(__file__).parents[2]
HEADINGS = (
    "Claim, Source, Objective, Views, Runs, Deviations, Exported encoder, Cost, Facts tested, Reproduced?"
)
PACKAGES = sorted({target.split(".")[1] for target in METHODS.values()})


@pytest.mark.parametrize("package", PACKAGES)
def test_headings_are_the_agreed_ones_in_order_and_the_facts_named_are_tests(package: str) -> None:
    text = (ROOT / "methods" / package / "README.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    assert ", ".join(parts[1::2]) == HEADINGS
    facts = dict(zip(parts[1::2], parts[2::2], strict=True))["Facts tested"]
    named = set(re.findall(r"`(test_\w+)`", facts))
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(named) >= 3
    assert not {name for name in named if f"def {name}(" not in code}
