"""UNA as a method: losses, schedule, views, and equality with the baseline without copies."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from methods.core.losses import nt_xent
from methods.core.rows import Row
from methods.core.types import Batch
from methods.una.method import column_loss, pair_loss
from tests.methods.una.reference import slow_column, slow_pair
from tests.methods.una.sample import PARAPHRASE, RELEASED, SAMPLES
from tests.support import tiny
from tests.support.tiny import Sample
from tests.support.vectors import assert_equal_with_gradients, drawn

SIMCSE = {"max_length": 32, "temperature": 0.05, "objective": "nt-xent", "dropout": None}


def build(backbone: Path, rows: list[Row] | None = None, **switches: Any) -> Any:
    method = tiny.changed(SAMPLES[0], backbone, **switches)
    method.prepare(rows or tiny.rows(augmentations=1))
    return method


def collate(method: Any, step: int, rows: list[Row] | None = None) -> Batch:
    return tiny.collate(method, (rows or tiny.rows(augmentations=1))[:6], step=step)


@pytest.mark.parametrize(("head", "positive"), [("mlp", "dropout"), ("none", "paraphrase")])
def test_without_copies_a_run_is_the_baseline_bit_for_bit(
    backbone: Path, tmp_path: Path, head: str, positive: str
) -> None:
    """Same losses, same log, same weights after every step as SimCSE with the symmetric loss."""
    never = Sample("una", "never", {**RELEASED, "period": 0, "head": head, "positive": positive})
    plain = Sample("simcse", "plain", {**SIMCSE, "head": head, "positive": positive})
    trainers = []
    for sample in (never, plain):
        trainer = tiny.trainer(tiny.build(sample, backbone, parent=None), tmp_path / sample.label)
        trainer.fit(tiny.rows(augmentations=1))
        trainers.append(trainer)
    ours, theirs = (trainer.method.state_dict() for trainer in trainers)
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert trainers[0].record == trainers[1].record
    log = (tmp_path / "never/train.jsonl").read_bytes()
    assert log == (tmp_path / "plain/train.jsonl").read_bytes()
    assert len(log.splitlines()) == 6 + 3


@pytest.mark.parametrize(("role", "views"), [("pair", 4), ("column", 3)])
def test_a_una_step_encodes_each_copy_once_or_twice(backbone: Path, role: str, views: int) -> None:
    method = build(backbone, role=role)
    batch = collate(method, 0)["views"]["input_ids"]
    assert len(batch) == 6 * views
    assert len(collate(method, 1)["views"]["input_ids"]) == 6 * 2
    assert torch.equal(batch[:6], batch[6:12])
    assert not (batch[:6] == batch[12:18]).all(dim=1).any()
    if role == "pair":
        assert torch.equal(batch[12:18], batch[18:])


def test_augmentations_are_the_positives_of_every_step_and_copies_are_of_the_sentences(
    backbone: Path,
) -> None:
    rows = tiny.rows(augmentations=1)
    method = build(backbone, **PARAPHRASE)
    expected = method.encoder.token_ids([row.text for row in rows[:6]])
    expected += method.encoder.token_ids([row.augmentations[0] for row in rows[:6]])
    for step in (0, 1):
        ids = collate(method, step)["views"]["input_ids"][:12].tolist()
        assert [[piece for piece in row if piece] for row in ids] == expected
    copies, _ = method.negatives.write(rows, np.random.default_rng(0))
    for row, copy in zip(rows, copies, strict=True):
        kept = sum(a == b for a, b in zip(row.text.split(), copy.split(), strict=True))
        assert len(copy.split()) == len(row.text.split())
        assert kept < len(row.text.split())


def test_one_word_sentences_unknown_characters_and_empty_sentences_are_handled(backbone: Path) -> None:
    strange = ["dog", "\u65e5\u672c\u8a9e \u65e5\u672c\u8a9e", "\u200b", "", "the the the"]
    rows = [*tiny.rows(), *(Row(100 + index, text) for index, text in enumerate(strange))]
    method = build(backbone, rows)
    texts, shares = method.negatives.write(rows[-5:], np.random.default_rng(0))
    assert all(copy.strip() and copy != row.text for copy, row in zip(texts, rows[-5:], strict=True))
    assert shares["single_term"] == pytest.approx(1 / 5)
    assert texts[3] in method.negatives.ranking.terms
    assert [len(copy.split()) for copy in texts] == [1, 2, 1, 1, 3]
    assert torch.isfinite(method.loss(collate(method, 0, rows[-5:])).total)
    _, silent = method.negatives.write([rows[-2]], np.random.default_rng(0))
    assert silent == {"replaced": 0.0, "repaired": 0.0, "single_term": 1.0}


def test_the_released_fallback_puts_one_term_for_a_copy_that_reads_as_its_sentence(backbone: Path) -> None:
    rows = [*tiny.rows(), Row(50, "cat"), Row(51, "Cat")]
    texts, shares = build(backbone, rows, unchanged="single-term").negatives.write(
        rows[-2:], np.random.default_rng(3)
    )
    assert texts[1] == "cat", "the released code compares with the sentence as it was written"
    assert shares["single_term"] == 0.5
    kept, _ = build(backbone, rows, unchanged="keep").negatives.write(rows[-2:], np.random.default_rng(3))
    assert kept == ["cat", "cat"]


@pytest.mark.parametrize(
    ("tau", "pair", "column"), [(0.5, 1.28255559, 1.18299587), (0.05, 1.85249484, 3.16130723)]
)
def test_both_roles_have_their_worked_values(tau: float, pair: float, column: float) -> None:
    """Two sentences on the unit circle, their positives, and one copy each."""
    anchors = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    positives = torch.tensor([[0.6, 0.8], [-0.6, 0.8]], dtype=torch.float64)
    copies = torch.tensor([[0.8, 0.6], [0.8, -0.6]], dtype=torch.float64)
    as_pair = pair_loss(anchors, positives, copies, copies, temperature=tau)
    assert as_pair.item() == pytest.approx(pair, abs=1e-7)
    as_column = column_loss(anchors, positives, copies, temperature=tau)
    assert as_column.item() == pytest.approx(column, abs=1e-7)


@pytest.mark.parametrize("role", ["pair", "column"])
def test_loss_and_gradients_equal_the_double_loop(role: str) -> None:
    fast, slow = (pair_loss, slow_pair) if role == "pair" else (column_loss, slow_column)
    inputs = [drawn(5, 7, seed=seed) for seed in range(4 if role == "pair" else 3)]
    expected = slow(*inputs, 0.3)
    actual = fast(*inputs, temperature=0.3)
    assert_equal_with_gradients(actual, expected, inputs)
    gradients = torch.autograd.grad(actual, inputs)
    assert all(gradient.norm(dim=1).min() > 0 for gradient in gradients), "nothing is detached"


def test_copies_that_equal_their_sentence_leave_a_floor_of_log_3() -> None:
    """Every row sees three equally near vectors, one of which is its partner."""
    basis = torch.eye(8, dtype=torch.float64)
    assert pair_loss(basis, basis, basis, basis, temperature=0.05).item() == pytest.approx(
        math.log(3), abs=1e-6
    )


def test_column_loss_without_copies_is_the_plain_loss() -> None:
    anchors, positives = drawn(5, 7), drawn(5, 7, seed=1)
    actual = column_loss(anchors, positives, anchors[:0], temperature=0.3)
    torch.testing.assert_close(actual, nt_xent(anchors, positives, temperature=0.3))


def test_equal_vectors_give_the_logarithm_of_all_others() -> None:
    """B = 64: log(4 B - 1) and log(3 B - 1)."""
    same = torch.ones(64, 3, dtype=torch.float64)
    assert pair_loss(same, same, same, same, temperature=0.05).item() == pytest.approx(math.log(255))
    assert column_loss(same, same, same, temperature=0.05).item() == pytest.approx(math.log(191))
