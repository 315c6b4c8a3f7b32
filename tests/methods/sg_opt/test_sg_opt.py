"""SG-OPT: what is trained, what is frozen, and what each side reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from methods.core.errors import InputError
from methods.core.pooling import masked_mean
from methods.core.types import Row
from methods.sg_opt import objective
from tests.methods.sg_opt.sample import BACK_TRANSLATION, PAPER, RELEASED
from tests.support import tiny

PLAIN = {**PAPER, "freeze_embeddings": True}


def ready(backbone: Path, config: dict[str, Any], rows: list[Row] | None = None) -> tuple[Any, Any]:
    sample = tiny.Sample("sg-opt", "here", config)
    method = tiny.build(sample, backbone, parent=None, pooling="cls").train()
    return method, tiny.batch_of(method, corpus=rows)


def test_the_frozen_copy_gives_the_masked_mean_of_every_layer(backbone: Path) -> None:
    method, batch = ready(backbone, PLAIN)
    found = method.frozen(batch["anchor"])
    with torch.no_grad():
        output = method.frozen.module.encoder.backbone(**batch["anchor"], output_hidden_states=True)
    mask = batch["anchor"]["attention_mask"]
    expected = torch.stack([masked_mean(state, mask) for state in output.hidden_states], dim=1)
    assert found.shape == (6, 3, 16)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)


def test_the_total_is_the_contrast_plus_lambda_times_the_distance(backbone: Path) -> None:
    method, batch = ready(backbone, PLAIN)
    for part in method.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    loss = method.loss(batch)
    anchors = method.head(method.encoder(batch["anchor"]))
    layers = method.head(method.frozen(batch["anchor"]))
    expected = objective.layer_contrast(anchors, layers, temperature=0.01)
    torch.testing.assert_close(loss.total, expected)
    with torch.no_grad():
        method.encoder.backbone.encoder.layer[0].output.dense.bias[3] += 0.5
    moved = method.loss(batch)
    assert moved.parts["distance"].item() == pytest.approx(0.25, rel=1e-6)
    torch.testing.assert_close(moved.total, moved.parts["contrast"] + 0.1 * moved.parts["distance"])


def test_embeddings_are_frozen_and_layers_and_head_are_trained(backbone: Path) -> None:
    method, batch = ready(backbone, RELEASED)
    method.loss(batch).total.backward()
    for name, value in method.named_parameters():
        assert (value.grad is None) == (".embeddings." in name), name
        assert value.requires_grad == (".embeddings." not in name), name


def test_the_layer_vectors_train_the_head(backbone: Path) -> None:
    """With the anchors held constant the head still gets a gradient: it appears on both sides."""
    method, batch = ready(backbone, PLAIN)
    layers = method.head(method.frozen(batch["anchor"]))
    anchors = method.head(method.encoder(batch["anchor"])).detach()
    objective.layer_contrast(anchors, layers, temperature=0.01).backward()
    assert all(bool(value.grad.any()) for value in method.head.parameters())
    assert all(value.grad is None for value in method.encoder.parameters())


@pytest.mark.parametrize("active", [True, False])
def test_dropout_of_the_frozen_copy_is_as_stated_whatever_the_mode(backbone: Path, active: bool) -> None:
    method, batch = ready(backbone, {**RELEASED, "frozen_dropout": active})
    method.eval()
    method.train()
    first, second = method.frozen(batch["anchor"]), method.frozen(batch["anchor"])
    assert torch.equal(first, second) is not active


def test_a_layer_is_drawn_anew_for_each_sentence_and_step(backbone: Path) -> None:
    method, _ = ready(backbone, {**PLAIN, "objective": "opt2"})
    drawn = torch.stack([tiny.batch_of(method, 24, step=step)["layer"] for step in range(20)])
    assert set(drawn.unique().tolist()) == {0, 1, 2}
    assert not torch.equal(drawn[0], drawn[1])
    counts = torch.bincount(drawn.flatten(), minlength=3) / drawn.numel()
    torch.testing.assert_close(counts, torch.full((3,), 1 / 3), rtol=0, atol=0.1)


def test_a_back_translation_equal_to_its_text_has_the_largest_cosine(backbone: Path) -> None:
    """Without dropout both sides are one vector: positive logits are 1 / tau."""
    rows = [row._replace(augmentations=(row.text,)) for row in tiny.rows()]
    method, batch = ready(backbone, BACK_TRANSLATION, rows)
    method.eval()
    first, second = method.head(method.encoder(batch["pair"])).chunk(2)
    cosines = torch.nn.functional.cosine_similarity(first, second)
    torch.testing.assert_close(cosines, torch.ones(6), rtol=0, atol=1e-5)
    expected = objective.symmetric_contrast(first, second, temperature=0.01)
    torch.testing.assert_close(method.contrast(batch), expected)


def test_the_head_is_two_wide_layers_with_exact_gelu_on_both_and_is_not_exported(backbone: Path) -> None:
    method, _ = ready(backbone, PLAIN)
    vector = torch.randn(2, 16)
    first, _, second, _ = method.head
    expected = torch.nn.functional.gelu(second(torch.nn.functional.gelu(first(vector))))
    torch.testing.assert_close(method.head(vector), expected)
    assert sum(value.numel() for value in method.head.parameters()) == 16 * 24 + 24 + 24 * 24 + 24
    assert method.exported() is method.encoder


def test_a_layer_beyond_the_backbone_is_refused_in_one_line(backbone: Path) -> None:
    with pytest.raises(InputError, match=r"layers 0 to 4 of a backbone with 3 hidden states; expected"):
        ready(backbone, {**PLAIN, "last_layer": 4})
