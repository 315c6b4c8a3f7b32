"""Teacher vectors: written once, looked up by row, and never read for another text."""

import json
import shutil
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from methods.core import teachers
from methods.core.errors import InputError
from methods.core.networks import Networks
from methods.core.rows import Row
from methods.core.teacher_queue import hold_out
from methods.core.teachers import TeacherMapping, TeacherVectors, add_mapping, write_teacher
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


def test_rows_of_unequal_augmentations_are_refused(tmp_path: Path) -> None:
    encoder = tiny.sentence_encoder(tiny.write_backbone(tmp_path / "bert"))
    for rows in (
        [ROWS[0], ROWS[1]._replace(augmentations=())],
        [ROWS[0]._replace(augmentations=()), ROWS[1]],
    ):
        with pytest.raises(
            InputError, match="the rows of a corpus differ in their number of augmentations, e"
        ):
            write_teacher(tmp_path, encoder, rows, {})
    assert not list(tmp_path.glob("*.npy"))


def test_a_record_has_what_describes_the_teacher_and_the_shape_of_its_vectors(tmp_path: Path) -> None:
    class Wide:
        dim = 3

        def encode(self, texts: list[str], *, progress: bool) -> np.ndarray:
            assert progress
            return np.arange(3 * len(texts), dtype=np.float64).reshape(-1, 3)

    write_teacher(tmp_path, Wide(), ROWS[:4], {"teacher": "wide", "rows": "0"})
    record = json.loads((tmp_path / "teacher.json").read_text())
    assert {name: record[name] for name in ("teacher", "rows", "views", "dim")} == {
        "teacher": "wide",
        "rows": 4,
        "views": 2,
        "dim": 3,
    }
    vectors = np.load(tmp_path / "vectors.npy")
    assert (vectors.dtype, vectors.shape) == (np.float32, (4, 2, 3))
    assert vectors[1].tolist() == [[6, 7, 8], [9, 10, 11]], "row 1: its sentence, then its augmentation"
    texts = np.load(tmp_path / "texts.npy")
    assert (texts.dtype, texts.shape) == (np.uint64, (4, 2))


@pytest.mark.parametrize("name", ["vectors.npy", "texts.npy", "teacher.json"])
def test_a_folder_without_one_of_its_files_is_no_teacher(folder: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(folder, tmp_path / "copy")
    (tmp_path / "copy" / name).unlink()
    with pytest.raises(InputError, match=rf"no {name}; a test expects a `teachers/` entry as the run's"):
        read(tmp_path / "copy", ROWS)


def test_more_views_than_the_teacher_has_are_refused(folder: Path, tmp_path: Path) -> None:
    wider = [row._replace(augmentations=("a", "b")) for row in ROWS]
    with pytest.raises(InputError, match=r"of shape \(12, 2, 16\), expected at least \(12, 3, t\); use a"):
        read(folder, wider)
    shutil.copytree(folder, tmp_path / "copy")
    np.save(tmp_path / "copy/vectors.npy", np.ones((12, 2)))
    with pytest.raises(InputError, match=r"of shape \(12, 2\), expected at least \(12, 2, t\)"):
        read(tmp_path / "copy", ROWS)


@pytest.mark.parametrize(
    ("mapping", "width", "dim", "activation"),
    [
        ("linear", 16, 16, "identity"),
        ("linear", 5, 5, "identity"),
        ("tanh", 5, 5, "tanh"),
        ("none", 16, 16, "identity"),
    ],
)
def test_a_student_has_the_width_of_its_teacher(
    folder: Path, mapping: TeacherMapping, width: int, dim: int, activation: str
) -> None:
    student = tiny.sentence_encoder(folder.parent / "bert")
    add_mapping(student, mapping, teacher_dim=width)
    assert (student.dim, student.activation) == (dim, activation)
    assert (student.output is None) is (mapping == "none")
    other = tiny.sentence_encoder(folder.parent / "bert")
    with pytest.raises(InputError, match="the teacher has width 17 and the student 16; set `mapping: lin"):
        add_mapping(other, "none", teacher_dim=17)


@pytest.mark.parametrize(("count", "taken"), [(3, True), (4, False), (5, False)])
def test_a_corpus_has_a_sentence_left_after_those_of_the_queue(count: int, taken: bool) -> None:
    """Four texts of which two are equal: a text that is held out is not trained on anywhere."""
    texts = ["a", "b", "a", "c"]
    if not taken:
        with pytest.raises(InputError, match=f"starts with {count} sentences of a corpus of 4, which leaves"):
            hold_out(texts, count=count, seed=0)
        return
    for seed in range(9):
        held, kept = hold_out(texts, count=count, seed=seed)
        assert len(set(held)) == count
        assert held == sorted(held)
        out = {texts[index] for index in held}
        assert kept == [index for index, text in enumerate(texts) if text not in out]
    assert hold_out(texts, count=2, seed=1) == hold_out(texts, count=2, seed=1)
    assert len({tuple(hold_out(texts, count=2, seed=seed)[0]) for seed in range(9)}) > 1
