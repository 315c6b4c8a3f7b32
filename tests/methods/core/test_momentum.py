"""Momentum contrast, tested with MoCo: keys, moving averages, and gradients."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from methods.core.losses import info_nce
from methods.core.momentum import MomentumContrast, ema_update, reset_weights
from methods.core.types import Batch
from tests.methods.moco.sample import RELEASED
from tests.methods.simcse.sample import SAMPLES
from tests.support import tiny
from tests.support.tiny import Sample

SIMCSE = SAMPLES[0]
PRETRAINED = {**RELEASED, "momentum_start": "backbone"}


def build(backbone: Path, config: Any, method: str = "moco", seed: int = 3) -> Any:
    made = tiny.build(Sample(method, "", config), backbone, parent=None, seed=seed, pooling="cls").train()
    made.prepare(tiny.rows())
    return made


def batch_of(method: MomentumContrast, size: int = 4, first: int = 0) -> Batch:
    return tiny.collate(method, tiny.rows()[first : first + size])


@pytest.mark.parametrize(
    ("size", "holds_batch", "expected"),
    [
        (16, False, [4, 8, 12, 16, 20, 20, 20]),
        (16, True, [4, 8, 12, 16, 16, 16]),
        (4, True, [4, 4, 4]),
        (0, False, [4, 4, 4]),
    ],
)
def test_keys_per_query_grow_with_the_queue(
    backbone: Path, size: int, holds_batch: bool, expected: list[int]
) -> None:
    """Batches of 4: a queue of four batches gives 20 keys with the batch on top, 16 with it inside."""
    method = build(backbone, {**RELEASED, "queue_size": size, "queue_holds_batch": holds_batch})
    counted = [int(method.loss(batch_of(method)).parts["keys"]) for _ in expected]
    assert counted == expected


def test_keys_are_from_the_present_batch_and_the_newest_steps(backbone: Path) -> None:
    """Momentum 1 and no dropout make keys a function of the sentences alone, so they can be recomputed."""
    method = build(backbone, {**PRETRAINED, "momentum": 1.0, "queue_size": 8, "key_dropout": False})
    batches = [batch_of(method, first=4 * step) for step in range(4)]
    for batch in batches[:3]:
        method.loss(batch)
        method.after_step(0)
    expected = torch.cat([method.keys(batch["anchor"]) for batch in batches[1:3]])
    torch.testing.assert_close(method.earlier_keys(4), expected)
    torch.manual_seed(0)
    queries = method.queries(batches[3]["anchor"])
    wanted = info_nce(queries, method.keys(batches[3]["anchor"]), temperature=0.05, negatives=expected)
    torch.manual_seed(0)
    torch.testing.assert_close(method.loss(batches[3]).total, wanted)


def test_equal_keys_give_the_logarithm_of_their_number(backbone: Path) -> None:
    """A key head with zero weights makes all keys equal: ln 4 first, ln 20 with four batches queued."""
    method = build(backbone, {**PRETRAINED, "momentum": 1.0, "queue_size": 16})
    torch.nn.init.zeros_(method.key_head.dense.weight)
    torch.nn.init.ones_(method.key_head.dense.bias)
    losses = [method.loss(batch_of(method)).total.item() for _ in range(5)]
    assert losses == pytest.approx([math.log(4 * step) for step in range(1, 6)], abs=1e-5)


def test_the_key_side_has_no_gradient_and_later_changes_do_not_reach_the_graph(backbone: Path) -> None:
    """Weights of the key side are overwritten between forward and backward: online gradients are the same."""
    gradients = []
    for disturb in (False, True):
        method = build(backbone, PRETRAINED)
        torch.manual_seed(5)
        loss = method.loss(batch_of(method)).total
        if disturb:
            torch.nn.init.ones_(method.key_encoder.backbone.embeddings.word_embeddings.weight)
            method.queue.ring.fill_(9.0)
        loss.backward()
        assert all(
            p.grad is None for part in (method.key_encoder, method.key_head) for p in part.parameters()
        )
        gradients.append([p.grad for p in method.parameters() if p.requires_grad])
    assert len(gradients[0]) > 30
    assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))


def test_the_moving_average_follows_the_weights_after_the_optimiser_for_moco_too(
    backbone: Path, tmp_path: Path
) -> None:
    """Momentum 0 copies: after training both sides are equal, and not equal to the start."""
    method = build(backbone, {**RELEASED, "momentum": 0.0})
    start = [parameter.detach().clone() for parameter in method.encoder.parameters()]
    tiny.trainer(method, tmp_path, steps=3).fit(tiny.rows())
    assert distance(method) == 0
    assert torch.equal(method.key_head.dense.weight, method.head.dense.weight)
    assert not torch.equal(start[0], next(method.encoder.parameters()))


def distance(method: Any) -> float:
    pairs = zip(method.key_encoder.parameters(), method.encoder.parameters(), strict=True)
    return max((key - query).abs().max().item() for key, query in pairs)


def test_the_key_encoder_starts_as_the_backbone_or_untrained_and_catches_up(backbone: Path) -> None:
    assert distance(build(backbone, PRETRAINED)) == 0
    method = build(backbone, RELEASED)
    start = distance(method)
    assert start > 0.1
    for step in range(100):
        method.after_step(step)
    assert 0 < distance(method) < 1e-5 * start + 1e-7


def test_momentum_zero_without_queue_is_simcse_with_the_second_view_detached(backbone: Path) -> None:
    """The same two dropout masks, drawn pass by pass: equal loss, gradient through the first view only."""
    limit = build(backbone, {**PRETRAINED, "momentum": 0.0, "queue_size": 0})
    simcse = build(backbone, SIMCSE.config, "simcse")
    simcse.load_state_dict({name: limit.state_dict()[name] for name in simcse.state_dict()})
    tokens = batch_of(limit)["anchor"]
    torch.manual_seed(11)
    loss = limit.loss({"anchor": tokens}).total
    torch.manual_seed(11)
    first = simcse.head(simcse.encoder(tokens))
    second = simcse.head(simcse.encoder(tokens))
    whole = info_nce(first, second, temperature=0.05)
    half = info_nce(first, second.detach(), temperature=0.05)
    assert loss.item() == whole.item()
    loss.backward()
    got = limit.head.dense.weight.grad
    (detached,) = torch.autograd.grad(half, simcse.head.dense.weight, retain_graph=True)
    (full,) = torch.autograd.grad(whole, simcse.head.dense.weight)
    torch.testing.assert_close(got, detached, rtol=1e-5, atol=1e-7)
    assert (got - full).abs().max() > 0.01 * full.abs().max()


@pytest.mark.parametrize("active", [True, False])
def test_dropout_of_the_key_side_follows_the_setting_in_either_mode(backbone: Path, active: bool) -> None:
    method = build(backbone, {**PRETRAINED, "key_dropout": active})
    tokens = batch_of(method)["anchor"]
    for mode in (True, False):
        method.train(mode)
        assert torch.equal(method.keys(tokens), method.keys(tokens)) is not active


@pytest.mark.parametrize(("updates", "left"), [(1, 0.885), (10, 0.2947), (40, 0.007546)])
def test_n_updates_leave_momentum_to_the_n_of_the_start(updates: int, left: float) -> None:
    """key_n = left key_0 + (1 - left) query with left = 0.885^n: from 4 towards 2 it is 2 + 2 left."""
    key, query = nn.ParameterList([torch.tensor(4.0)]), nn.ParameterList([torch.tensor(2.0)])
    for _ in range(updates):
        ema_update(key, query, momentum=0.885)
    assert key[0].item() == pytest.approx(2 + 2 * left, rel=1e-4)
    assert query[0].item() == 2.0


def test_reset_weights_have_the_spread_of_a_new_bert() -> None:
    torch.manual_seed(0)
    words, dense, norm = nn.Embedding(300, 40, padding_idx=0), nn.Linear(200, 200), nn.LayerNorm(8)
    nn.init.constant_(norm.weight, 5.0)
    reset_weights(nn.ModuleList([words, dense, norm, nn.Linear(4, 4, bias=False)]), sd=0.02)
    assert dense.weight.std().item() == pytest.approx(0.02, rel=0.02)
    assert words.weight[1:].std().item() == pytest.approx(0.02, rel=0.03)
    assert not words.weight[0].any()
    assert not dense.bias.any()
    assert norm.weight.unique().tolist() == [1.0]
