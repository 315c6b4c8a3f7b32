"""Distillation: teacher vectors follow their rows, equal vectors have loss 0, wrong parents are refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from methods.core.errors import InputError
from methods.core.rows import Row
from methods.core.teachers import write_teacher
from tests.methods.distill.sample import SAMPLES
from tests.support import tiny

SAME, MAPPED = SAMPLES


@pytest.fixture
def backbone(tmp_path: Path) -> Path:
    return tiny.write_backbone(tmp_path / "bert", dropout=0.0)


def self_taught(backbone: Path, folder: Path, rows: list[Row]) -> Path:
    folder.mkdir(exist_ok=True)
    write_teacher(folder, tiny.sentence_encoder(backbone), rows, {})
    return folder


def test_a_student_equal_to_its_teacher_has_loss_zero(backbone: Path, tmp_path: Path) -> None:
    rows = tiny.rows()
    parent = self_taught(backbone, tmp_path / "t", rows)
    method = tiny.build(SAME, backbone, parent=parent)
    batch = tiny.batch_of(method, 8)
    assert method.loss(batch).total.item() == pytest.approx(0.0, abs=1e-9)


def test_widths_that_differ_need_a_mapping(tmp_path: Path) -> None:
    rows = tiny.rows()
    wide = tiny.write_backbone(tmp_path / "wide", width=32)
    parent = self_taught(wide, tmp_path / "t", rows)
    narrow = tiny.write_backbone(tmp_path / "narrow")
    with pytest.raises(InputError, match="teacher has width 32 and the student 16"):
        tiny.build(SAME, narrow, parent=parent)
    assert tiny.build(MAPPED, narrow, parent=parent).exported().dim == 32


def test_a_parent_without_vectors_is_refused(backbone: Path) -> None:
    with pytest.raises(InputError, match=r"no teacher\.json"):
        tiny.build(SAME, backbone, parent=backbone)


def test_on_a_corpus_with_augmentations_each_of_them_is_fitted(backbone: Path, tmp_path: Path) -> None:
    """Two augmentations, a batch of 3: six texts, first views before second; the sentence is not read."""
    rows = tiny.rows(augmentations=2)
    parent = self_taught(backbone, tmp_path / "t", rows)
    method = tiny.build(SAME, backbone, parent=parent)
    method.prepare(rows)
    chosen = [rows[index] for index in (5, 2, 17)]
    batch = tiny.collate(method, chosen)
    texts = [row.augmentations[view] for view in (0, 1) for row in chosen]
    expected_vectors = tiny.sentence_encoder(backbone).encode(texts)
    np.testing.assert_allclose(batch["teacher"].numpy(), expected_vectors, atol=1e-5)
    expected = method.encoder.tokenize(texts, max_length=32)
    assert torch.equal(batch["anchor"]["input_ids"], expected["input_ids"])
    assert float(method.loss(batch).total.detach()) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("augmentations", [0, 2])
def test_the_loss_is_the_mean_of_two_minus_two_cosines_and_every_weight_learns(
    augmentations: int, backbone: Path, tmp_path: Path
) -> None:
    """A teacher of other weights, three times as long: only directions count. Text by text in a loop."""
    rows = tiny.rows(augmentations=augmentations)
    other = tiny.write_backbone(tmp_path / "other", dropout=0.0, seed=9)
    parent = self_taught(other, tmp_path / "t", rows)
    vectors = np.load(parent / "vectors.npy")
    method: Any = tiny.build(MAPPED, backbone, parent=parent)
    method.prepare(rows)
    chosen = [rows[index] for index in (4, 0, 9)]
    batch = tiny.collate(method, chosen)
    total = method.loss({**batch, "teacher": 3 * batch["teacher"]}).total
    cosines = []
    for column in range(1, 1 + augmentations) if augmentations else (0,):
        for row in chosen:
            ours = method.exported().encode([row.columns[column]])[0]
            theirs = vectors[row.index, column]
            cosines.append(ours @ theirs / np.linalg.norm(ours) / np.linalg.norm(theirs))
    assert total.item() == pytest.approx(2 - 2 * np.mean(cosines), abs=1e-5)
    assert total.item() > 0.01
    total.backward()
    mapping = method.encoder.output.weight.grad
    words = method.encoder.backbone.get_input_embeddings().weight.grad
    assert mapping.abs().max() > 0
    assert words.abs().max() > 0


def test_rows_of_different_numbers_of_augmentations_are_fitted_in_those_that_all_have(
    backbone: Path, tmp_path: Path
) -> None:
    """The teacher's corpus has two everywhere, the last row of the student's only the first."""
    rows = tiny.rows(augmentations=2)
    parent = self_taught(backbone, tmp_path / "t", rows)
    method = tiny.build(SAME, backbone, parent=parent)
    method.prepare([*rows[:-1], rows[-1]._replace(augmentations=rows[-1].augmentations[:1])])
    assert len(tiny.collate(method, rows[:3])["teacher"]) == 3
