"""PCL as a method: its networks, its views, which gradients are zero, what is exported, what is refused."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

from methods.core import streams
from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.folders import load_backbone
from methods.core.interface import Batch, Row
from methods.core.optimizer import build_optimizer
from methods.core.schedule import plan_steps, rate_factor
from methods.core.trainer import TrainConfig
from methods.pcl.method import PCL, PCLConfig
from methods.pcl.views import continuing_pieces
from tests.methods.pcl.sample import PAPER, PLAIN_PEER, RELEASED
from tests.support import tiny

Make = Callable[..., PCL]
DIVERGENCES = ("kl_consistency", "kl_agreement")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    top = tmp_path_factory.mktemp("pcl")
    made = {
        "plain": tiny.write_backbone(top / "plain"),
        "still": tiny.write_backbone(top / "still", dropout=0.0),
    }
    parent = tiny.write_parent(top, "encoder", [])
    assert parent is not None
    return {**made, "parent": parent, "public": tiny.write_backbone(top / "public", seed=9)}


@pytest.fixture
def make(folders: dict[str, Path]) -> Make:
    """Returns a builder of PCL on a tiny backbone: `backbone` and `parent` name folders, others switches."""

    def build(
        base: dict[str, Any] = RELEASED, *, backbone: str = "plain", parent: str | None = None, **changes: Any
    ) -> PCL:
        sample = tiny.Sample("pcl", "test", {**base, **changes})
        place = folders[parent] if parent else None
        method = tiny.build(sample, folders[backbone], parent=place, pooling="cls")
        assert isinstance(method, PCL)
        return method.train()

    return build


def batch_of(method: PCL, count: int = 6, step: int = 0) -> Batch:
    rows = list(method.prepare(tiny.rows()))[:count]
    return method.collate(rows, step=step, rng=streams.generator(3, streams.COLLATE, step))


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
    return [view.tolist() for view in method._views(ids, np.random.default_rng(seed))]


# the peer


def test_the_peer_starts_as_the_checkpoint_and_as_the_main_network(
    make: Make, folders: dict[str, Path]
) -> None:
    checkpoint = load_backbone(folders["plain"], hf_pooler=True).state_dict()
    method = make()
    peer, pooler = method.peer
    shared = {name: value for name, value in checkpoint.items() if not name.startswith("pooler")}
    assert peer.backbone.state_dict().keys() == shared.keys()
    for network in (peer, method.encoder):
        assert all(torch.equal(network.backbone.state_dict()[name], shared[name]) for name in shared)
    assert torch.equal(pooler.dense.weight, checkpoint["pooler.dense.weight"])
    assert torch.equal(pooler.dense.bias, checkpoint["pooler.dense.bias"])


def test_the_head_is_new_and_serves_both_networks_once(make: Make) -> None:
    """The optimiser holds main network, peer with its pooler, and one head: each parameter once."""
    method = make()
    optimizer = build_optimizer(method, TrainConfig.model_validate(tiny.TRAIN))
    held = [id(p) for group in optimizer.param_groups for p in group["params"]]
    networks = (method.encoder, method.peer, method.head)
    assert len(held) == len(set(held)) == sum(len(list(network.parameters())) for network in networks)
    assert method.peer_head is None
    assert make(peer_head="cls-own-mlp").peer_head is not None


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


def test_with_one_positive_and_no_dropout_the_positive_is_the_anchor(make: Make) -> None:
    """cos(view 0, view 1) = 1, so InfoNCE is the mean of log(1 + sum_j exp((cos_ij - 1) / tau))."""
    method = make(backbone="still", positives=1, coupling="none")
    batch = batch_of(method)
    main, _ = method.vectors(batch)
    unit = torch.nn.functional.normalize(main.detach(), dim=-1)
    cosines = unit[:, 0] @ unit[:, 0].T
    torch.testing.assert_close((unit[:, 0] * unit[:, 1]).sum(-1), torch.ones(6))
    others = ((cosines - 1) / 0.05).exp().sum(1) - 1
    assert parts(method, batch)["nce_main"] == pytest.approx(others.log1p().mean().item(), rel=1e-4)


def test_tied_without_dropout_is_twice_the_loss_without_a_peer(make: Make) -> None:
    tied = make(backbone="still", coupling="tied", **PLAIN_PEER)
    alone = make(backbone="still", coupling="none")
    batch = batch_of(tied)
    main, peer = tied.vectors(batch)
    assert torch.equal(main, peer)
    found, single = parts(tied, batch), parts(alone, batch)
    assert max(abs(found[name]) for name in DIVERGENCES) < 1e-7
    assert found["total"] == pytest.approx(2 * single["total"], rel=1e-5)
    double, once = gradient_of(tied, batch), gradient_of(alone, batch)
    assert double.keys() == once.keys()
    for name in once:
        torch.testing.assert_close(double[name], 2 * once[name], rtol=1e-3, atol=1e-5)


def test_tied_passes_differ_by_dropout(make: Make) -> None:
    tied = make(coupling="tied", **PLAIN_PEER)
    main, peer = tied.vectors(batch_of(tied))
    assert not torch.allclose(main, peer, atol=1e-3)


def test_without_a_peer_no_second_network_is_loaded(make: Make) -> None:
    method = make(coupling="none")
    assert {name.split(".")[0] for name, _ in method.named_parameters()} == {"encoder", "head"}
    assert set(batch_of(method)) == {"views"}


@pytest.mark.parametrize(("parent", "head"), [("parent", "cls-shared-mlp"), ("public", "pooler-shared-mlp")])
def test_a_fixed_peer_learns_nothing_and_is_a_constant_to_the_head(
    make: Make, parent: str, head: str
) -> None:
    method = make(coupling="fixed", parent=parent, peer_head=head)
    batch = batch_of(method)
    assert method.frozen is not None
    assert not any(p.requires_grad for p in method.frozen.module.parameters())
    assert all(part.training for part in method.frozen.module.modules())
    peer = method.vectors(batch)[1]
    assert peer is not None
    assert not peer.requires_grad
    found = parts(method, batch)
    assert {name for name in found if name.endswith("_peer")} == set()
    assert all(p.grad is None for p in method.frozen.module.parameters())


# padding


def rows_of(encoder: SentenceEncoder, method: PCL, texts: list[str], *, masked: bool) -> Tensor:
    from methods.core.grouping import encode_in_groups, pad_in_groups

    ids = [np.array(row) for row in encoder.token_ids(texts)]
    method.eval()
    with torch.no_grad():
        return encode_in_groups(encoder, pad_in_groups(encoder, ids, groups=2, masked=masked))


@pytest.mark.parametrize("masked", [True, False])
def test_a_longer_neighbour_changes_a_vector_only_without_the_mask(make: Make, masked: bool) -> None:
    method = make()
    short = ["the man runs", "a cat sleeps", "two dogs"]
    alone = rows_of(method.encoder, method, short, masked=masked)
    beside = rows_of(method.encoder, method, [*short, "the " * 20], masked=masked)[:3]
    assert torch.allclose(alone[1], beside[1], atol=1e-5) == masked


def test_the_peer_of_the_released_preset_gets_ids_alone_and_the_paper_preset_its_mask(make: Make) -> None:
    released, paper = (batch_of(make(preset))["peer_views"] for preset in (RELEASED, PAPER))
    blocks = [tokens for name, tokens in released.items() if name != "rows"]
    assert [set(tokens) for tokens in blocks] == [{"input_ids"}] * 4
    assert len({tokens["input_ids"].shape[1] for tokens in blocks}) == 1
    assert any("attention_mask" in tokens for name, tokens in paper.items() if name != "rows")


def test_grouped_rows_come_back_in_their_order(make: Make) -> None:
    method = make(backbone="still", coupling="none")
    batch = batch_of(method, count=5)
    rows = list(tiny.rows())[:5]
    method.eval()
    with torch.no_grad():
        main, _ = method.vectors(batch)
        whole = method.head(method.encoder(method.encoder.tokenize([row.text for row in rows])))
    assert main.shape == (5, 10, 16)
    torch.testing.assert_close(main[:, 0], whole)
    torch.testing.assert_close(main[:, 1], whole)


@pytest.mark.parametrize("preset", [RELEASED, PAPER], ids=["released", "paper"])
def test_recomputed_activations_give_the_same_gradients(make: Make, preset: dict[str, Any]) -> None:
    plain, thrifty = make(preset), make(preset, recompute=True)
    batch = batch_of(plain)
    expected, found = gradient_of(plain, batch), gradient_of(thrifty, batch)
    assert expected.keys() == found.keys()
    for name in expected:
        torch.testing.assert_close(found[name], expected[name], rtol=1e-5, atol=1e-7)


# views


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


def test_fewer_positives_take_the_first_edits_and_leave_the_rest(make: Make) -> None:
    nine = make()
    rows = nine.prepare([Row(0, "the man runs in the red house and a dog sleeps")])
    whole = views_of(nine, rows[0])
    for positives in (1, 3, 4, 5, 7):
        method = make(positives=positives)
        method.prepare(rows)
        assert views_of(method, rows[0]) == whole[: positives + 1]


def test_one_kind_of_edit_alone(make: Make) -> None:
    method = make(edits=["dropout"] * 8)
    rows = method.prepare([Row(0, "the man runs in the red house")])
    assert len({tuple(view) for view in views_of(method, rows[0])}) == 1


def test_shared_views_are_one_draw_and_independent_views_two(make: Make) -> None:
    shared, independent = (make(PAPER, peer_views=kind) for kind in ("shared", "independent"))
    same, other = batch_of(shared), batch_of(independent)
    assert sorted_rows(same["views"]) == sorted_rows(same["peer_views"])
    mine, peers = (sorted_rows(other[name]) for name in ("views", "peer_views"))
    assert mine != peers


def sorted_rows(views: Batch) -> list[list[int]]:
    return sorted(row for name, t in views.items() if name != "rows" for row in t["input_ids"].tolist())


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


class Vocabulary:
    """A tokenizer reduced to its pieces."""

    def __init__(self, *pieces: str) -> None:
        self.pieces = pieces

    def __len__(self) -> int:
        return len(self.pieces)

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return [self.pieces[place] for place in ids]


def test_word_marks_of_word_pieces_and_of_byte_level_pieces() -> None:
    assert continuing_pieces(Vocabulary("the", "##s")).tolist() == [False, True]
    assert continuing_pieces(Vocabulary("Ġthe", "s")).tolist() == [False, True]
    with pytest.raises(InputError, match="edit_unit: piece"):
        continuing_pieces(Vocabulary("the", "s"))


@pytest.mark.mirror
def test_edits_of_real_sentences_have_the_papers_statistics(make: Make, mirror: Path) -> None:
    """Over 500 sentences: a fifth of the ids goes or comes, the cap of 32 and both ends hold."""
    lines = (mirror / "corpora/wiki.txt").read_text(encoding="utf-8").splitlines()[:500]
    method = make()
    rows = method.prepare([Row(place, line) for place, line in enumerate(lines)])
    for row in rows:
        original, dropout, shuffled, inverted, deleted, repeated, *_ = views_of(method, row, row.index)
        n = len(original) - 2
        assert dropout == original
        assert Counter(shuffled) == Counter(inverted) == Counter(original)
        assert inverted[1:-1] == original[-2:0:-1]
        assert len(deleted) == len(original) - (n + 2) // 5
        assert len(repeated) == len(original) + min((n + 2) // 5, 30 - n)
        assert not Counter(deleted) - Counter(original)
        assert set(repeated) == set(original)
        assert not Counter(original) - Counter(repeated)
        for view in (shuffled, inverted, deleted, repeated):
            assert len(view) <= 32
            assert (view[0], view[-1]) == (original[0], original[-1])
    assert len(rows) == 500


# inference and training


def test_only_the_main_network_is_exported(make: Make) -> None:
    method = make()
    texts = [row.text for row in tiny.rows(8)]
    before = method.exported().encode(texts)
    passes: list[str] = []
    for name, module in (("main", method.encoder.backbone), ("peer", method.peer), ("head", method.head)):
        module.register_forward_hook(lambda *_, name=name: passes.append(name))  # type: ignore[misc]
    with torch.no_grad():
        for p in (*method.peer.parameters(), *method.head.parameters()):
            p.add_(torch.randn_like(p))
    assert np.array_equal(method.exported().encode(texts), before)
    assert set(passes) == {"main"}


def test_an_epoch_of_a_million_lines_and_its_rates() -> None:
    plan = plan_steps(rows=1_000_000, batch_size=64, drop_last=False, steps=None, epochs=1)
    assert plan.total == 15_625
    assert plan.total // 125 == 125
    for t in (0, 1, 7_000, 15_624):
        assert rate_factor("linear", step=t, warmup=0, total=15_625) == pytest.approx(1 - t / 15_625)


def test_the_gradient_norm_is_clipped_over_both_networks_and_the_head_together(
    make: Make, tmp_path: Path
) -> None:
    method = make()
    trainer = tiny.trainer(method, tmp_path, steps=1)
    trainer.fit(tiny.rows())
    squares = [p.grad.square().sum() for p in method.parameters() if p.grad is not None]
    assert len(squares) == len(list(method.parameters()))
    assert torch.stack(squares).sum().sqrt() <= 1 + 1e-5


def test_training_lowers_the_dropout_term_and_keeps_the_others_in_their_bounds(
    make: Make, tmp_path: Path
) -> None:
    """B = 8, K = 9, M = 16: the group term lies between mass even on the positives and all on one other."""
    tiny.trainer(make(), tmp_path, steps=60, eval_every=60, learning_rate=2.0e-3).fit(tiny.rows())
    entries = [json.loads(line) for line in (tmp_path / "train.jsonl").read_text().splitlines()]
    steps = [entry for entry in entries if "loss" in entry]
    assert len(steps) == 60
    first, last = (np.mean([entry["nce_main"] for entry in part]) for part in (steps[:10], steps[-10:]))
    assert last < first - 0.3
    least = (9 * np.log1p(np.exp(-1 / 9)) + 7 * np.log(2)) / 16
    largest = (9 * np.log(2) + np.log1p(np.e) + 6 * np.log(2)) / 16
    for entry in steps:
        assert least - 1e-6 <= entry["group_main"] <= largest + 1e-6
        assert all(-1e-7 <= entry[name] < 1 for name in DIVERGENCES)


# refusals


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"positives": 0}, "positives.*greater than or equal to 1"),
        ({"edits": ["shuffel"] * 8}, "edits.*'shuffle', 'invert', 'delete' or 'repeat'"),
        ({"edit_share": 1.5}, "edit_share.*less than or equal to 1"),
        ({"temperature": 0.0}, "temperature.*greater than 0"),
        ({"positives": 10}, "positives 10 needs 9 edits and `edits` has 8"),
        ({"coupling": "tied"}, "tied networks share head and mask"),
        ({"coupling": "fixed", "peer_head": "cls-own-mlp"}, "fixed peer cannot train"),
        ({"peers": 3}, "peers.*Extra inputs"),
    ],
)
def test_a_bad_setting_is_refused_with_its_reason(changes: dict[str, Any], line: str) -> None:
    with pytest.raises(ValidationError) as caught:
        PCLConfig.model_validate({**RELEASED, **changes})
    assert re.search(line, str(caught.value), re.DOTALL)


def test_every_setting_must_be_given() -> None:
    assert len(PCLConfig.model_fields) == len(RELEASED) == 17
    for name in RELEASED:
        with pytest.raises(ValidationError, match=name):
            PCLConfig.model_validate({key: value for key, value in RELEASED.items() if key != name})


def test_a_fixed_peer_without_a_parent_is_refused(make: Make) -> None:
    with pytest.raises(InputError, match="pcl with a fixed peer needs a parent"):
        make(coupling="fixed", **PLAIN_PEER)


def test_a_pooler_that_the_checkpoint_lacks_is_refused(make: Make) -> None:
    with pytest.raises(InputError, match=r"missing.*pooler"):
        make(coupling="fixed", parent="parent", peer_head="pooler-shared-mlp")
