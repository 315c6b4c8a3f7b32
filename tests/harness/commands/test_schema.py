"""Schemas for editors: those of the models that read the files, named in every file of their kind."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

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
def test_the_committed_schemas_are_those_of_the_models(kind: str, printed: Callable[..., str]) -> None:
    said = printed("schema", kind)
    assert (ROOT / SCHEMAS / f"{kind}.json").read_text() == said, "run `sentbench schema recipe --write`"
    schema = json.loads(said)
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
