"""Mirror-BERT: its loss of given vectors, the masked span, dropped heads, the padded mean."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from methods.core.dropout import DropHead, add_drop_head
from methods.core.errors import InputError
from methods.core.pooling import masked_mean
from methods.mirror_bert.method import MirrorBert, SpanPlace, mask_span, mirror_bert_loss
from tests.methods.mirror_bert.sample import PORTABLE, RELEASED, SAMPLES
from tests.support import tiny
from tests.support.tiny import batch_of

SENTENCE = "the quick brown fox jumps over the lazy dog"


def made(backbone: Path, config: dict[str, Any] = RELEASED, **changes: Any) -> Any:
    return tiny.changed(SAMPLES[0], backbone, **{**config, **changes})


@pytest.mark.parametrize(("tau", "expected"), [(1.0, 1.157474), (0.5, 1.270714), (0.04, 7.012493)])
def test_loss_has_its_worked_values(tau: float, expected: float) -> None:
    """(1,0), (0,1) with (.6,.8), (.8,.6): (1,0) has cosines .6 (positive), 0, .8 and its copy .6, .96, .8.

    By hand at tau 1: (log(e^.6 + 1 + e^.8) + log(e^.6 + e^.96 + e^.8)) / 2 - .6.
    """
    first = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    second = torch.tensor([[0.6, 0.8], [0.8, 0.6]], dtype=torch.float64)
    loss = mirror_bert_loss(first, second, temperature=tau)
    assert loss.total.item() == pytest.approx(expected, abs=5e-7)
    assert loss.parts["positive_cosine"].item() == pytest.approx(0.6)


def spans(text: str, span_place: SpanPlace, draws: int = 400) -> set[str]:
    rng = np.random.default_rng(0)
    return {
        mask_span(text, rng, length=5, shortest=30, place=span_place, mask="[MASK]") for _ in range(draws)
    }


def test_a_span_of_five_characters_becomes_eight_and_the_last_start_is_n_minus_6() -> None:
    actual = spans(SENTENCE, "drawn")
    assert {len(text) for text in actual} == {len(SENTENCE) + 3}
    assert {text.index(" [MASK] ") for text in actual} == set(range(len(SENTENCE) - 5))
    assert all(text.endswith("g") for text in actual)


def test_a_text_under_30_characters_or_no_span_stays() -> None:
    rng = np.random.default_rng(0)
    text = "twenty-nine characters is this"
    assert spans(text[:29], "drawn") == {text[:29]}
    assert spans(text, "drawn") != {text}
    same = mask_span(SENTENCE, rng, length=0, shortest=30, place="drawn", mask="[MASK]")
    assert same == SENTENCE


def test_the_first_occurrence_goes_where_the_span_reads_like_an_earlier_one() -> None:
    """In 40 equal characters all spans read alike, so the first five go, whatever was drawn."""
    assert spans("a" * 40, "first-occurrence") == {" [MASK] " + "a" * 35}
    assert len(spans("a" * 40, "drawn")) == 35


def test_the_mask_is_the_text_or_the_tokenizers_own(backbone: Path) -> None:
    method = made(backbone)
    method.encoder.tokenizer.mask_token = "<mask>"
    networks: Any = SimpleNamespace(new_encoder=lambda: method.encoder)
    assert MirrorBert(method.config, networks).mask == "[MASK]"
    other = method.config.model_copy(update={"mask_token": "tokenizer"})
    assert MirrorBert(other, networks).mask == "<mask>"


def test_the_second_view_alone_has_a_mask(backbone: Path) -> None:
    method = made(backbone, span_shortest=0)
    ids = batch_of(method)["pair"]["input_ids"]
    masks = ids == method.encoder.tokenizer.mask_token_id
    assert masks[:6].sum() == 0
    assert masks[6:].sum() == 6


def test_a_padded_mean_depends_on_the_length_and_a_masked_one_does_not(backbone: Path) -> None:
    plain = made(backbone).eval()
    tokens = plain.encoder.tokenize(["the man runs"])
    wider = made(backbone, max_length=60).eval()
    assert not torch.allclose(plain.vectors(tokens), wider.vectors(tokens), atol=1e-3)
    portable = made(backbone, PORTABLE).eval()
    torch.testing.assert_close(portable.vectors(tokens), plain.encoder(tokens))


def test_a_padded_mean_is_the_mean_over_all_fifty_states(backbone: Path) -> None:
    method = made(backbone).eval()
    tokens = method.encoder.tokenize(["the man runs", "a cat sleeps under the old tree"])
    wide = {name: torch.zeros(2, 50, dtype=torch.long) for name in tokens}  # 0 is the padding
    for name, given in tokens.items():
        wide[name][:, : given.shape[1]] = given
    expected = method.encoder.states(wide)[-1].mean(dim=1)
    torch.testing.assert_close(method.vectors(tokens), expected, rtol=0, atol=1e-6)


def test_kept_heads_make_up_for_the_dropped_ones() -> None:
    """Of four heads k are kept and multiplied by 4 / k; all tokens of a row share the draw."""
    layer, heads = DropHead(0.5, when_none="redraw").train(), torch.ones(500, 4, 3, 2)
    torch.manual_seed(0)
    scales = layer(heads)
    assert bool((scales == scales[:, :, :1, :1]).all())
    per_row = scales[:, :, 0, 0]
    kept = (per_row > 0).sum(dim=1)
    assert set(kept.tolist()) == {1, 2, 3, 4}
    torch.testing.assert_close(per_row.sum(dim=1), torch.full((500,), 4.0))
    assert bool((per_row[kept == 1].max(dim=1).values == 4).all())
    assert torch.equal(layer.eval()(heads), heads)


def test_a_row_without_heads_is_drawn_again_or_is_nan_as_in_the_code() -> None:
    heads = torch.ones(2000, 2, 1, 1)
    torch.manual_seed(0)
    actual = DropHead(0.5, when_none="nan").train()(heads)
    assert actual.isnan().all(dim=1).float().mean().item() == pytest.approx(0.25, abs=0.03)
    assert DropHead(0.5, when_none="redraw").train()(heads).isfinite().all()


def test_heads_are_dropped_in_the_librarys_pass_and_in_ours_alike(backbone: Path) -> None:
    method = made(backbone, PORTABLE, drophead=0.4)
    tokens = method.encoder.tokenize(["the man runs", "a cat sleeps under the old tree"])
    torch.manual_seed(1)
    packed = method.encoder(tokens)
    torch.manual_seed(1)
    states = method.encoder.states(tokens)[-1]
    torch.testing.assert_close(packed, masked_mean(states, tokens["attention_mask"]), rtol=0, atol=1e-5)
    method.eval()
    assert not torch.allclose(packed, method.encoder(tokens), atol=1e-3)


def test_drophead_is_refused_where_the_layers_are_not_known() -> None:
    with pytest.raises(InputError, match="drophead needs a BERT or RoBERTa, not a Linear"):
        add_drop_head(torch.nn.Linear(2, 2), 0.2, when_none="redraw")


def test_positions_that_fill_up_a_row_are_the_tokenizers_padding(backbone: Path) -> None:
    """RoBERTa's padding is piece 1; here it is another word's, so that 0 would be a wrong one."""
    method = made(backbone).eval()
    tokens = method.encoder.tokenize(["the man runs"])
    length = tokens["input_ids"].shape[1]
    method.encoder.tokenizer.pad_token = method.encoder.tokenizer.convert_ids_to_tokens(7)
    wide = {name: torch.zeros(1, 50, dtype=torch.long) for name in tokens}
    wide["input_ids"][:] = 7
    for name, given in tokens.items():
        wide[name][:, :length] = given
    expected = method.encoder.states(wide)[-1].mean(dim=1)
    torch.testing.assert_close(method.vectors(tokens), expected, rtol=0, atol=1e-6)


def test_a_text_as_long_as_the_span_stays_and_one_character_more_has_one_start() -> None:
    rng = np.random.default_rng(0)
    for text, expected in (("abcd", {"abcd"}), ("abcde", {"abcde"}), ("abcdef", {" # f"})):
        drawn = {mask_span(text, rng, length=5, shortest=0, place="drawn", mask="#") for _ in range(20)}
        assert drawn == expected


def test_both_views_are_cut_at_the_same_length(backbone: Path) -> None:
    """A sentence of more words than fit, of which the second view has lost a few characters."""
    method = made(backbone, max_length=8, span_shortest=0, mask_token="tokenizer")
    long = [row._replace(text=" ".join([row.text] * 4)) for row in tiny.rows()]
    mask = batch_of(method, 4, corpus=long)["pair"]["attention_mask"]
    assert mask.sum(dim=1).tolist() == [8] * 8


@pytest.mark.parametrize("when_none", ["redraw", "nan"])
def test_the_heads_of_the_method_are_dropped_as_its_setting_says(backbone: Path, when_none: str) -> None:
    method = made(backbone, drophead_all=when_none, drophead=0.3)
    layers = [part for part in method.modules() if isinstance(part, DropHead)]
    assert len(layers) == 2
    assert {layer.when_none for layer in layers} == {when_none}
