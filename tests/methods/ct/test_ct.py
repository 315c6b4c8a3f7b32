"""Contrastive tension: losses for given vectors, pairs of sentences, and the two networks."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from methods.core.errors import InputError
from methods.core.losses import info_nce
from methods.ct import objective
from methods.ct.method import pair_up
from tests.methods.ct.sample import PAPER, RELEASED, SAMPLES, SBERT
from tests.support import tiny
from tests.support.tiny import batch_of
from tests.support.vectors import assert_equal_with_gradients, drawn


def made(backbone: Path, config: dict[str, Any] = RELEASED) -> Any:
    return tiny.changed(SAMPLES[0], backbone, **config)


def test_tension_has_its_worked_values() -> None:
    """z = 1, 0, 2, y = 1, 0, 0: (log(1 + e^-1) + log 2 + log(1 + e^2)) / 3; dL/dz = (sigmoid(z) - y) / 3."""
    first = torch.tensor([[1, 0], [1, 1], [0, 2]], dtype=torch.float64)
    second = torch.tensor([[1, 1], [1, -1], [1, 1]], dtype=torch.float64)
    assert objective.scores(first, second).tolist() == [1, 0, 2]
    loss = objective.tension(first.requires_grad_(), second, torch.tensor([1, 0, 0]))
    assert loss.item() == pytest.approx(1.044446, abs=5e-7)
    (slope,) = torch.autograd.grad(loss, first)
    dz = torch.tensor([-0.089647, 0.166667, 0.293599], dtype=torch.float64)
    torch.testing.assert_close(slope, dz[:, None] * second, rtol=0, atol=6e-7)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_tension_and_gradients_equal_the_loop(reduction: objective.Reduction) -> None:
    first, second, same = drawn(6, 4, seed=0), drawn(6, 4, seed=1), torch.tensor([1, 0, 0, 1, 0, 0])
    fast = objective.tension(first, second, same, reduction=reduction)
    slow = first.new_zeros(())
    for left, right, label in zip(first, second, same, strict=True):
        chance = 1 / (1 + (-(left * right).sum()).exp())
        slow = slow - (chance.log() if label else (1 - chance).log())
    slow = slow / (6 if reduction == "mean" else 1)
    assert_equal_with_gradients(fast, slow, [first, second])


def test_in_batch_tension_is_the_mean_of_both_directions() -> None:
    first, second = drawn(5, 3, seed=2), drawn(5, 3, seed=3)
    scale = torch.tensor(20.0, dtype=torch.float64, requires_grad=True)
    actual = objective.in_batch_tension(first, second, scale=scale)
    both = info_nce(first, second, temperature=0.05) + info_nce(second, first, temperature=0.05)
    torch.testing.assert_close(actual, both / 2, rtol=0, atol=1e-10)
    assert torch.autograd.grad(actual, scale)[0].abs() > 0


def test_in_batch_tension_of_dot_products_is_this() -> None:
    """Dots of (1, 0), (0, 2) with (1, 1), (0, 3) are 1, 0 and 2, 6, times one half.

    Rows: log(1 + e^-.5) = 0.474077, log(1 + e^-2) = 0.126928; columns: log(1 + e^.5) = 0.974077,
    log(1 + e^-3) = 0.048587. Their means 0.300502 and 0.511332, whose mean is 0.405917.
    """
    first, second = torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.tensor([[1.0, 1.0], [0.0, 3.0]])
    scale = torch.tensor(0.5)
    actual = objective.in_batch_tension(first, second, scale=scale, similarity="dot")
    assert actual.item() == pytest.approx(0.405917, abs=1e-6)


def test_pairs_of_two_groups_are_these() -> None:
    """k = 2: sentences 0 to 4 are one group, 5 to 9 the next; anchored 0 to 2, 3 to 5. One is left over."""
    two = [[0, 1, 2, 5, 6, 7], [0, 3, 4, 5, 8, 9], [1, 0, 0, 1, 0, 0]]
    assert [part.tolist() for part in pair_up(11, kind="two-random", negatives=2)] == two
    anchored = [[0, 0, 0, 3, 3, 3], [0, 1, 2, 3, 4, 5], [1, 0, 0, 1, 0, 0]]
    assert [part.tolist() for part in pair_up(7, kind="anchored", negatives=2)] == anchored
    alone = [[0, 1, 2], [0, 1, 2], [1, 1, 1]]
    assert [part.tolist() for part in pair_up(3, kind="in-batch", negatives=0)] == alone


def test_a_batch_that_holds_no_group_is_refused_in_one_line() -> None:
    with pytest.raises(InputError, match=r"14 sentences in a batch, expected at least 15.*multiple of 15"):
        pair_up(14, kind="two-random", negatives=7)


def test_drawn_sentences_come_from_the_whole_corpus_and_the_rows_do_not_matter(backbone: Path) -> None:
    method = made(backbone)
    first, other = batch_of(method, 7), batch_of(method, 7, start=10)
    assert torch.equal(first["first"]["input_ids"], other["first"]["input_ids"])
    pieces = {piece for row in method.token_ids(tiny.rows()[:7]) for piece in row.tolist()}
    assert set(first["second"]["input_ids"].unique().tolist()) - pieces - {0}
    passing = made(backbone, SBERT)
    ids = [row.tolist() for row in passing.token_ids(list(passing.prepare(tiny.rows()))[10:17])]
    read = batch_of(passing, 7, start=10)["second"]
    lengths = read["attention_mask"].sum(dim=1).tolist()
    shown = [row[:length] for row, length in zip(read["input_ids"].tolist(), lengths, strict=True)]
    assert shown == [ids[0], *ids[4:]]


def test_the_networks_are_equal_before_training_and_learn_apart(backbone: Path, tmp_path: Path) -> None:
    method = made(backbone)
    batch = batch_of(method, 7)
    torch.testing.assert_close(method.encoder(batch["first"]), method.second(batch["first"]))
    tiny.trainer(method, tmp_path, steps=2, batch_size=7).fit(tiny.rows())
    assert not torch.allclose(method.encoder(batch["first"]), method.second(batch["first"]), atol=1e-4)


def test_dev_decides_between_the_networks_only_where_the_setting_says(backbone: Path) -> None:
    method = made(backbone)
    assert [*method.candidates()] == [method.encoder, method.second]
    paper = made(backbone, PAPER)
    assert [*paper.candidates()] == [paper.second] == [paper.exported()]


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_the_scale_of_the_similarity_begins_at_its_setting(
    backbone: Path, similarity: objective.Similarity
) -> None:
    """In-batch pairs with a scale of 20: the loss is over both networks' vectors times 20."""
    config = {**SAMPLES[3].config, "dropout": 0.0, "similarity": similarity}
    method = made(backbone, config)
    batch = batch_of(method, 4)
    loss = method.loss(batch)
    assert loss.parts["scale"].item() == pytest.approx(20.0)
    first, second = method.encoder(batch["first"]), method.second(batch["second"])
    expected = objective.in_batch_tension(first, second, scale=torch.tensor(20.0), similarity=similarity)
    torch.testing.assert_close(loss.total, expected)


def test_the_logged_scores_are_means_over_the_pairs_of_their_kind(backbone: Path) -> None:
    """Two groups of seven pairs with other weights in the second network: sums and counts in a loop.

    The first sentences go to the first network and the second ones to the second.
    """
    method = made(backbone, SBERT | {"dropout": 0.0})
    with torch.no_grad():
        for value in method.second.backbone.parameters():
            value.mul_(1.1)
    batch = batch_of(method, 14)
    loss = method.loss(batch)
    first, second = method.encoder(batch["first"]), method.second(batch["second"])
    z = (first * second).sum(dim=1).tolist()
    same = [score for score, label in zip(z, batch["same"].tolist(), strict=True) if label]
    random = [score for score, label in zip(z, batch["same"].tolist(), strict=True) if not label]
    assert (len(same), len(random)) == (2, 6)
    assert loss.parts["score_same"].item() == pytest.approx(sum(same) / 2, rel=1e-5)
    assert loss.parts["score_random"].item() == pytest.approx(sum(random) / 6, rel=1e-5)
    losses = [math.log1p(math.exp(-score)) for score in same] + [math.log1p(math.exp(s)) for s in random]
    assert loss.total.item() == pytest.approx(sum(losses), rel=1e-5), "the sum, as the setting says"


def test_each_sentence_of_the_corpus_is_drawn_the_last_one_included(backbone: Path) -> None:
    """Of three sentences seven are drawn a step, as many as there are rows in the step."""
    method, rows = made(backbone), tiny.rows()[:3]
    method.prepare(rows)
    every = {tuple(ids.tolist()) for ids in method.token_ids(list(method.drawn_from))}
    drawn: set[tuple[int, ...]] = set()
    for step in range(6):
        read = tiny.collate(method, [*method.drawn_from, *method.drawn_from, method.drawn_from[0]], step=step)
        assert len(read["same"]) == 4
        lengths = read["second"]["attention_mask"].sum(dim=1).tolist()
        drawn |= {
            tuple(ids[:length])
            for ids, length in zip(read["second"]["input_ids"].tolist(), lengths, strict=True)
        }
    assert drawn == every


def test_the_dropout_setting_applies_to_both_networks(backbone: Path) -> None:
    """The backbone's own rate is not zero; with null both keep it."""
    for config, expected in ((RELEASED, True), (SBERT, False)):
        method = made(backbone, config)
        tokens = batch_of(method, 7)["first"]
        for network in (method.encoder, method.second):
            assert torch.equal(network(tokens), network(tokens)) == expected


def test_a_batch_of_exactly_one_group_is_read() -> None:
    first, second, same = pair_up(15, kind="two-random", negatives=7)
    assert (len(first), first.max(), second.max(), same.sum()) == (8, 7, 14, 1)


def test_dot_products_of_half_precision_are_added_in_single_precision() -> None:
    """2,048 ones and a one in bf16: a sum in bf16 would stay at 2,048."""
    ones = torch.ones(1, 2049, dtype=torch.bfloat16)
    score = objective.scores(ones, ones)
    assert score.dtype == torch.float32
    assert score.item() == 2049
