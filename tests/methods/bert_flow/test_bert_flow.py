"""BERT-flow: what is fixed, what learns, from which sentences it starts, and what is exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from methods.bert_flow.objective import bits_per_dimension
from methods.core import streams
from methods.core.folders import load_encoder
from tests.methods.bert_flow.sample import PAPER, RELEASED
from tests.support import tiny


def ready(
    backbone: Path, config: dict[str, Any], *, augmentations: int = 1, pooling: str = "mean"
) -> tuple[Any, Any]:
    method = tiny.build(tiny.Sample("bert-flow", "here", config), backbone, parent=None, pooling=pooling)
    rows = list(method.train().prepare(tiny.rows(augmentations=augmentations)))[:6]
    return method, method.collate(rows, step=0, rng=streams.generator(0, streams.COLLATE))


def test_the_total_is_the_sum_of_both_sides_means(backbone: Path) -> None:
    method, batch = ready(backbone, PAPER)
    vectors = method.encoder(batch["anchor"])
    assert len(vectors) == 12
    bits = bits_per_dimension(method.flow(vectors), method.flow.log_determinant())
    loss = method.loss(batch)
    torch.testing.assert_close(loss.total, bits[:6].mean() + bits[6:].mean())
    torch.testing.assert_close(loss.parts["bits"], bits.mean().detach())


def test_single_sentences_give_their_mean(backbone: Path) -> None:
    method, batch = ready(backbone, {**PAPER, "sides": "sentences"}, augmentations=0)
    bits = bits_per_dimension(method.flow(method.encoder(batch["anchor"])), method.flow.log_determinant())
    assert len(bits) == 6
    torch.testing.assert_close(method.loss(batch).total, bits.mean())


def test_the_flow_starts_from_the_first_sentences_of_the_corpus(backbone: Path) -> None:
    method, _ = ready(backbone, RELEASED)
    texts = [row.text for row in tiny.rows(augmentations=1)]
    latent = method.exported().encode(texts[:16])
    np.testing.assert_allclose(latent.mean(0), 0.0, atol=1e-3)
    np.testing.assert_allclose(latent.std(0), 1.0, atol=1e-2)
    assert np.abs(method.exported().encode(texts).mean(0)).max() > 1e-2


def test_nothing_of_the_encoder_learns_and_all_of_the_flow_may(backbone: Path, tmp_path: Path) -> None:
    method, batch = ready(backbone, RELEASED)
    method.loss(batch).total.backward()
    for name, value in method.named_parameters():
        assert value.requires_grad == name.startswith("encoder.output."), name
        assert (value.grad is not None) == value.requires_grad, name
    before = {name: value.clone() for name, value in method.encoder.backbone.state_dict().items()}
    flow = {name: value.clone() for name, value in method.flow.state_dict().items()}
    tiny.trainer(method, tmp_path).fit(tiny.rows(augmentations=1))
    assert all(
        torch.equal(value, before[name]) for name, value in method.encoder.backbone.state_dict().items()
    )
    assert any(not torch.equal(value, flow[name]) for name, value in method.flow.state_dict().items())


@pytest.mark.parametrize("active", [True, False])
def test_dropout_of_the_fixed_encoder_is_as_stated_while_fitting(backbone: Path, active: bool) -> None:
    method, batch = ready(backbone, {**RELEASED, "encoder_dropout": active})
    method.eval()
    method.train()
    first, second = method.loss(batch).total, method.loss(batch).total
    assert torch.equal(first, second) is not active


def test_likelihood_grows_with_training(backbone: Path, tmp_path: Path) -> None:
    method, batch = ready(backbone, PAPER)
    before = method.loss(batch).total.item()
    tiny.trainer(method, tmp_path, steps=60, learning_rate=5.0e-3).fit(tiny.rows(augmentations=1))
    assert method.loss(batch).total.item() < before - 0.05


@pytest.mark.parametrize("pooling", ["mean", "first-last-avg"])
def test_the_exported_folder_is_read_by_this_project_alone(
    backbone: Path, tmp_path: Path, pooling: str
) -> None:
    """No other library finds a model at its top, so that none can load it without the flow."""
    from sentence_transformers import SentenceTransformer

    method, _ = ready(backbone, RELEASED, pooling=pooling)
    texts = ["the man runs", "a cat sleeps under the tree"]
    expected = method.exported().encode(texts)
    method.exported().save(tmp_path / "folder")
    np.testing.assert_array_equal(load_encoder(tmp_path / "folder").encode(texts), expected)
    with pytest.raises((OSError, ValueError)):
        SentenceTransformer(str(tmp_path / "folder"), device="cpu", trust_remote_code=False).encode(texts)
