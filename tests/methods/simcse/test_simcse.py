"""SimCSE: its two views, and its loss."""

from pathlib import Path
from typing import Any

import pytest
import torch

from methods.core.losses import info_nce, nt_xent, uniformity
from tests.methods.simcse.sample import SAMPLES
from tests.support import tiny

INFO_NCE, NT_XENT, _, PARAPHRASE, UNIFORMITY, *_ = SAMPLES


def test_views_differ_by_dropout_alone(backbone: Path) -> None:
    method = tiny.changed(INFO_NCE, backbone)
    batch = tiny.batch_of(method)
    first, second = method.vectors(batch)
    assert not torch.allclose(first, second, atol=1e-3)
    method.eval()
    first, second = method.vectors(batch)
    torch.testing.assert_close(first, second, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("sample", "objective"), [(INFO_NCE, info_nce), (NT_XENT, nt_xent)])
def test_loss_is_info_nce_of_the_two_views(backbone: Path, sample: tiny.Sample, objective: Any) -> None:
    method = tiny.changed(sample, backbone)
    batch = tiny.batch_of(method)
    torch.manual_seed(0)
    total = method.loss(batch).total
    torch.manual_seed(0)
    torch.testing.assert_close(total, objective(*method.vectors(batch), temperature=0.05))


def test_uniformity_reads_first_views_alone(backbone: Path) -> None:
    method = tiny.changed(UNIFORMITY, backbone)
    batch = tiny.batch_of(method)
    torch.manual_seed(0)
    total = method.loss(batch).total
    torch.manual_seed(0)
    first, _ = method.vectors(batch)
    torch.testing.assert_close(total, uniformity(first, temperature=0.05))


def test_the_positive_is_the_first_augmentation(backbone: Path) -> None:
    """Without dropout the views are the encoder's vectors of the text and of its first augmentation."""
    rows = tiny.rows(augmentations=2)
    method = tiny.changed(PARAPHRASE, backbone, dropout=0.0)
    batch = tiny.batch_of(method, corpus=rows)
    sides = [row.text for row in rows[:6]], [row.augmentations[0] for row in rows[:6]]
    for view, texts in zip(method.vectors(batch), sides, strict=True):
        expected = method.head(method.encoder(method.encoder.tokenize(texts)))
        torch.testing.assert_close(view, expected, rtol=0, atol=1e-5)
