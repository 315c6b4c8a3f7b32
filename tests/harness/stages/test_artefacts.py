"""Folders between stages: whole as they were written, or refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.disk.records import read_object, sealed
from harness.errors import InputError
from harness.stages.artefacts import FILES, check_inputs, file_hashes, read_artefact


@pytest.fixture
def artefact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An artefact of three files below artefacts/ of the current folder."""
    monkeypatch.chdir(tmp_path)
    folder = Path("artefacts/a__b__s0")
    (folder / "last").mkdir(parents=True)
    for name in ("model.safetensors", "train.jsonl", "last/model.safetensors"):
        (folder / name).write_bytes(name.encode() * 3)
    about = {"key": "a__b__s0", "selection": {}}
    (folder / "run.json").write_text(json.dumps({**about, FILES: file_hashes(folder)}))
    return folder


def test_a_whole_artefact_is_read_with_its_description(artefact: Path) -> None:
    assert read_artefact(artefact).about["key"] == "a__b__s0"
    check_inputs(str(artefact))


@pytest.mark.parametrize("name", ["model.safetensors", "train.jsonl", "last/model.safetensors"])
@pytest.mark.parametrize("damage", ["one bit", "truncated", "emptied", "gone", "folder"])
def test_a_file_that_training_did_not_write_is_one_line(artefact: Path, name: str, damage: str) -> None:
    path = artefact / name
    content = path.read_bytes()
    path.unlink()
    if damage == "folder":
        path.mkdir()
    elif damage != "gone":
        changed = {
            "one bit": bytes([content[0] ^ 1]) + content[1:],
            "truncated": content[:-1],
            "emptied": b"",
        }
        path.write_bytes(changed[damage])
    with pytest.raises(InputError, match=f"{name}: .*train the run again") as caught:
        read_artefact(artefact)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="train the run again"):
        check_inputs(str(artefact))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"key": "a"}'])
def test_a_description_that_is_none_is_one_line(artefact: Path, text: str) -> None:
    (artefact / "run.json").write_text(text)
    with pytest.raises(InputError, match=r"run\.json: not .*train the run again"):
        read_artefact(artefact)


def test_folders_that_are_no_artefact_are_not_looked_at() -> None:
    check_inputs("backbones/none")


def test_a_character_changed_in_a_sealed_record_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(sealed({"key": "a", "seed": 3})))
    assert read_object(path, "key", again="again")["seed"] == 3
    path.write_text(path.read_text().replace("3", "4", 1))
    with pytest.raises(InputError, match=r"not the content that its digest states.*again"):
        read_object(path, "key", again="again")
