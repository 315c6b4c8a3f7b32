"""Teacher vectors: written once, looked up by row, and never read for another text."""

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from methods.core import teachers
from methods.core.errors import InputError
from methods.core.networks import Networks
from methods.core.rows import Row
from methods.core.teachers import TeacherVectors, write_teacher
from tests.support import tiny

ROWS = tiny.rows(12, augmentations=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("taught")
    encoder = tiny.sentence_encoder(tiny.write_backbone(top / "bert"))
    (top / "teacher").mkdir()
    write_teacher(top / "teacher", encoder, ROWS, {})
    return top / "teacher"


def read(folder: Path, rows: list[Row]) -> TeacherVectors:
    vectors = Networks(folder, pooling="mean", parent=folder).teacher_vectors("a test")
    vectors.open(rows)
    return vectors


def test_a_part_of_the_corpus_in_any_order_finds_its_rows(folder: Path) -> None:
    stored = np.load(folder / "vectors.npy")
    vectors = read(folder, [ROWS[7], ROWS[2]])
    assert vectors.dim == 16
    for column in (0, 1):
        np.testing.assert_array_equal(vectors.of([ROWS[7], ROWS[2]], column), stored[[7, 2], column])
    without = ROWS[3]._replace(augmentations=())
    np.testing.assert_array_equal(read(folder, [without]).of([without], 0), stored[[3], 0])


def test_the_record_has_the_checksum_of_every_other_file(folder: Path) -> None:
    record = json.loads((folder / "teacher.json").read_text())
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "teacher.json"}
    assert record["files"] == {name: sha256(content).hexdigest() for name, content in files.items()}


@pytest.mark.parametrize("together", [5, 100])
def test_every_text_has_the_vector_that_its_encoder_gives_it_alone(
    together: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twelve rows of three texts, five rows at a time or all at once."""
    monkeypatch.setattr(teachers, "ROWS_TOGETHER", together)
    rows = tiny.rows(12, augmentations=2)
    encoder = tiny.sentence_encoder(tiny.write_backbone(tmp_path / "bert"))
    write_teacher(tmp_path, encoder, rows, {})
    vectors = read(tmp_path, rows)
    for column in range(3):
        alone = np.concatenate([encoder.encode([row.columns[column]]) for row in rows])
        np.testing.assert_allclose(vectors.of(rows, column), alone, atol=1e-5)


@pytest.mark.parametrize("column", [0, 1])
def test_a_corpus_of_equal_size_with_one_other_text_is_refused(folder: Path, column: int) -> None:
    """Row 5 alone differs, by its sentence or by its augmentation."""
    changed = ROWS[5]._replace(**({"augmentations": ("a cat",)} if column else {"text": "a cat"}))
    with pytest.raises(InputError, match=r"no vector of row 5 .*use a teacher of this run's corpus"):
        read(folder, [*ROWS[:5], changed, *ROWS[6:]])
