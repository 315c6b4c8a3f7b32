"""The parts of READMEs and documents that are generated: up to date, and nothing else is changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from harness.cli import main
from harness.errors import InputError
from harness.report.formats.readmes import INTRO, to_deviations, with_section
from harness.report.measurements import Measurements, to_speed_section
from harness.report.pages.audit import Difference, MethodAudit
from tests.harness.report.test_speed import two_machines

ROOT = Path(__file__).parents[3]
AUDIT = MethodAudit(
    method="m",
    title="M",
    preset="released",
    differences=[
        Difference(
            about="loss", paper="one", code="two", ours="both", switch="a, b", choices="x | y",
            variants=["third"], effect="none",
        ),
        Difference(about="seeds", ours="word " * 40),
    ],
)  # fmt: skip


def test_goals_stand_by_machine_with_met_or_missed() -> None:
    """The first machine's ratio is 2.5 and its products are measured; the second has 1.5 and a start."""
    machines = two_machines()["machines"]
    measured = Measurements.model_validate_json(json.dumps({"machines": machines[::-1]}))
    rows = [line for line in to_speed_section(measured).splitlines() if line.startswith("|")]
    assert rows == [
        "|  | goal | wide processor (family 6, model 1), 2 cores | a processor, 2 cores |",
        "| :-- | --: | --: | --: |",
        "| a step: other tool | at least 2 | 2.5 met | 1.5 **missed** |",
        "| a start | at most 0.3 s | – | 0.2 met |",
        "| products by oneDNN / by torch |  | 402 / 201 | not measured |",
    ]


def test_a_section_numbers_the_differences_and_says_how_to_turn_each() -> None:
    head, intro, blank, first, *second = to_deviations(AUDIT).splitlines()
    assert (head, intro, blank) == ("## Deviations", INTRO, "")
    assert first == (
        "1. Loss. Paper: one. Code: two. Here: both. Switch: `a: x | y`, `b`. "
        "Measured by: `third`. Effect: none."
    )
    assert second[0].startswith("2. Seeds. Paper: not stated. Code: not stated. Here: word")
    assert all(line.startswith("   word") and len(line) <= 118 for line in second[1:])


def test_only_the_section_is_replaced() -> None:
    text = "# m\n\n## Views\na\n\n## Deviations\nold\n\n1. old\n\n## Cost\nb\n"
    written = with_section(text, to_deviations(AUDIT), where="the README")
    assert written.startswith("# m\n\n## Views\na\n\n## Deviations\n" + INTRO)
    assert written.endswith("\n\n## Cost\nb\n")
    assert "old" not in written
    assert with_section(written, to_deviations(AUDIT), where="the README") == written


@pytest.mark.parametrize("text", ["# m\n", "## Deviations\n## A\n## Deviations\n## B"])
def test_a_readme_without_the_section_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected the heading"):
        with_section(text, to_deviations(AUDIT), where="the README")


def test_every_generated_part_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["readmes", "--check"]) == 0


def test_the_command_writes_what_differs_and_its_check_only_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "methods", tmp_path / "methods")
    for name in ("leaderboards", "recipes"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    readme = Path("methods/dclr/README.md")
    whole = readme.read_text(encoding="utf-8")
    spoilt = whole.replace("1. Loss.", "1. Something else.")
    readme.write_text(spoilt, encoding="utf-8")
    assert main(["readmes", "--check"]) == 1
    assert readme.read_text(encoding="utf-8") == spoilt
    assert main(["readmes"]) == 0
    assert readme.read_text(encoding="utf-8") == whole
    assert main(["readmes", "--check"]) == 0
