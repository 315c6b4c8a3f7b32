"""Vectors from real tokens alone equal the backbone's own forward pass, in value and in gradient."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel, RobertaConfig, RobertaModel

from methods.core.encoder import multiplied
from methods.core.fast import attention, packed
from methods.core.fast.packed import can_pack, pooled_vectors, token_states
from methods.core.pooling import EVERY_LAYER, LAYERS, pool

SIZES = {
    "vocab_size": 40,
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 32,
    "max_position_embeddings": 24,
}
PAD = 1


def backbone(kind: str) -> Any:
    torch.manual_seed(0)
    network, config = (BertModel, BertConfig) if kind == "bert" else (RobertaModel, RobertaConfig)
    model: Any = network(config(**SIZES, pad_token_id=PAD), add_pooling_layer=False)
    with torch.no_grad():  # fresh biases and norms are constants that would hide a swap
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model.double().eval()


def batch(kind: str = "padded") -> dict[str, Tensor]:
    """Rows of 9, 4, 1 and 6 tokens; `hidden` also hides a token inside a row; equal ones have no mask.

    Of 9 and of 15 columns keys get 16, of 7 they get 7.
    """
    torch.manual_seed(1)
    if kind.startswith("equal"):
        return {"input_ids": torch.randint(2, 40, (4, 7 if kind == "equal" else 15))}
    lengths = torch.tensor([9, 4, 1, 6])
    mask = (torch.arange(9) < lengths[:, None]).long()
    ids = torch.randint(2, 40, (4, 9)).masked_fill(mask == 0, PAD)
    if kind == "hidden":
        mask[0, 3] = mask[3, 2] = 0
    return {"input_ids": ids, "attention_mask": mask}


def plain(model: Any, tokens: dict[str, Tensor], pooling: str, **given: Tensor) -> Tensor:
    states = model(**tokens, **given, output_hidden_states=True).hidden_states
    return pool(states, tokens.get("attention_mask"), pooling)


def with_gradients(vectors: Tensor, model: nn.Module) -> list[Tensor]:
    weights = torch.randn(vectors.shape, generator=torch.Generator().manual_seed(2), dtype=vectors.dtype)
    model.zero_grad()
    (vectors * weights).sum().backward()
    gradients = [p.grad if p.grad is not None else torch.zeros_like(p) for p in model.parameters()]
    return [vectors.detach(), *(gradient.clone() for gradient in gradients)]


def assert_equal(ours: list[Tensor], theirs: list[Tensor]) -> None:
    assert len(ours) == len(theirs) > 50
    for our_value, their_value in zip(ours, theirs, strict=True):
        torch.testing.assert_close(our_value, their_value, rtol=1e-9, atol=1e-9)


@pytest.fixture
def no_masks(monkeypatch: pytest.MonkeyPatch) -> list[torch.Size]:
    """Dropout that keeps all; the shapes for which masks were asked."""
    asked: list[torch.Size] = []
    for module in (attention, packed):
        monkeypatch.setattr(module, "dropout", lambda part, inputs: asked.append(inputs.shape) or inputs)
    return asked


@pytest.mark.parametrize("kind", ["bert", "roberta"])
@pytest.mark.parametrize("rows", ["padded", "hidden", "equal", "equal-long"])
@pytest.mark.parametrize("pooling", [*LAYERS, EVERY_LAYER])
def test_values_and_all_gradients_equal_the_backbones_own_pass(
    kind: str, rows: str, pooling: str, no_masks: list[torch.Size]
) -> None:
    """By torch's attention, and in training mode by products, which ask for a mask in each dropout layer."""
    model, tokens = backbone(kind), batch(rows)
    theirs = with_gradients(plain(model, tokens, pooling), model)
    ours = with_gradients(pooled_vectors(model, tokens, pooling), model)
    assert_equal(ours, theirs)
    with torch.no_grad():
        assert torch.equal(pooled_vectors(model, tokens, pooling), ours[0])
    no_masks.clear()
    assert_equal(with_gradients(pooled_vectors(model.train(), tokens, pooling), model), theirs)
    assert len(no_masks) == 1 + 3 * 3


@pytest.mark.parametrize("kind", ["bert", "roberta"])
@pytest.mark.parametrize("shape", [(4, 9, 1), (4, 1, 16), (4, 9, 16)])
@pytest.mark.parametrize("pooling", ["mean", "static-last-avg"])
def test_own_positions_and_factors_of_the_embedding_layer_equal_the_backbones_own_pass(
    kind: str, shape: tuple[int, int, int], pooling: str
) -> None:
    """Factors for tokens, features and elements, given to the backbone by a hook on its embedding layer."""
    model, tokens = backbone(kind), batch("padded")
    given = {"position_ids": torch.stack([torch.randperm(9) for _ in range(4)]) + 2}
    factors = (torch.rand(shape) > 0.4).double()
    ours = with_gradients(pooled_vectors(model, tokens, pooling, **given, embedding_factors=factors), model)
    with multiplied(model, factors):
        theirs = plain(model, tokens, pooling, **given)
    assert_equal(ours, with_gradients(theirs, model))
    assert not torch.allclose(ours[0], pooled_vectors(model, tokens, pooling, **given))
    assert not torch.allclose(ours[0], pooled_vectors(model, tokens, pooling, embedding_factors=factors))


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_given_word_embeddings_replace_the_ids(kind: str) -> None:
    model, tokens = backbone(kind), batch()
    words = model.get_input_embeddings()(tokens["input_ids"]).detach() * 0.5
    states = model(None, tokens["attention_mask"], inputs_embeds=words).last_hidden_state
    torch.testing.assert_close(pooled_vectors(model, tokens, "cls", inputs_embeds=words), states[:, 0])


@pytest.mark.parametrize(("pooling", "last"), [("cls", 4), ("mean", 20)])
def test_linear_layers_see_real_tokens_only(pooling: str, last: int) -> None:
    """9 + 4 + 1 + 6 = 20 real tokens of 36 layers; the last feed-forward sees the 4 first ones under cls."""
    model, seen = backbone("bert"), []
    for layer in model.encoder.layer:
        layer.intermediate.dense.register_forward_hook(lambda module, given, made: seen.append(len(given[0])))
    pooled_vectors(model, batch(), pooling)
    assert seen == [20, 20, last]


def test_dropout_is_active_in_training_everywhere_it_is_in_the_backbone() -> None:
    """With one layer of dropout left on at a time, two passes in training mode differ."""
    model, tokens = backbone("bert").train(), batch()
    layers = [part for part in model.modules() if isinstance(part, nn.Dropout)]
    assert len(layers) == 1 + 3 * 3
    for layer in layers:
        for other in layers:
            other.p = 0.5 if other is layer else 0.0
        torch.manual_seed(3)
        first = pooled_vectors(model, tokens, "cls")
        assert not torch.equal(first, pooled_vectors(model, tokens, "cls"))


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("rows", ["padded", "equal"])
@pytest.mark.usefixtures("no_masks")
def test_the_states_of_all_positions_attend_to_no_padding(training: bool, rows: str) -> None:
    """Values and gradients equal the backbone's own, also by products, whose masks keep all here."""
    model, tokens = backbone("bert"), batch(rows)
    mask = tokens.get("attention_mask", torch.ones_like(tokens["input_ids"]))[..., None]
    theirs = model(**tokens).last_hidden_state * mask
    embedded = model.embeddings(tokens.pop("input_ids"))
    ours = token_states(model.train(training), embedded, tokens) * mask
    assert_equal(with_gradients(ours, model), with_gradients(theirs, model))


@torch.no_grad()
def test_without_gradients_a_broken_sentence_breaks_no_other() -> None:
    """Row 2 holds a piece whose vector is no number; the padding of the others is filled from themselves."""
    model, tokens = backbone("bert"), batch("padded")
    alone = pooled_vectors(model, tokens, "mean")
    model.get_input_embeddings().weight[0] = torch.nan
    tokens["input_ids"][2, 0] = 0
    actual = pooled_vectors(model, tokens, "mean")
    assert actual[2].isnan().all()
    others = [0, 1, 3]
    assert torch.equal(actual[others], alone[others])


def test_an_unknown_backbone_runs_its_own_pass() -> None:
    other = DistilBertModel(DistilBertConfig(dim=16, n_layers=1, n_heads=2, hidden_dim=16, vocab_size=40))
    assert not can_pack(other, batch())
    hidden_first = batch()
    hidden_first["attention_mask"][1, 0] = 0
    assert not can_pack(backbone("bert"), hidden_first)
    assert not can_pack(backbone("bert"), {**batch(), "token_type_ids": torch.zeros(4, 9, dtype=torch.long)})
