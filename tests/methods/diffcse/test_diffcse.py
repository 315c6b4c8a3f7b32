"""DiffCSE: what is rewritten, what the discriminator reads, which networks learn from which term."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from methods.core.errors import InputError
from methods.core.losses import info_nce
from methods.diffcse.method import DiffCSE, doubled
from methods.diffcse.rewriting import corrupt, pieces
from tests.methods.diffcse.sample import RELEASED, SAMPLES
from tests.support import tiny
from tests.support.tiny import batch_of


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    top = tmp_path_factory.mktemp("diffcse")
    return {
        "bert": tiny.write_backbone(top / "bert"),
        "still": tiny.write_backbone(top / "still", dropout=0.0),
        "generator": tiny.write_backbone(top / "generator", seed=8, masked_model=True),
        "plain": tiny.write_backbone(top / "plain", seed=9),
    }


def made(
    folders: dict[str, Path], backbone: str = "bert", parent: str = "generator", **changes: Any
) -> DiffCSE:
    sample = SAMPLES[0]._replace(config={**RELEASED, **changes})
    method = tiny.build(sample, folders[backbone], parent=folders[parent]).train()
    assert isinstance(method, DiffCSE)
    return method


def gradients(method: DiffCSE, batch: dict[str, Any], seed: int = 0) -> dict[str, Tensor | None]:
    method.zero_grad()
    torch.manual_seed(seed)
    method.loss(batch).total.backward()
    return {name: None if p.grad is None else p.grad.clone() for name, p in method.named_parameters()}


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
    """The same vectors without their graph give the same loss, and the encoder nothing of detection."""
    method = made(folders, "still", detection_weight=1.0, generator_dropout=False)
    batch = batch_of(method)
    original = originals(batch, 12)
    written = method.rewrites(batch, original)
    vectors = method.head(method.encoder(original))
    assert method.discriminator is not None
    logits = method.discriminator({**original, "input_ids": written}, vectors)
    cut = method.discriminator({**original, "input_ids": written}, vectors.detach())
    torch.testing.assert_close(logits, cut)
    weight = method.encoder.backbone.get_input_embeddings().weight  # type: ignore[operator]
    assert torch.autograd.grad(logits.sum(), weight)[0].abs().sum() > 0
    assert torch.autograd.grad(cut.sum(), weight, allow_unused=True)[0] is None


def test_the_discriminator_is_the_backbone_with_the_vector_after_its_embedding_layer(
    folders: dict[str, Path],
) -> None:
    """Checked against the library's own forward pass, real positions and padding, for BERT and RoBERTa."""
    from transformers import RobertaConfig, RobertaModel

    roberta = RobertaModel(
        RobertaConfig(
            vocab_size=99,
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        ),
        add_pooling_layer=False,
    )
    for body in (None, roberta):
        method = made(folders, "still")
        discriminator = method.discriminator
        assert discriminator is not None
        discriminator.body = discriminator.body if body is None else body
        mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
        tokens = {"input_ids": torch.tensor([[2, 9, 8, 7, 3], [2, 6, 3, 1, 1]]), "attention_mask": mask}
        vectors = torch.randn(2, 16, generator=torch.Generator().manual_seed(1))

        def put(module: Any, inputs: Any, given: Tensor, vectors: Tensor = vectors) -> Tensor:
            return torch.cat([vectors.unsqueeze(1), given[:, 1:]], dim=1)

        found = discriminator(tokens, vectors)
        with discriminator.body.embeddings.register_forward_hook(put):
            states = discriminator.body(
                input_ids=tokens["input_ids"] * mask, attention_mask=mask
            ).last_hidden_state
        torch.testing.assert_close(found, discriminator.classes(states), rtol=0, atol=1e-5)


def test_discriminator_and_encoder_start_alike_and_share_nothing(folders: dict[str, Path]) -> None:
    method = made(folders)
    assert method.discriminator is not None
    own = dict(method.encoder.backbone.named_parameters())
    others = dict(method.discriminator.body.named_parameters())
    assert own.keys() == others.keys()
    assert all(torch.equal(own[name], others[name]) and own[name] is not others[name] for name in own)


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
    batch = batch_of(everywhere)
    original = originals(batch, 12)
    for method in (everywhere, chosen_only):
        written = method.rewrites(batch, original)
        assert torch.equal(written[:, 0], original["input_ids"][:, 0])
        kept = (written == original["input_ids"])[~batch["chosen"] & original["attention_mask"].bool()]
        assert bool(kept.all()) == (method is chosen_only)


def test_one_view_halves_what_is_rewritten(folders: dict[str, Path]) -> None:
    assert len(batch_of(made(folders))["corrupted"]) == 12
    assert len(batch_of(made(folders, detection_views="one"))["corrupted"]) == 6


def test_copies_of_a_sentence_are_masked_apart_and_anew_at_every_step(folders: dict[str, Path]) -> None:
    method = made(folders)
    first, later = batch_of(method), batch_of(method, step=1)
    one, other = first["chosen"].chunk(2)
    assert not torch.equal(one, other)
    assert not torch.equal(first["chosen"], later["chosen"])


def test_drawn_pieces_follow_the_scores_and_the_best_one_is_the_best() -> None:
    scores = torch.tensor([0.1, 0.7, 0.2]).log().expand(50, 200, 3)
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
