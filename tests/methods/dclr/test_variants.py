"""DCLR's other presets: complements, cutoffs, self-weights, distillation; bad settings."""

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
import torch

from methods.core.checkpoints import load_backbone
from methods.core.errors import InputError
from methods.dclr.method import cut_features, cut_tokens
from tests.methods.dclr.conftest import Build, batch_of, loss_of
from tests.methods.dclr.sample import PAPER, UNWEIGHTED
from tests.support import tiny


def test_the_complement_pooler_is_its_dense_layer_with_tanh_on_the_cls(
    build: Build, folders: dict[str, Path]
) -> None:
    method = build({**PAPER, "complement_vector": "pooler"}, parent="wide")
    tokens = method.encoder.tokenize(["the man runs", "a cat sleeps under the tree"])
    backbone = load_backbone(folders["wide"], hf_pooler=True)
    with torch.no_grad():
        expected = backbone(**tokens).pooler_output
    torch.testing.assert_close(method.complement(tokens), expected)


def test_with_padding_attended_a_sentence_depends_on_the_longest_of_its_batch(build: Build) -> None:
    seen = {}
    for attend in (True, False):
        method = build({**PAPER, **UNWEIGHTED, "attend_padding": attend}, parent=None, backbone="calm")
        short, long = (method.encoder.pad([[2, 7, 8, 3], [2] + [9] * n + [3]]) for n in (2, 9))
        with torch.no_grad():
            seen[attend] = [method.vectors({"anchor": tokens})[0][0] for tokens in (short, long)]
    torch.testing.assert_close(*seen[False], atol=1e-5, rtol=0)
    assert not torch.allclose(*seen[True], atol=1e-3)
    torch.testing.assert_close(seen[True][0], seen[False][0])  # nothing is padded there


def test_a_student_may_start_from_the_parent_that_is_its_complement(build: Build) -> None:
    """Nothing is trained yet and dropout is off on both sides: student and complement give equal vectors."""
    method = build({**PAPER, "student_from": "parent", "complement_vector": "cls"}).eval()
    tokens = method.encoder.tokenize(["the man runs", "a cat sleeps"])
    assert torch.equal(method.encoder(tokens), method.complement(tokens))
    other = build(PAPER).eval()
    assert not torch.allclose(other.encoder(tokens), method.encoder(tokens), atol=1e-2)


@pytest.mark.parametrize("positive", ["token-cutoff", "span-cutoff", "feature-cutoff"])
def test_cutoffs_erase_word_embeddings_of_the_second_view_only(positive: str, build: Build) -> None:
    config = {**PAPER, **UNWEIGHTED, "positive": positive, "cutoff_rate": 0.3}
    method = build(config, parent=None, backbone="calm")
    batch = batch_of(method)
    plain = {"anchor": batch["anchor"]}
    with torch.no_grad():
        first, second = method.vectors(batch)
        expected, _ = method.vectors(plain)
        words = method.encoder.backbone.get_input_embeddings()(batch["anchor"]["input_ids"])
        cut = method.head(method.encoder(batch["anchor"], inputs_embeds=words * batch["keep"]))
    torch.testing.assert_close(first, expected)
    torch.testing.assert_close(second, cut)
    assert (second - first).norm(dim=1).gt(1e-3).all()


def test_shuffled_views_go_to_the_student_and_not_to_the_complement(build: Build) -> None:
    method = build({**PAPER, "positive": "token-shuffle"}, backbone="calm")
    batch = batch_of(method)
    assert not torch.equal(batch["anchor"]["input_ids"], batch["positive"]["input_ids"])
    with patch.object(method, "complement", wraps=method.complement) as complement:
        loss_of(method, batch)
    assert complement.call_args.args[0] is batch["anchor"]


def test_self_weighting_masks_by_the_students_own_cosines(build: Build) -> None:
    method = build({**PAPER, "weights_from": "student", "threshold": 0.5}, parent=None)
    torch.manual_seed(7)
    first, second = (torch.nn.functional.normalize(view) for view in method.vectors(batch_of(method)))
    cosines = first @ second.T
    expected = ((cosines >= 0.5) & ~torch.eye(8, dtype=torch.bool)).sum() / 56
    assert loss_of(method).parts["masked_share"].item() == pytest.approx(expected.item())
    assert 0 < expected < 1


def test_distillation_reads_the_complement_even_where_the_student_weighs_itself(build: Build) -> None:
    settings = {**PAPER, "weights_from": "student", "distillation_weight": 0.5}
    parts = loss_of(build(settings)).parts
    plain = loss_of(build({**settings, "distillation_weight": 0.0}, parent=None))
    assert torch.equal(parts["masked_share"], plain.parts["masked_share"])
    assert parts["distillation"] > 0
    total = loss_of(build(settings)).total
    assert total.item() == pytest.approx(plain.total.item() + 0.5 * parts["distillation"].item(), rel=1e-6)


def test_a_complement_with_another_vocabulary_is_refused(build: Build, tmp_path: Path) -> None:
    other = tiny.write_backbone(tmp_path)
    tokenizer = (other / "tokenizer.json").read_text(encoding="utf-8")
    (other / "tokenizer.json").write_text(tokenizer.replace('"river"', '"riverbed"'), encoding="utf-8")
    with pytest.raises(InputError, match="the parent's tokenizer differs"):
        build({**PAPER, "complement_vector": "cls"}, parent=other)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("span", [False, True])
def test_token_cuts_take_their_share_and_spare_ends_and_padding(span: bool) -> None:
    """Sentences of 10, 1 and 0 words at rate 0.25: 2 (2.5 to even), 1 and 0 words are cut."""
    for seed in range(20):
        keep = cut_tokens([12, 3, 2], rate=0.25, span=span, rng=rng(seed))
        assert keep.shape == (3, 12, 1)
        assert (keep == 0).sum(dim=(1, 2)).tolist() == [2, 1, 0]
        assert keep[:, 0].eq(1).all()
        assert keep[0, 11] == 1
        assert keep[1, 2:].eq(1).all()


def test_a_span_is_one_run_and_tokens_are_not() -> None:
    def cut_positions(span: bool, seed: int) -> list[int]:
        keep = cut_tokens([12, 1], rate=0.4, span=span, rng=rng(seed))[:1]
        return keep.flatten().eq(0).nonzero().flatten().tolist()

    actual = [cut_positions(True, seed) for seed in range(40)]
    assert all(where == list(range(where[0], where[0] + 4)) for where in actual)
    assert {where[0] for where in actual} == set(range(1, 8))
    scattered = [cut_positions(False, seed) for seed in range(20)]
    assert any(where[-1] - where[0] > 3 for where in scattered)
    assert {position for where in scattered for position in where} == set(range(1, 11))


@pytest.mark.parametrize("span", [False, True])
def test_a_batch_has_the_cuts_of_its_setting(span: bool, build: Build) -> None:
    positive = "span-cutoff" if span else "token-cutoff"
    config = {**PAPER, **UNWEIGHTED, "positive": positive, "cutoff_rate": 0.6}
    keep = batch_of(build(config, parent=None, backbone="calm"))["keep"][..., 0]
    positions = [row.eq(0).nonzero().flatten().tolist() for row in keep]
    assert span is all(where[-1] - where[0] == len(where) - 1 for where in positions)


def test_feature_cuts_differ_by_sentence_and_hold_for_all_its_tokens() -> None:
    keep = cut_features(6, 20, rate=0.2, rng=rng())
    assert keep.shape == (6, 1, 20)
    assert (keep == 0).sum(dim=(1, 2)).tolist() == [4] * 6
    assert len({tuple(row.tolist()) for row in keep[:, 0]}) > 1
