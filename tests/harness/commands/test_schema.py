"""Schemas for editors: those of the models that read the files, named in every file of their kind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from harness.cli import main
from harness.commands.schema import KINDS, SCHEMAS, text_of

ROOT = Path(__file__).parents[3]
FOLDERS = {
    "recipe": "recipes",
    **{kind: f"leaderboards/{kind}" for kind in ("published", "evidence", "claims", "audit")},
    "table": "leaderboards/tables",
}
OTHERS = {"backbones.yaml", "blocks.yaml", "corpora.yaml", "scope.yaml"}
"""Files there that other models read."""


@pytest.mark.parametrize("kind", KINDS)
def test_the_committed_schemas_are_those_of_the_models(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", kind]) == 0
    printed = capsys.readouterr().out
    assert (ROOT / SCHEMAS / f"{kind}.json").read_text() == printed, "run `sentbench schema recipe --write`"
    schema = json.loads(printed)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("kind", FOLDERS)
def test_every_file_of_a_kind_names_its_schema_and_has_its_keys(kind: str) -> None:
    paths = [path for path in (ROOT / FOLDERS[kind]).glob("*.yaml") if path.name not in OTHERS]
    assert len(paths) >= 5
    schema = json.loads(text_of(kind))
    for path in paths:
        head, _, named = path.read_text().partition("\n")[0].partition("$schema=")
        assert head == "# yaml-language-server: "
        assert (path.parent / named).resolve() == ROOT / SCHEMAS / f"{kind}.json"
        keys = set(yaml.safe_load(path.read_text()))
        assert set(schema.get("required", ())) <= keys <= set(schema["properties"])


def test_an_unknown_kind_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "tabels"]) == 2
    assert "did you mean table?" in capsys.readouterr().err


def test_writing_needs_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["schema", "table", "--write"]) == 2
    assert "needs a checkout" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
