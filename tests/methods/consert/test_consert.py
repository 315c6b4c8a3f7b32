"""ConSERT: what its views are to the encoder, which weights learn, and what is watched and exported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from methods.consert.method import ConSERT
from methods.consert.objective import two_sides
from methods.core.folders import load_encoder
from methods.core.losses import nt_xent
from methods.core.networks import Networks
from tests.methods.consert.sample import PAPER, RELEASED
from tests.support import tiny

NONE = {**RELEASED, "first_view": "none", "second_view": "none"}


def ready(backbone: Path, config: dict[str, Any], pooling: str = "mean") -> tuple[Any, Any]:
    method = tiny.build(tiny.Sample("consert", "here", config), backbone, parent=None, pooling=pooling)
    method.train()
    return method, tiny.batch_of(method)


def test_views_without_edits_and_dropout_are_equal_and_still_train(backbone: Path) -> None:
    method, batch = ready(backbone, NONE)
    first, second = method.vectors(batch)
    assert set(batch) == {"pair"}
    torch.testing.assert_close(first, second, rtol=0, atol=1e-6)
    method.loss(batch).total.backward()
    assert any(bool(value.grad.abs().max() > 1e-6) for value in method.parameters() if value.grad is not None)


def test_positions_and_factors_of_the_batch_reach_the_encoder(backbone: Path) -> None:
    """The first view is cut and in order, the second whole and shuffled."""
    method, batch = ready(backbone, RELEASED)
    first, second = method.vectors(batch)
    order = torch.arange(batch["positions"].shape[1]).expand(6, -1)
    tokens = {name: rows[:6] for name, rows in batch["pair"].items()}
    cut = method.encoder(tokens, position_ids=order, embedding_factors=batch["factors"][:6])
    moved = method.encoder(tokens, position_ids=batch["positions"][6:])
    torch.testing.assert_close(first, cut, rtol=0, atol=1e-5)
    torch.testing.assert_close(second, moved, rtol=0, atol=1e-5)
    plain = method.encoder(tokens)
    assert not torch.allclose(first, plain, atol=1e-3)
    assert not torch.allclose(second, plain, atol=1e-3)


def test_cutting_below_the_norm_is_another_edit_than_above_it(backbone: Path) -> None:
    above, batch = ready(backbone, {**RELEASED, "second_view": "token-cutoff", "token_rate": 0.4})
    below, same = ready(backbone, {**PAPER, "second_view": "token-cutoff", "token_rate": 0.4})
    assert torch.equal(batch["factors"], same["factors"])
    one, other = above.vectors(batch)[1], below.vectors(same)[1]
    assert not torch.allclose(one, other, atol=1e-3)
    words = below.encoder.backbone.get_input_embeddings()(same["pair"]["input_ids"])
    expected = below.encoder(same["pair"], inputs_embeds=words * same["factors"])
    torch.testing.assert_close(torch.cat(below.vectors(same)), expected)


@pytest.mark.parametrize(("config", "factor"), [(RELEASED, 0.3), (PAPER, 1.0)])
def test_the_released_weight_is_three_tenths_of_the_papers_mean(
    backbone: Path, config: dict[str, Any], factor: float
) -> None:
    method, batch = ready(backbone, config)
    first, second = method.vectors(batch)
    loss = method.loss(batch)
    torch.testing.assert_close(loss.total, factor * nt_xent(first, second, temperature=0.1))
    torch.testing.assert_close(loss.parts["contrast"], two_sides(first, second, temperature=0.1).detach())


def test_the_backbones_dropout_is_off_or_as_it_is(backbone: Path) -> None:
    for config, rates in ((RELEASED, {0.0}), ({**RELEASED, "dropout": None}, {0.1})):
        method, _ = ready(backbone, config)
        found = {part.p for part in method.modules() if isinstance(part, torch.nn.Dropout)}
        assert found == rates


@pytest.mark.parametrize(("positions", "first"), [("backbone", 2), ("from-zero", 0)])
def test_with_roberta_shuffled_positions_start_behind_the_padding_or_at_zero(
    tmp_path: Path, positions: str, first: int
) -> None:
    from transformers import AutoTokenizer, RobertaConfig, RobertaModel

    folder = tiny.write_backbone(tmp_path / "bert")
    config = RobertaConfig(
        vocab_size=200, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=64, pad_token_id=1,
    )  # fmt: skip
    RobertaModel(config).save_pretrained(tmp_path / "roberta")
    AutoTokenizer.from_pretrained(folder, trust_remote_code=False).save_pretrained(tmp_path / "roberta")
    method = ConSERT(
        ConSERT.Config.model_validate({**RELEASED, "positions": positions}),
        Networks(tmp_path / "roberta", pooling="mean"),
    )
    batch = tiny.batch_of(method, 4)
    assert batch["positions"][:4].min() == 2
    assert batch["positions"][4:].min() == first
    assert torch.isfinite(method.loss(batch).total)


def test_weights_are_selected_by_the_mean_and_exported_with_the_runs_pooling(
    backbone: Path, tmp_path: Path
) -> None:
    method, _ = ready(backbone, RELEASED, pooling="last-two-avg")
    texts = ["the man runs", "a cat sleeps under the tree"]
    (watched,), exported = method.watched(), method.exported()
    assert (watched.pooling, exported.pooling) == ("mean", "last-two-avg")
    assert exported.backbone is method.encoder.backbone
    assert not np.allclose(watched.encode(texts), exported.encode(texts), atol=1e-3)
    exported.save(tmp_path / "folder")
    assert json.loads((tmp_path / "folder/sentbench.json").read_text())["pooling"] == "last-two-avg"
    np.testing.assert_array_equal(load_encoder(tmp_path / "folder").encode(texts), exported.encode(texts))
