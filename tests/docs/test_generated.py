"""Generated text: none is stale, and writing it changes no other file."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from docs import generated, outputs
from docs.generated import DECLARED, SCHEMAS, schema_text
from harness.report.measurements import Measurements, to_speed_section
from tests.harness.report.test_speed import two_machines
from tests.support.yaml_files import load_yaml

ROOT = Path(__file__).parents[2]
FOLDERS = {
    "recipe": "recipes",
    **{kind: f"leaderboards/{kind}" for kind in ("published", "evidence", "claims", "audit")},
    "table": "leaderboards/tables",
}
OTHERS = {"backbones.yaml", "blocks.yaml", "corpora.yaml", "scope.yaml"}
"""Files there that other models read."""


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["docs.generated", *words])
    return generated.main()


def test_goals_are_met_or_missed_for_each_machine() -> None:
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


def test_no_generated_file_is_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    """The outputs shown in documents are tested in test_docs."""
    monkeypatch.chdir(ROOT)
    assert sorted(map(str, generated.stale())) == [], "run `make generated`"


def test_stale_files_are_written_and_the_check_only_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("methods", "leaderboards"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "harness/data").mkdir(parents=True)
    for name in ("harness/data/SOURCES.md", "recipes", "reports", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(outputs, "PAGES", ())
    readme, schema = Path("methods/dclr/README.md"), SCHEMAS / "recipe.json"
    whole = readme.read_text(encoding="utf-8")
    spoilt = whole.replace("1. Loss.", "1. Something else.")
    assert spoilt != whole
    readme.write_text(spoilt, encoding="utf-8")
    schema.unlink()
    assert run(monkeypatch, "--check") == 1
    assert readme.read_text(encoding="utf-8") == spoilt
    assert not schema.exists()
    assert run(monkeypatch) == 0
    assert readme.read_text(encoding="utf-8") == whole
    assert schema.read_bytes() == (ROOT / schema).read_bytes()
    assert run(monkeypatch, "--check") == 0


def test_a_section_whose_audit_is_gone_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "leaderboards/audit", tmp_path / "leaderboards/audit")
    (tmp_path / "leaderboards/audit/pcl.yaml").unlink()
    (tmp_path / "methods").symlink_to(ROOT / "methods")
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, "--check") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "methods/pcl/README.md: its audit is missing" in line


@pytest.mark.parametrize("kind", FOLDERS)
def test_every_file_of_a_kind_names_its_schema_and_has_its_keys(kind: str) -> None:
    paths = [path for path in (ROOT / FOLDERS[kind]).glob("*.yaml") if path.name not in OTHERS]
    assert len(paths) >= 5
    assert set(DECLARED) >= set(FOLDERS)
    schema = json.loads(schema_text(kind))
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    for path in paths:
        head, _, named = path.read_text().partition("\n")[0].partition("$schema=")
        assert head == "# yaml-language-server: "
        assert (path.parent / named).resolve() == ROOT / SCHEMAS / f"{kind}.json"
        keys = set(load_yaml(path.read_text()))
        assert set(schema.get("required", ())) <= keys <= set(schema["properties"])
