"""ConSERT: objective, augmentations, views in the encoder, watched and exported encoders."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from methods.consert.method import (
    ConSERT,
    element_cutoff,
    feature_cutoff,
    one_side,
    plain_positions,
    shuffled_positions,
    token_cutoff,
    two_sides,
)
from methods.core.losses import nt_xent
from methods.core.networks import Networks
from tests.methods.consert.sample import PAPER, RELEASED, SAMPLES
from tests.support import tiny
from tests.support.vectors import assert_equal_with_gradients, cosine, drawn

NONE = {**RELEASED, "first_view": "none", "second_view": "none"}


def ready(backbone: Path, config: dict[str, Any], pooling: str = "mean") -> tuple[Any, Any]:
    method = tiny.changed(SAMPLES[0], backbone, pooling=pooling, **config)
    return method, tiny.batch_of(method)


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


def test_cutting_below_the_norm_is_another_edit_than_above_it(backbone: Path) -> None:
    above, batch = ready(backbone, {**RELEASED, "second_view": "token-cutoff", "token_rate": 0.4})
    below, same = ready(backbone, {**PAPER, "second_view": "token-cutoff", "token_rate": 0.4})
    assert torch.equal(batch["factors"], same["factors"])
    first, second = above.vectors(batch)[1], below.vectors(same)[1]
    assert not torch.allclose(first, second, atol=1e-3)
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
        actual = {part.p for part in method.modules() if isinstance(part, torch.nn.Dropout)}
        stated = method.encoder.backbone.config
        assert actual == {stated.hidden_dropout_prob, stated.attention_probs_dropout_prob} == rates


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


def test_weights_are_selected_by_the_mean_and_exported_with_the_runs_pooling(backbone: Path) -> None:
    method, _ = ready(backbone, RELEASED, pooling="last-two-avg")
    texts = ["the man runs", "a cat sleeps under the tree"]
    (watched,), exported = method.watched(), method.exported()
    assert (watched.pooling, exported.pooling) == ("mean", "last-two-avg")
    assert exported.backbone is method.encoder.backbone
    assert not np.allclose(watched.encode(texts), exported.encode(texts), atol=1e-3)


BATCH, WIDTH, TEMPERATURE = 5, 7, 0.1


def test_two_orthogonal_sentences_are_worked_by_hand() -> None:
    """Views equal, sentences orthogonal, tau = 1: three terms e, 1, 1 per anchor; twice log(e + 2) - 1."""
    vectors = torch.eye(2, dtype=torch.float64)
    expected = 2 * (math.log(math.e + 2) - 1)
    assert two_sides(vectors, vectors, temperature=1.0).item() == pytest.approx(expected, abs=1e-12)
    assert one_side(vectors, vectors, temperature=1.0).item() == pytest.approx(expected / 2, abs=1e-12)


def slow(first: Tensor, second: Tensor) -> Tensor:
    """The sum over both views of the mean over anchors, every exponential written out."""
    total = torch.zeros((), dtype=torch.float64)
    for anchors, candidates in ((first, second), (second, first)):
        for i in range(len(anchors)):
            terms = [(cosine(anchors[i], candidates[j]) / TEMPERATURE).exp() for j in range(len(anchors))]
            terms += [
                (cosine(anchors[i], anchors[j]) / TEMPERATURE).exp() for j in range(len(anchors)) if j != i
            ]
            total = total + (
                torch.stack(terms).sum().log() - cosine(anchors[i], candidates[i]) / TEMPERATURE
            ) / len(anchors)
    return total


def test_value_and_gradients_equal_the_loop() -> None:
    first, second = drawn(BATCH, WIDTH, seed=0), drawn(BATCH, WIDTH, seed=1)
    fast = two_sides(first, second, temperature=TEMPERATURE)
    assert_equal_with_gradients(fast, slow(first, second), (first, second))


def test_the_sum_is_twice_nt_xent_with_equal_gradients() -> None:
    first, second = drawn(BATCH, WIDTH, seed=0), drawn(BATCH, WIDTH, seed=1)
    ours = two_sides(first, second, temperature=TEMPERATURE)
    theirs = 2 * nt_xent(first, second, temperature=TEMPERATURE)
    assert_equal_with_gradients(ours, theirs, (first, second), atol=1e-12)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("length", "rate", "zeros"), [(8, 0.15, 1), (4, 0.15, 0), (3, 0.5, 1), (10, 0.5, 5)])
def test_a_token_cutoff_zeroes_the_whole_part_of_the_share_anywhere(
    length: int, rate: float, zeros: int
) -> None:
    positions = set()
    for seed in range(80):
        factors = token_cutoff([length, 12], rate=rate, rng=rng(seed))
        assert factors.shape == (2, 12, 1)
        assert (factors[0] == 0).sum() == zeros
        assert bool((factors[0, length:] == 1).all())
        positions |= set((factors[0, :, 0] == 0).nonzero().flatten().tolist())
    assert positions == (set(range(length)) if zeros else set())


def test_a_feature_cutoff_zeroes_the_same_features_in_every_row_and_others_elsewhere() -> None:
    """16 features at rate 0.2 lose 3; 768 lose 153."""
    factors = feature_cutoff(6, 16, rate=0.2, rng=rng())
    assert factors.shape == (6, 1, 16)
    assert (factors == 0).sum(dim=-1).flatten().tolist() == [3] * 6
    assert len({tuple(row.flatten().tolist()) for row in factors}) > 1
    assert (feature_cutoff(1, 768, rate=0.2, rng=rng()) == 0).sum() == 153


def test_the_exact_element_view_zeroes_a_count_and_keeps_the_size_of_the_rest() -> None:
    """8 tokens of 16 numbers at rate 0.2: 25 zeros, all others 1; padding is left alone."""
    factors = element_cutoff([8, 11], 16, rate=0.2, form="exact-count", rng=rng())
    assert factors.shape == (2, 11, 16)
    assert (factors[0] == 0).sum() == 25
    assert set(factors.unique().tolist()) == {0.0, 1.0}
    assert bool((factors[0, 8:] == 1).all())


def test_the_drawn_element_view_is_dropout_with_its_rescaling() -> None:
    """20,000 numbers: share 0.2 within 0.015 (five deviations), the others 1.25, their mean near 1."""
    factors = element_cutoff([200], 100, rate=0.2, form="bernoulli", rng=rng())
    assert (factors == 0).float().mean().item() == pytest.approx(0.2, abs=0.015)
    assert set(factors.unique().tolist()) == {0.0, 1.25}


@pytest.mark.parametrize("first", [0, 2])
def test_shuffled_positions_are_a_permutation_of_the_real_tokens_places(first: int) -> None:
    lengths, orders = [5, 9, 1], set()
    for seed in range(20):
        positions = shuffled_positions(lengths, first=first, rng=rng(seed))
        plain = plain_positions(3, 9, first=first)
        for row, length in enumerate(lengths):
            assert sorted(positions[row, :length].tolist()) == list(range(first, first + length))
            assert torch.equal(positions[row, length:], plain[row, length:])
        orders.add(tuple(positions[0].tolist()))
    assert len(orders) > 10
    assert any(order[0] != first for order in orders)
