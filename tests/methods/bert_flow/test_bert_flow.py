"""BERT-flow: what is fixed, what learns, from which sentences it starts, and what is exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from methods.bert_flow.objective import bits_per_dimension
from tests.methods.bert_flow.sample import PAPER, RELEASED
from tests.support import tiny


def ready(backbone: Path, config: dict[str, Any]) -> tuple[Any, Any]:
    method = tiny.build(tiny.Sample("bert-flow", "here", config), backbone, parent=None)
    method.train()
    return method, tiny.batch_of(method, corpus=tiny.rows(augmentations=1))


@pytest.mark.parametrize(("sides", "count"), [("sentences", 1), ("pairs", 2)])
def test_the_total_is_the_sum_of_the_sides_means(backbone: Path, sides: str, count: int) -> None:
    method, batch = ready(backbone, {**PAPER, "sides": sides})
    vectors = method.encoder(batch["anchor"])
    assert len(vectors) == 6 * count
    bits = bits_per_dimension(method.flow(vectors), method.flow.log_determinant())
    loss = method.loss(batch)
    torch.testing.assert_close(loss.total, sum(side.mean() for side in bits.chunk(count)))
    torch.testing.assert_close(loss.parts["bits"], bits.mean().detach())


def test_the_flow_starts_from_the_first_sentences_of_the_corpus(backbone: Path) -> None:
    method, _ = ready(backbone, RELEASED)
    texts = [row.text for row in tiny.rows(augmentations=1)]
    latent = method.exported().encode(texts[:16])
    np.testing.assert_allclose(latent.mean(0), 0.0, atol=1e-3)
    np.testing.assert_allclose(latent.std(0), 1.0, atol=1e-2)
    assert np.abs(method.exported().encode(texts).mean(0)).max() > 1e-2


def test_nothing_of_the_encoder_learns_and_all_of_the_flow_may(backbone: Path) -> None:
    method, batch = ready(backbone, RELEASED)
    method.loss(batch).total.backward()
    for name, value in method.named_parameters():
        assert value.requires_grad == name.startswith("encoder.output."), name
        assert (value.grad is not None) == value.requires_grad, name


@pytest.mark.parametrize("active", [True, False])
def test_dropout_of_the_fixed_encoder_is_as_stated_while_fitting(backbone: Path, active: bool) -> None:
    method, batch = ready(backbone, {**RELEASED, "encoder_dropout": active})
    method.eval()
    method.train()
    first, second = method.loss(batch).total, method.loss(batch).total
    assert torch.equal(first, second) is not active
