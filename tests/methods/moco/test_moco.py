"""MoCo's key views: effect and frequency of augmentations."""

from pathlib import Path
from typing import Any

import pytest
import torch

from methods.core.types import Batch
from tests.methods.moco.sample import SAMPLES
from tests.support import tiny

ROWS = tiny.rows(60)


def build(backbone: Path, **changes: Any) -> Any:
    method = tiny.changed(SAMPLES[0], backbone, **changes)
    method.prepare(ROWS)
    return method


def collate(method: Any, rows: Any = ROWS) -> Batch:
    return tiny.collate(method, rows)


def pieces(view: Batch) -> list[list[int]]:
    """Returns each row's ids without padding; 0 is the padding id and occurs nowhere else."""
    return [[piece for piece in row if piece] for row in view["input_ids"].tolist()]


def test_deletion_hides_tokens_from_attention_and_keeps_ids_and_the_first_token(backbone: Path) -> None:
    batch = collate(build(backbone, key_view="deletion", edit_share=0.3, unedited_share=0.0))
    anchor, key = batch["anchor"], batch["key"]
    assert torch.equal(key["input_ids"], anchor["input_ids"])
    assert key["attention_mask"][:, 0].all()
    lengths = anchor["attention_mask"].sum(dim=1)
    hidden = lengths - key["attention_mask"].sum(dim=1)
    assert (hidden >= 1).all()
    assert (hidden <= (0.3 * lengths).long()).all()


def test_reorder_keeps_the_first_token_and_the_multiset(backbone: Path) -> None:
    batch = collate(build(backbone, key_view="reorder", unedited_share=0.0))
    pairs = list(zip(pieces(batch["anchor"]), pieces(batch["key"]), strict=True))
    assert all(sorted(a) == sorted(k) and a[0] == k[0] for a, k in pairs)
    assert sum(a != k for a, k in pairs) > 40
    assert any(k[-1] != a[-1] for a, k in pairs)


def test_duplication_grows_by_the_share_rounded_down_and_may_pass_the_truncation(backbone: Path) -> None:
    method = build(backbone, key_view="duplication", edit_share=0.5, unedited_share=0.0, max_length=6)
    batch = collate(method)
    pairs = list(zip(pieces(batch["anchor"]), pieces(batch["key"]), strict=True))
    assert all(len(k) == len(a) + int(0.5 * len(a)) for a, k in pairs)
    assert all(set(k) == set(a) for a, k in pairs)
    assert max(len(a) for a, _ in pairs) == 6
    assert max(len(k) for _, k in pairs) == 9


def test_one_sentence_in_three_is_edited_and_the_share_is_logged(backbone: Path) -> None:
    """30,000 draws at 2/3 unedited: standard deviation 0.0027, tolerance 0.01. The others read the anchor."""
    method = build(backbone, key_view="reorder", unedited_share=2 / 3)
    batch = collate(method, ROWS * 500)
    edited = batch["edited"]
    assert edited.float().mean().item() == pytest.approx(1 / 3, abs=0.01)
    assert torch.equal(batch["key"]["input_ids"][~edited], batch["anchor"]["input_ids"][~edited])
    few = collate(method, ROWS[:20])
    assert method.loss(few).parts["edited"].item() == pytest.approx(few["edited"].float().mean().item())


def test_the_loss_reads_the_key_view_on_the_key_side_only(backbone: Path) -> None:
    method = build(backbone, key_view="reorder", unedited_share=0.0, key_dropout=False, queue_size=60)
    batch = collate(method)
    expected = method.keys(batch["key"])
    method.loss(batch)
    torch.testing.assert_close(method.queue.newest(method.queue.size), expected)
    assert not torch.allclose(expected, method.keys(batch["anchor"]))
