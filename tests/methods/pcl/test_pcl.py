"""PCL's views, of tokens or words, and its networks: initial equality, training, padding."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
import torch
from torch import Tensor

from methods.core.batching import encode_in_groups, pad_in_groups
from methods.core.checkpoints import load_backbone
from methods.core.errors import InputError
from methods.core.rows import Row
from methods.core.types import Batch
from methods.pcl.config import PCLConfig
from methods.pcl.method import PCL, continuing_pieces, edit_words, positive_edits
from tests.methods.pcl.sample import PAPER, PLAIN_PEER, RELEASED, SAMPLES
from tests.support import tiny
from tests.support.tiny import batch_of

Make = Callable[..., Any]
DIVERGENCES = ("kl_consistency", "kl_agreement")


def gradient_of(method: PCL, batch: Batch, seed: int = 0) -> dict[str, Tensor]:
    method.zero_grad()
    torch.manual_seed(seed)
    method.loss(batch).total.backward()
    return {name: p.grad.clone() for name, p in method.named_parameters() if p.grad is not None}


def parts(method: PCL, batch: Batch) -> dict[str, float]:
    torch.manual_seed(0)
    loss = method.loss(batch)
    return {"total": loss.total.item(), **{name: part.item() for name, part in loss.parts.items()}}


def views_of(method: PCL, row: Row, seed: int = 0) -> list[list[int]]:
    ids = method.token_ids([row])
    return [view.tolist() for view in method.views(ids, np.random.default_rng(seed))]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    top = tmp_path_factory.mktemp("pcl")
    parent = tiny.write_parent(top / "made", "encoder", [])
    assert parent is not None
    return {
        "plain": tiny.write_backbone(top / "plain"),
        "still": tiny.write_backbone(top / "still", dropout=0.0),
        "parent": parent,
        "public": tiny.write_backbone(top / "public", seed=9),
        "wide": tiny.write_backbone(top / "wide", width=32),
    }


@pytest.fixture
def make(folders: dict[str, Path]) -> Make:
    """Returns a builder of PCL on a tiny backbone: `backbone` and `parent` name folders, others switches."""

    def build(
        base: dict[str, Any] = RELEASED, *, backbone: str = "plain", parent: str | None = None, **changes: Any
    ) -> Any:
        folder = folders[parent] if parent else None
        switches = {**base, **changes}
        return tiny.changed(SAMPLES[0], folders[backbone], parent=folder, pooling="cls", **switches)

    return build


def test_the_peer_starts_as_the_checkpoint_and_as_the_main_network(
    make: Make, folders: dict[str, Path]
) -> None:
    checkpoint = load_backbone(folders["plain"], hf_pooler=True).state_dict()
    method = make()
    peer, pooler = method.peer
    for network in (peer, method.encoder):
        actual = network.backbone.state_dict() | pooler.state_dict(prefix="pooler.")
        torch.testing.assert_close(actual, dict(checkpoint), rtol=0, atol=0)


def test_without_dropout_equal_networks_agree_and_the_pooler_makes_them_differ(make: Make) -> None:
    method = make(backbone="still", **PLAIN_PEER)
    batch = batch_of(method)
    main, peer = method.vectors(batch)
    torch.testing.assert_close(main, peer)
    assert max(abs(parts(method, batch)[name]) for name in DIVERGENCES) < 1e-6
    pooled = make(backbone="still", peer_attention_mask=True)
    main, peer = pooled.vectors(batch)
    assert not torch.allclose(main, peer, atol=1e-3)
    assert min(parts(pooled, batch)[name] for name in DIVERGENCES) > 1e-6
    encoder, pooler = pooled.peer
    states = encode_in_groups(encoder, batch["peer_views"])
    by_hand = pooled.head((states @ pooler.dense.weight.T + pooler.dense.bias).tanh())
    torch.testing.assert_close(peer.flatten(0, 1), by_hand)


def test_tied_without_dropout_is_twice_the_loss_without_a_peer(make: Make) -> None:
    tied = make(backbone="still", coupling="tied", **PLAIN_PEER)
    alone = make(backbone="still", coupling="none")
    batch = batch_of(tied)
    main, peer = tied.vectors(batch)
    assert torch.equal(main, peer)
    terms, single = parts(tied, batch), parts(alone, batch)
    assert max(abs(terms[name]) for name in DIVERGENCES) < 1e-7
    assert terms["total"] == pytest.approx(2 * single["total"], rel=1e-5)
    double, once = gradient_of(tied, batch), gradient_of(alone, batch)
    assert double.keys() == once.keys()
    for name in once:
        torch.testing.assert_close(double[name], 2 * once[name], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(("parent", "head"), [("parent", "cls-shared-mlp"), ("public", "pooler-shared-mlp")])
def test_a_fixed_peer_is_not_trained_and_is_a_constant_to_the_head(
    make: Make, parent: str, head: str
) -> None:
    method = make(coupling="fixed", parent=parent, peer_head=head)
    batch = batch_of(method)
    peer = method.vectors(batch)[1]
    assert not peer.requires_grad
    assert not [name for name in parts(method, batch) if name.endswith("_peer")]


@pytest.mark.parametrize("masked", [True, False])
def test_a_longer_neighbour_changes_a_vector_only_without_the_mask(
    make: Make, masked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("methods.core.batching.LENGTH_GROUPS", 2)
    encoder = make().eval().encoder
    ids = [np.array(row) for row in encoder.token_ids(["the man runs", "a cat sleeps", "the " * 20])]
    alone, padded = (
        encode_in_groups(encoder, pad_in_groups(encoder, rows, masked=masked)) for rows in (ids[:2], ids)
    )
    assert torch.allclose(alone[1], padded[1], atol=1e-5) == masked


@pytest.mark.parametrize("preset", [RELEASED, PAPER], ids=["released", "paper"])
def test_recomputed_activations_give_the_same_gradients(make: Make, preset: dict[str, Any]) -> None:
    plain, thrifty = make(preset), make(preset, recompute=True)
    batch = batch_of(plain)
    expected, actual = gradient_of(plain, batch), gradient_of(thrifty, batch)
    assert expected.keys() == actual.keys()
    for name in expected:
        torch.testing.assert_close(actual[name], expected[name], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("parent", "head", "message"),
    [
        ("parent", "pooler-shared-mlp", r"missing.*pooler"),
        ("wide", "cls-shared-mlp", r"width 32, expected.*16"),
    ],
)
def test_a_fixed_peer_that_does_not_fit_is_refused(make: Make, parent: str, head: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(coupling="fixed", parent=parent, peer_head=head)


def test_nine_positives_are_ten_views_of_which_the_first_two_are_the_sentence(make: Make) -> None:
    method = make()
    rows = method.prepare([Row(0, "the man runs in the red house and a dog sleeps under two trees")])
    sentence = method.token_ids(rows)[0].tolist()
    views, again, other = (views_of(method, rows[0], seed) for seed in (0, 0, 1))
    assert len(views) == 10
    assert views[0] == views[1] == sentence
    assert views[3] == views[7] == [sentence[0], *sentence[-2:0:-1], sentence[-1]]
    assert views == again
    assert views != other
    assert views[4] != views[8]
    assert Counter(views[2]) == Counter(sentence)
    assert len(views[4]) < len(sentence) < len(views[5])


def test_words_are_edited_whole_in_the_paper_preset(make: Make) -> None:
    """ "zb" is no word of the tiny vocabulary and becomes z ##b, which stay together in every edit."""
    method = make(PAPER)
    rows = method.prepare([Row(0, "the zb man zb runs zb in zb house")])
    z, b = method.encoder.tokenizer.convert_tokens_to_ids(["z", "##b"])
    views = views_of(method, rows[0])
    assert len({tuple(view) for view in views}) > 5
    for view in views:
        after = [following for piece, following in pairwise(view) if piece == z]
        assert after == [b] * view.count(b)


def test_word_marks_of_word_pieces_and_of_byte_level_pieces() -> None:
    def marks(*pieces: str) -> list[bool]:
        tokenizer = MagicMock(**{"__len__.return_value": len(pieces)})
        tokenizer.convert_ids_to_tokens = lambda ids: [pieces[index] for index in ids]
        return list(continuing_pieces(tokenizer))

    assert marks("the", "##s") == [False, True]
    assert marks("Ġthe", "s") == [False, True]
    with pytest.raises(InputError, match="edit_unit: piece"):
        marks("the", "s")


TABLE_1 = {
    "shuffle": {"bag"},
    "invert": {"n-grams", "bag"},
    "repeat": {"order", "bag"},
    "delete": {"order"},
}


@pytest.mark.parametrize("name", TABLE_1)
def test_an_edit_keeps_the_properties_that_table_1_ticks(make: Make, name: str) -> None:
    """Order: the rest keeps its order; n-grams: the set of neighbours, either way round; bag: the set.

    Eleven different words, over twenty draws.
    """
    method = make(edits=[name], positives=2)
    rows = method.prepare([Row(0, "the man runs in a red house and two dog eats")])
    kept = {"order", "n-grams", "bag"}
    for seed in range(20):
        original, _, edited = (view[1:-1] for view in views_of(method, rows[0], seed))
        assert len(set(original)) == len(original) == 11
        inside, whole = (original, edited) if len(edited) > len(original) else (edited, original)
        rest = iter(whole)
        held = {
            "order": all(piece in rest for piece in inside),
            "n-grams": neighbours(edited) == neighbours(original),
            "bag": set(edited) == set(original),
        }
        kept &= {property_ for property_, holds in held.items() if holds}
    assert kept == TABLE_1[name]
    assert len(TABLE_1) == 4


def neighbours(ids: list[int]) -> set[frozenset[int]]:
    return {frozenset(pair) for pair in pairwise(ids)}


def test_words_that_grow_beyond_the_length_are_cut_in_front_of_the_last_id() -> None:
    """The word 10 11 twice makes six ids; of five the last stays the last."""
    ids, continues = np.array([2, 10, 11, 3]), np.arange(12) == 11
    twice = partial(edit_words, ids, np.random.default_rng(0), edit=lambda words, rng: words[[0, 1, 1, 2]])
    edit = partial(twice, continues=continues)
    assert edit(max_length=6).tolist() == [2, 10, 11, 10, 11, 3]
    assert edit(max_length=5).tolist() == [2, 10, 11, 10, 3]


def test_copies_of_long_words_are_cut_at_the_length_of_the_run_before_the_last_id() -> None:
    """Ids 5 and 6 are one word, and both words are repeated: of up to nine ids six are left."""
    continues = np.zeros(9, dtype=bool)
    continues[6] = True
    settings = {"positives": 2, "edits": ["repeat"], "edit_share": 1.0, "edit_unit": "word", "max_length": 6}
    unchanged, repeat = positive_edits(PCLConfig.model_validate({**RELEASED, **settings}), continues)
    ids = np.array([0, 5, 6, 7, 1], dtype=np.int32)
    assert unchanged(ids, np.random.default_rng(0)) is ids
    made = [repeat(ids, np.random.default_rng(seed)).tolist() for seed in range(40)]
    assert {len(row) for row in made} == {6}
    assert {(row[0], row[-1]) for row in made} == {(0, 1)}
    assert len({tuple(row) for row in made}) > 2
