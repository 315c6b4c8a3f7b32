"""Folders between stages: unchanged, or refused in one line."""

import os
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.io.artefacts import read_artefact
from harness.io.files import write_manifest
from harness.io.records import check_present, read_manifest, read_object
from methods.core.files import write_record


def test_a_changed_character_of_a_record_is_noticed_and_the_checksum_is_no_entry(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_record(path, {"key": "a", "seed": 3})
    assert read_object(path, "key", again="again") == {"key": "a", "seed": 3}
    path.write_text(path.read_text().replace("3", "4", 1))
    with pytest.raises(InputError, match=r"checksum mismatch.*again"):
        read_object(path, "key", again="again")


def test_a_record_of_an_older_release_without_a_checksum_is_read(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"key": "a"}')
    assert read_manifest(tmp_path / "run.json", "key", again="again") == {"key": "a"}


def test_a_changed_file_of_an_artefact_is_refused_where_it_leaves_the_pipeline(tmp_path: Path) -> None:
    (tmp_path / "weights").write_text("a")
    write_manifest(tmp_path / "run.json", {"key": "a", "selection": {}})
    assert read_artefact(tmp_path)["key"] == "a"
    (tmp_path / "weights").write_text("b")
    with pytest.raises(InputError, match=r"weights: changed, the file is damaged"):
        read_artefact(tmp_path)


@pytest.mark.parametrize("kind", ["missing", "file", "pipe"])
def test_an_input_folder_that_is_missing_or_would_block_a_reader_is_one_line(
    tmp_path: Path, kind: str
) -> None:
    folder = tmp_path / "a"
    check_present(tmp_path)
    if kind == "pipe":
        folder.mkdir()
        os.mkfifo(folder / "rows.tsv")
    elif kind == "file":
        folder.write_text("rows")
    with pytest.raises(InputError, match=r"make it .*with `dvc repro`"):
        check_present(folder)
