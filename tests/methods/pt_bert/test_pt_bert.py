"""PT-BERT: its block, trained parts, key side, and export."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from methods.core.errors import InputError
from methods.core.losses import info_nce
from methods.core.types import Batch
from methods.pt_bert.method import PseudoTokenBlock, factorised, plain
from tests.methods.pt_bert.sample import PAPER, RELEASED
from tests.support import tiny
from tests.support.tiny import Sample
from tests.support.vectors import assert_equal_with_gradients, drawn

B, D, H, M = 4, 24, 3, 5


def block(*, length: int = M, heads: int = H, seed: int = 0, **changes: Any) -> PseudoTokenBlock:
    torch.manual_seed(seed)
    settings = {"dropout": 0.1, "form": "factorised", **changes}
    return PseudoTokenBlock(D, length=length, heads=heads, **settings).double()


def sentences(seed: int = 9) -> Tensor:
    return drawn(B, D, seed=seed).detach()


def masks(*, sources: int = 1, rate: float = 0.4, seed: int = 4) -> tuple[Tensor, Tensor]:
    """Returns dropout masks of both attentions, [B, H, M, sources] and [B, H, 1, M], dropping often."""
    torch.manual_seed(seed)
    first = torch.rand(B, H, M, sources, dtype=torch.float64).gt(rate).double() / (1 - rate)
    second = torch.rand(B, H, 1, M, dtype=torch.float64).gt(rate).double() / (1 - rate)
    return first, second


def attend(asked: Tensor, keys: list[Tensor], values: list[Tensor], keep: Tensor) -> Tensor:
    """One question to all sources, number by number; keep [H, sources]."""
    answer, width = [], D // H
    for o in range(D):
        part = slice(o // width * width, (o // width + 1) * width)
        powers = [torch.exp(asked[part] @ key[part] / math.sqrt(width)) for key in keys]
        shares = [power / sum(powers) for power in powers]
        kept = zip(shares, keep[o // width], values, strict=True)
        answer.append(sum(share * factor * value[o] for share, factor, value in kept))
    return torch.stack(answer)  # type: ignore[arg-type]


def loop_reference(
    first: PseudoTokenBlock,
    second: PseudoTokenBlock,
    pooled: Tensor,
    states: Tensor,
    keep: tuple[Tensor, Tensor],
) -> Tensor:
    """The two attentions sentence by sentence and pseudo token by pseudo token."""
    rows = []
    for i in range(B):
        keys, values = ([layer(source) for source in states[i]] for layer in (first.key, first.value))
        answers = [
            attend(first.query(token), keys, values, keep[0][i, :, j]) for j, token in enumerate(first.tokens)
        ]
        keys, values = ([layer(answer) for answer in answers] for layer in (second.key, second.value))
        rows.append(attend(second.query(pooled[i]), keys, values, keep[1][i, :, 0]))
    return torch.stack(rows)


def projected(values: Tensor, inputs: list[Tensor]) -> Tensor:
    """Returns a fixed random projection of values, in which every input has a gradient, if only of zero."""
    weight = torch.randn(B, D, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    return (values * weight).sum() + sum(0.0 * x.sum() for x in inputs)


@pytest.mark.parametrize("sources", [1, 3])
def test_plain_equals_the_loops_in_values_and_gradients(sources: int) -> None:
    """Also with other weights in attention 2; one source is the printed form, three are token states."""
    first, second, pooled = block(seed=0), block(seed=1), sentences().requires_grad_()
    extra, keep = drawn(B, sources, D).detach(), masks(sources=sources)
    states = pooled.unsqueeze(1) if sources == 1 else extra
    inputs = [pooled, *first.parameters(), *second.parameters()]
    fast = plain(first, second, pooled, states, None, *keep)
    slow = loop_reference(first, second, pooled, states, keep)
    torch.testing.assert_close(fast, slow, rtol=1e-8, atol=1e-10)
    assert_equal_with_gradients(projected(fast, inputs), projected(slow, inputs), inputs)


@pytest.mark.parametrize("shared", [True, False])
def test_factorised_equals_plain_from_the_same_masks(shared: bool) -> None:
    first = block(seed=0)
    second, pooled, keep = first if shared else block(seed=1), sentences().requires_grad_(), masks()
    inputs = [pooled, *first.parameters(), *([] if shared else second.parameters())]
    wide = plain(first, second, pooled, pooled.unsqueeze(1), None, *keep)
    lean = factorised(first, second, pooled, keep[0][..., 0], keep[1][:, :, 0])
    torch.testing.assert_close(lean, wide, rtol=1e-8, atol=1e-10)
    assert_equal_with_gradients(projected(lean, inputs), projected(wide, inputs), inputs)


def test_without_dropout_the_printed_form_is_the_value_layer_twice() -> None:
    """Unchanged by other pseudo tokens, their number, query and key weights, and the number of heads."""
    made, y, asking = block(), sentences(), block()
    twice = made.value(made.value(y))
    for weights in (asking.tokens, asking.query.weight, asking.key.weight):
        torch.nn.init.normal_(weights, std=5.0)
    for other in (made, block(length=7), block(heads=4), asking):
        other.value.load_state_dict(made.value.state_dict())
        shape = (B, other.heads, len(other.tokens))
        keep = torch.ones(shape).double().unsqueeze(3), torch.ones(shape).double().unsqueeze(2)
        printed = plain(other, other, y, y.unsqueeze(1), None, *keep)
        torch.testing.assert_close(printed, twice, rtol=0, atol=1e-12)
    assert torch.equal(made.eval()(y), twice)


@pytest.mark.parametrize("active", [True, False])
def test_pseudo_tokens_of_the_printed_form_get_exactly_zero_gradient(active: bool) -> None:
    made = block(form="plain", dropout=0.3)
    torch.manual_seed(3)
    keep = [made.train(active).keep(sentences(), shape) for shape in ((M, 1), (1, M))]
    plain(made, made, sentences(), sentences().unsqueeze(1), None, *keep).square().sum().backward()
    assert made.tokens.grad.eq(0.0).all()
    assert made.value.weight.grad.norm() > 1.0
    if not active:
        assert made.query.weight.grad.norm() < 1e-6 * made.value.weight.grad.norm()
        assert made.key.weight.grad.norm() < 1e-6 * made.value.weight.grad.norm()


def test_with_token_states_pseudo_tokens_matter_and_learn() -> None:
    made, keep = block(), masks(sources=3)
    states = drawn(B, 3, D, seed=6).detach()
    before = plain(made, made, sentences(), states, None, *keep)
    before.square().sum().backward()
    assert made.tokens.grad.norm() > 1e-3
    torch.nn.init.normal_(made.tokens, std=2.0)
    assert (plain(made, made, sentences(), states, None, *keep) - before).abs().max() > 1e-3


def test_padded_token_states_are_not_attended() -> None:
    made = block().eval()
    states = drawn(B, 3, D, seed=6).detach()
    padded = torch.cat([states, torch.full((B, 2, D), 50.0, dtype=torch.float64)], dim=1)
    mask = torch.tensor([[1, 1, 1, 0, 0]] * B)
    torch.testing.assert_close(
        made(sentences(), padded, mask), made(sentences(), states, torch.ones(B, 3)), rtol=1e-12, atol=1e-12
    )
    assert (made(sentences(), states) - made(sentences())).abs().max() > 1e-3


@pytest.mark.parametrize("length", [64, 128, 256])
def test_dropout_noise_falls_with_the_root_of_the_number_of_pseudo_tokens(length: int) -> None:
    """Deviation from c(c(y)) is near sqrt(2 p / ((1 - p) m)): 0.059, 0.042, 0.029; its mean vanishes."""
    torch.manual_seed(length)
    made = PseudoTokenBlock(768, length=length, heads=12, dropout=0.1, form="factorised")
    y = torch.randn(768)
    with torch.no_grad():
        draws = made(y.expand(400, 768))
        centre = made.eval()(y)
    deviation = ((draws - centre).norm(dim=1) / centre.norm()).mean().item()
    assert deviation == pytest.approx(math.sqrt(0.2 / (0.9 * length)), rel=0.1)
    assert (draws.mean(dim=0) - centre).norm() < 0.01 * centre.norm()


@pytest.mark.parametrize("form", ["factorised", "plain", "collapsed"])
def test_dropout_rate_zero_is_the_block_without_dropout(form: str) -> None:
    y = sentences()
    made = block(form=form, dropout=0.0).train()
    torch.testing.assert_close(made(y), made.value(made.value(y)), rtol=0, atol=1e-12)
    active = block(form=form, dropout=0.5).train()
    assert torch.equal(active(y), active.value(active.value(y))) == (form == "collapsed")


def test_the_affine_layer_is_the_block_without_dropout() -> None:
    made = block().eval()
    affine = made.as_affine()
    torch.testing.assert_close(affine(sentences().float()), made(sentences()).float(), rtol=1e-5, atol=1e-6)
    assert not affine.weight.requires_grad


def test_heads_that_do_not_divide_the_width_are_refused() -> None:
    with pytest.raises(InputError, match="5 heads for width 24: `pseudo_heads` must divide the width"):
        block(heads=5)


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


def test_the_exported_output_is_the_block_of_the_vector_without_dropout(backbone: Path) -> None:
    method = build(backbone, {**RELEASED, "export": "output"})
    texts = ["the man runs", "a dog sleeps under the tree"]
    pooled = torch.from_numpy(method.encoder.encode(texts))
    expected = method.block.eval()(pooled).detach().numpy()
    np.testing.assert_allclose(method.exported().encode(texts), expected, rtol=1e-4, atol=1e-6)


def test_the_block_starts_equal_on_both_sides_and_the_key_side_follows(backbone: Path) -> None:
    """The trained layer is raised by 1; momentum 0.25 takes the key layer up by 0.75 of it."""
    method = build(backbone, {**RELEASED, "momentum": 0.25})
    start = {name: value.clone() for name, value in method.block.state_dict().items()}
    torch.testing.assert_close(method.key_block.state_dict(), start, rtol=0, atol=0)
    with torch.no_grad():
        for value in method.block.parameters():
            value.add_(1.0)
    method.after_step(0)
    for name, value in method.key_block.state_dict().items():
        torch.testing.assert_close(value, start[name] + 0.75, msg=name)


@pytest.mark.parametrize("second", ["online", "momentum"])
@pytest.mark.parametrize("active", [True, False])
def test_dropout_of_the_key_side_and_its_block_follows_the_setting_in_either_mode(
    backbone: Path, active: bool, second: str
) -> None:
    config = {**RELEASED, "key_dropout": active, "pseudo_dropout": 0.5, "key_second_attention": second}
    method = build(backbone, config)
    tokens = batch_of(method)["anchor"]
    for mode in (True, False):
        method.train(mode)
        assert torch.equal(method.keys(tokens), method.keys(tokens)) is not active
        blocks = [method.key_block(torch.ones(4, method.encoder.width)) for _ in range(2)]
        assert torch.equal(*blocks) is not active
