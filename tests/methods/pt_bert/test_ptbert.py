"""PT-BERT as a method: what learns, what the key side reads, what is exported, what the recipe declares."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from methods.core.losses import info_nce
from methods.core.types import Batch
from tests.methods.pt_bert.sample import PAPER, RELEASED
from tests.support import tiny
from tests.support.tiny import Sample


def build(backbone: Path, config: Any, method: str = "pt-bert") -> Any:
    made = tiny.build(Sample(method, "", config), backbone, parent=None, pooling="cls").train()
    made.prepare(tiny.rows())
    return made


def batch_of(method: Any, size: int = 8) -> Batch:
    return tiny.collate(method, tiny.rows()[:size])


@pytest.mark.parametrize("attention", ["online", "momentum"])
def test_the_key_side_reads_the_stated_weights_in_its_second_attention(
    backbone: Path, attention: str
) -> None:
    """With a momentum value layer of zeros attention 1 gives 0, so the key is the trained b_V, or 0."""
    config = {**PAPER, "key_second_attention": attention, "pseudo_dropout": 0.0}
    method = build(backbone, config)
    torch.nn.init.zeros_(method.key_block.value.weight)
    torch.nn.init.zeros_(method.key_block.value.bias)
    keys = method.keys(batch_of(method)["anchor"])
    expected = method.block.value.bias if attention == "online" else torch.zeros(16)
    torch.testing.assert_close(keys, expected.expand_as(keys))


def test_trained_weights_used_on_the_key_side_get_no_gradient_there(backbone: Path) -> None:
    """The released key side reads the trained second attention; keys are constants there."""
    method = build(backbone, RELEASED)
    tokens, trained = batch_of(method)["anchor"], list(method.block.value.parameters())
    torch.manual_seed(4)
    got = torch.autograd.grad(method.loss({"anchor": tokens}).total, trained)
    torch.manual_seed(4)
    queries, keys = method.queries(tokens), method.keys(tokens)
    assert keys.requires_grad
    constant = torch.autograd.grad(
        info_nce(queries, keys.detach(), temperature=0.05), trained, retain_graph=True
    )
    leaking = torch.autograd.grad(info_nce(queries, keys, temperature=0.05), trained)
    torch.testing.assert_close(got, constant)
    assert (leaking[0] - constant[0]).abs().max() > 0.01 * constant[0].abs().max()


def test_the_block_starts_equal_on_both_sides_and_the_key_side_follows(backbone: Path) -> None:
    """The trained layer is raised by 1; momentum 0.25 takes the key layer up by 0.75 of it."""
    method = build(backbone, {**RELEASED, "momentum": 0.25})
    start = method.block.value.weight.detach().clone()
    assert torch.equal(method.key_block.value.weight, start)
    with torch.no_grad():
        method.block.value.weight.add_(1.0)
    method.after_step(0)
    torch.testing.assert_close(method.block.value.weight, start + 1.0)
    torch.testing.assert_close(method.key_block.value.weight, start + 0.75)


def test_the_exported_output_is_the_block_of_the_vector_without_dropout(backbone: Path) -> None:
    method = build(backbone, {**RELEASED, "export": "output"})
    texts = ["the man runs", "a dog sleeps under the tree"]
    pooled = torch.from_numpy(method.encoder.encode(texts))
    expected = method.block.eval()(pooled).detach().numpy()
    np.testing.assert_allclose(method.exported().encode(texts), expected, rtol=1e-4, atol=1e-6)
