"""The parts of READMEs and documents that are generated: up to date, and nothing else is changed."""

import json
import shutil
from pathlib import Path

import pytest

from harness.cli import main
from harness.report.measurements import Measurements, to_speed_section
from tests.harness.report.test_speed import two_machines

ROOT = Path(__file__).parents[3]


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
