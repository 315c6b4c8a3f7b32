"""DiffCSE: its terms for given vectors, rewrites, and inputs of the discriminator."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from methods.core.errors import InputError
from methods.core.heads import BatchNormHead
from methods.core.losses import info_nce
from methods.core.types import doubled
from methods.diffcse import objective
from methods.diffcse.method import corrupt, pieces
from tests.methods.diffcse.sample import SAMPLES
from tests.support import tiny
from tests.support.tiny import batch_of
from tests.support.vectors import assert_equal_with_gradients, drawn


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    top = tmp_path_factory.mktemp("diffcse")
    return {
        "bert": tiny.write_backbone(top / "bert"),
        "still": tiny.write_backbone(top / "still", dropout=0.0),
        "generator": tiny.write_backbone(top / "generator", seed=8, masked_model=True),
        "plain": tiny.write_backbone(top / "plain", seed=9),
    }


def made(folders: dict[str, Path], backbone: str = "bert", parent: str = "generator", **changes: Any) -> Any:
    return tiny.changed(SAMPLES[0], folders[backbone], parent=folders[parent], **changes)


def originals(batch: dict[str, Any], count: int) -> dict[str, Tensor]:
    return {name: tensor[:count] for name, tensor in doubled(batch["anchor"]).items()}


def test_without_detection_it_is_simcse_with_another_head(folders: dict[str, Path]) -> None:
    method = made(folders, detection_weight=0.0)
    batch = batch_of(method)
    assert set(batch) == {"anchor"}
    torch.manual_seed(0)
    total = method.loss(batch).total
    torch.manual_seed(0)
    first, second = method.head(method.encoder(doubled(batch["anchor"]))).chunk(2)
    torch.testing.assert_close(total, info_nce(first, second, temperature=0.05))
    assert not any("discriminator" in name for name, _ in method.named_parameters())


def test_detection_reaches_the_encoder_through_the_first_position_alone(folders: dict[str, Path]) -> None:
    """The same vectors without their graph give the same loss, and no gradient from detection."""
    method = made(folders, "still", detection_weight=1.0, generator_dropout=False)
    batch = batch_of(method)
    original = originals(batch, 12)
    written = method.rewrites(batch, original)
    vectors = method.head(method.encoder(original))
    logits = method.discriminator({**original, "input_ids": written}, vectors)
    cut = method.discriminator({**original, "input_ids": written}, vectors.detach())
    torch.testing.assert_close(logits, cut)
    weight = method.encoder.backbone.get_input_embeddings().weight
    assert torch.autograd.grad(logits.sum(), weight)[0].abs().sum() > 0
    assert torch.autograd.grad(cut.sum(), weight, allow_unused=True)[0] is None


def test_the_discriminator_is_the_backbone_with_the_vector_after_its_embedding_layer(
    folders: dict[str, Path],
) -> None:
    """Checked against the library's own forward pass, real positions and padding, for BERT and RoBERTa."""
    from transformers import RobertaConfig, RobertaModel

    config = RobertaConfig(
        vocab_size=99, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    roberta = RobertaModel(config, add_pooling_layer=False)
    for body in (None, roberta):
        method = made(folders, "still")
        discriminator = method.discriminator
        discriminator.body = discriminator.body if body is None else body
        mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
        tokens = {"input_ids": torch.tensor([[2, 9, 8, 7, 3], [2, 6, 3, 1, 1]]), "attention_mask": mask}
        vectors = torch.randn(2, 16, generator=torch.Generator().manual_seed(1))

        def put(module: Any, inputs: Any, given: Tensor, vectors: Tensor = vectors) -> Tensor:
            return torch.cat([vectors.unsqueeze(1), given[:, 1:]], dim=1)

        actual = discriminator(tokens, vectors)
        with discriminator.body.embeddings.register_forward_hook(put):
            states = discriminator.body(
                input_ids=tokens["input_ids"] * mask, attention_mask=mask
            ).last_hidden_state
        torch.testing.assert_close(actual, discriminator.classes(states), rtol=0, atol=1e-5)
        with discriminator.body.encoder.layer[0].register_forward_hook(lambda layer, given, made: made * 1):
            attached = discriminator(tokens, vectors)  # computed by the network itself
        torch.testing.assert_close(attached, actual, rtol=0, atol=1e-5)


def test_the_accuracy_of_detection_counts_tokens_and_no_padding() -> None:
    """Two sentences of two tokens and one: original, replaced; original. Said: original twice; replaced."""
    says_replaced = torch.tensor([[0, 0, 0], [1, 0, 0]])
    logits = torch.nn.functional.one_hot(says_replaced, 2).float()
    labels = torch.tensor([[False, True, False], [False, False, False]])
    mask = torch.tensor([[1, 1, 0], [1, 0, 0]])
    vectors = torch.eye(2)
    settings: dict[str, Any] = {"temperature": 1.0, "weight": 1.0, "positions": "real"}
    loss = objective.diffcse_loss(vectors, vectors, logits, labels, mask, **settings)
    assert loss.parts["accuracy"].item() == pytest.approx(1 / 3)


@pytest.mark.parametrize("dropout", [True, False])
def test_the_generators_dropout_is_as_the_setting_says(folders: dict[str, Path], dropout: bool) -> None:
    method = made(folders, generator_dropout=dropout)
    batch = batch_of(method)
    texts = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        texts.append(method.rewrites(batch, originals(batch, 12)))
    assert torch.equal(*texts) != dropout


def test_the_first_token_stays_and_with_masked_places_all_that_was_not_chosen(
    folders: dict[str, Path],
) -> None:
    everywhere, chosen_only = made(folders), made(folders, rewrite_places="masked")
    for method in (everywhere, chosen_only):
        batch = batch_of(method)
        original = originals(batch, 12)
        written = method.rewrites(batch, original)
        assert torch.equal(written[:, 0], original["input_ids"][:, 0])
        kept = (written == original["input_ids"])[~batch["chosen"] & original["attention_mask"].bool()]
        assert bool(kept.all()) == (method is chosen_only)


@pytest.mark.parametrize("layer", ["own", "word-embeddings"])
@pytest.mark.parametrize("rewritten", ["masked", "all"])
def test_scores_and_draws_equal_a_generators_that_scores_every_position(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, layer: str, rewritten: str
) -> None:
    """The slow form scores all positions of all rows and takes the written tokens; the noise is the same."""
    monkeypatch.setattr("methods.diffcse.method.ROWS_AT_ONCE", 5)  # 12 rows: two whole blocks and a part
    changes = {"generator_layer": layer, "rewrite_places": rewritten}
    method = made(folders, generator_output="sample", generator_dropout=False, **changes)
    batch = batch_of(method)
    original = originals(batch, 12)
    assert list(batch["places"]) == [0, 5, 10]
    network = method.generator.module.network
    inputs = {"input_ids": batch["corrupted"], "attention_mask": original["attention_mask"]}
    with torch.no_grad():
        if layer == "own":
            every = network(**inputs).logits
        else:
            every = network(**inputs).last_hidden_state @ network.get_input_embeddings().weight.T
    wanted = batch["chosen"] if rewritten == "masked" else original["attention_mask"].bool()
    slow = original["input_ids"].clone()
    torch.manual_seed(3)
    for start in (0, 5, 10):
        rows = {name: tensor[start : start + 5] for name, tensor in inputs.items()}
        scores = method.generator({**rows, "places": batch["places"][start]})
        picked = wanted[start : start + 5].clone()
        picked[:, 0] = False
        torch.testing.assert_close(scores.softmax(-1), every[start : start + 5][picked].softmax(-1))
        slow[start : start + 5][picked] = pieces(every[start : start + 5][picked], sample=True)
    torch.manual_seed(3)
    assert torch.equal(method.rewrites(batch, original), slow)
    assert not torch.equal(slow, original["input_ids"])


def test_one_view_halves_the_rewritten_rows(folders: dict[str, Path]) -> None:
    assert len(batch_of(made(folders))["corrupted"]) == 12
    assert len(batch_of(made(folders, detection_views="one"))["corrupted"]) == 6


def test_drawn_pieces_follow_the_scores_and_the_best_one_is_the_best() -> None:
    scores = torch.tensor([0.1, 0.7, 0.2]).log().expand(10_000, 3)
    torch.manual_seed(0)
    shares = torch.bincount(pieces(scores, sample=True).flatten(), minlength=3) / 10_000
    torch.testing.assert_close(shares, torch.tensor([0.1, 0.7, 0.2]), rtol=0, atol=0.02)
    assert pieces(scores, sample=False).eq(1).all()


def test_masking_has_berts_shares_and_never_takes_a_special_token() -> None:
    """Of 200,000 pieces 30 % are chosen; of those 80 % are the mask, 10 % random and 10 % kept."""
    rng, special = np.random.default_rng(0), np.arange(5)
    ids = rng.integers(5, 1000, size=200_000).astype(np.int32)
    ids[::10] = 3
    edited, chosen = corrupt(ids, rng, share=0.3, special=special, mask_id=4, vocabulary=1000)
    assert not chosen[::10].any()
    assert chosen[ids != 3].mean() == pytest.approx(0.3, abs=0.005)
    assert (edited[chosen] == 4).mean() == pytest.approx(0.8, abs=0.01)
    assert (edited[chosen] == ids[chosen]).mean() == pytest.approx(0.1, abs=0.01)
    assert np.array_equal(edited[~chosen], ids[~chosen])
    assert edited.dtype == np.int32
    assert edited[chosen].min() < 4  # a random piece may be a special one


def test_a_parent_without_an_output_layer_is_refused_in_one_line(folders: dict[str, Path]) -> None:
    with pytest.raises(InputError, match=r"weights are missing.*expected a masked language model"):
        made(folders, parent="plain")
    assert made(folders, parent="plain", generator_layer="word-embeddings").generator is not None


def test_detection_has_its_worked_value() -> None:
    """The wrong class leads by -1, -1, -3 in the first row and by 0, 0, 1 in the second.

    So (2 log(1 + e^-1) + log(1 + e^-3) + 2 log 2 + log(1 + e)) / 6 = 0.562444.
    """
    logits = torch.tensor([[[1, 0], [0, 1], [2, -1]], [[0, 0], [1, 1], [-1, 0]]], dtype=torch.float64)
    actual = objective.replaced_token_detection(logits, torch.tensor([[0, 1, 0], [0, 1, 0]]))
    assert actual.item() == pytest.approx(0.562444, abs=5e-7)


@pytest.mark.parametrize("positions", ["all", "real"])
def test_loss_and_gradients_equal_the_loops(positions: objective.CountedPositions) -> None:
    first, second, logits = drawn(3, 4, seed=6), drawn(3, 4, seed=7), drawn(6, 5, 2, seed=8)
    mask = torch.arange(5) < torch.tensor([5, 3, 4, 5, 3, 4])[:, None]
    labels = (torch.arange(30).view(6, 5) % 3 == 0) & mask
    fast = objective.diffcse_loss(
        first, second, logits, labels, mask.long(), temperature=0.3, weight=0.7, positions=positions
    ).total
    slow = info_nce(first, second, temperature=0.3) + 0.7 * slow_detection(
        logits, labels, mask if positions == "real" else torch.ones_like(mask)
    )
    assert_equal_with_gradients(fast, slow, [first, second, logits])


def slow_detection(logits: Tensor, labels: Tensor, counted: Tensor) -> Tensor:
    losses = []
    for row, position in counted.nonzero().tolist():
        original, new = logits[row, position]
        right = new if labels[row, position] else original
        losses.append(-(right.exp() / (original.exp() + new.exp())).log())
    return torch.stack(losses).mean()


def test_padding_is_never_replaced_and_the_separator_may_be() -> None:
    original, written = torch.tensor([[2, 9, 3, 0]]), torch.tensor([[2, 9, 8, 7]])
    mask = torch.tensor([[1, 1, 1, 0]])
    assert objective.replaced(written, original, mask).tolist() == [[False, False, True, False]]


def test_a_column_of_padding_changes_the_mean_over_all_positions_alone() -> None:
    logits, labels = drawn(2, 3, 2, seed=2), torch.tensor([[0, 1, 0], [1, 0, 0]])
    mask = torch.ones(2, 3)
    wider = torch.cat([logits, torch.full((2, 1, 2), 0.5, dtype=torch.float64)], dim=1)
    more_labels, more_mask = (torch.cat([part, torch.zeros(2, 1)], dim=1).long() for part in (labels, mask))
    plain = objective.replaced_token_detection(logits, labels)
    expected = (6 * plain + 2 * math.log(2)) / 8
    torch.testing.assert_close(objective.replaced_token_detection(wider, more_labels), expected)
    torch.testing.assert_close(objective.replaced_token_detection(wider, more_labels, more_mask), plain)


def test_the_projector_has_the_released_layers_and_refuses_one_row() -> None:
    """Two layers without bias, of which the first is normalised with weights, the second without."""
    head = BatchNormHead([768, 1536, 768], first_bias=False)
    assert sum(parameter.numel() for parameter in head.parameters()) == 2_362_368
    vectors = head(drawn(9, 768).float())
    torch.testing.assert_close(vectors.mean(dim=0), torch.zeros(768), rtol=0, atol=1e-5)
    torch.testing.assert_close(vectors.std(dim=0, correction=0), torch.ones(768), rtol=0, atol=1e-2)
    with pytest.raises(InputError, match="needs at least 2 vectors; use a larger batch"):
        head(torch.zeros(1, 768))
