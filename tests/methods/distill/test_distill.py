"""Distillation: teacher vectors follow their rows, equal vectors cost nothing, wrong parents are refused."""

from pathlib import Path

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
