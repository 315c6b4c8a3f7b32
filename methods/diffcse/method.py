"""DiffCSE (Chuang et al. 2022); Legend: B sentences, R = 2B or B rewrites, L tokens, P places, d width."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.fast.packed import can_pack, token_states
from methods.core.heads import BatchNormHead, TanhHead
from methods.core.losses import info_nce
from methods.core.method import Method
from methods.core.networks import Frozen, Networks
from methods.core.rows import Row
from methods.core.types import ARCHITECTURES, Batch, Loss, Tokens, doubled, library_inputs
from methods.diffcse import objective
from methods.diffcse.config import DiffCSEConfig

MASKED, RANDOM = 0.8, 0.1
"""Shares of the chosen tokens that become the mask and a random token; the rest stays."""

ROWS_AT_ONCE = 32
"""Rows per pass of the generator: scores of 32 x 32 x 30,522 in fp32 take 125 MB."""


class DiffCSE(Method):
    """SimCSE plus detection of replaced tokens, given the sentence vector."""

    Config = DiffCSEConfig
    config: DiffCSEConfig

    def __init__(self, config: DiffCSEConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        width = self.encoder.width
        batch_norm = config.head == "batch-norm"
        self.head = (
            BatchNormHead([width, 2 * width, width], first_bias=False) if batch_norm else TanhHead(width)
        )
        self.generator: Frozen | None = None
        self.discriminator: Discriminator | None = None
        if config.detection_weight > 0:
            model = networks.parent_masked_model("diffcse", output=config.generator_layer, like=self.encoder)
            self.generator = Frozen(model, dropout=config.generator_dropout)
            self.discriminator = Discriminator(networks.new_encoder())
        tokenizer = self.encoder.tokenizer
        self.special = np.array(tokenizer.all_special_ids)
        self.mask_id, self.vocabulary = int(tokenizer.mask_token_id), len(tokenizer)

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the tokens `anchor` [B, L] and R copies: `corrupted` ids and `chosen` positions [R, L].

        The copies of a sentence are corrupted independently; copy 1 of all sentences comes first. `places`:
        the replaced positions [P] of each block of ROWS_AT_ONCE rows, by its first row.
        """
        ids = self.token_ids(rows)
        batch: Batch = {"anchor": self.encoder.pad(ids)}
        if self.discriminator is None:
            return batch
        copies = ids * (2 if self.config.detection_views == "both" else 1)
        edits = [
            corrupt(
                row,
                rng,
                share=self.config.mask_share,
                special=self.special,
                mask_id=self.mask_id,
                vocabulary=self.vocabulary,
            )
            for row in copies
        ]
        batch["corrupted"] = self.encoder.pad([edited for edited, _ in edits])["input_ids"]
        batch["chosen"] = torch.zeros_like(batch["corrupted"], dtype=torch.bool)
        for number, (_, chosen) in enumerate(edits):
            batch["chosen"][number, : len(chosen)] = torch.from_numpy(chosen)
        batch["places"] = self.places(batch)
        return batch

    def places(self, batch: Batch) -> dict[int, Tensor]:
        """Returns the positions [P] that the generator replaces, by the first row of their block.

        Never the first token. With `rewrite_places: masked` they are the chosen ones, otherwise all tokens.
        """
        if self.config.rewrite_places == "masked":
            written = batch["chosen"].clone()
        else:
            mask = batch["anchor"]["attention_mask"].bool()
            written = mask.repeat(len(batch["chosen"]) // len(mask), 1)
        written[:, 0] = False
        starts = range(0, len(written), ROWS_AT_ONCE)
        return {at: written[at : at + ROWS_AT_ONCE].flatten().nonzero().squeeze(1) for at in starts}

    def loss(self, batch: Batch) -> Loss:
        """Returns the contrastive loss of B sentences plus the weighted loss of replaced-token detection."""
        twice = doubled(batch["anchor"])
        vectors = self.head(self.encoder(twice))  # [2B, d]
        first, second = vectors.chunk(2)
        temperature = self.config.temperature
        if self.discriminator is None:
            return Loss(info_nce(first, second, temperature=temperature), {})
        original = {name: tensor[: len(batch["corrupted"])] for name, tensor in twice.items()}  # [R, L]
        written = self.rewrites(batch, original)
        labels = objective.replaced(written, original["input_ids"], original["attention_mask"])
        logits = self.discriminator({**original, "input_ids": written}, vectors[: len(written)])
        loss = objective.diffcse_loss(
            first,
            second,
            logits,
            labels,
            original["attention_mask"],
            temperature=temperature,
            weight=self.config.detection_weight,
            positions=self.config.detection_mean,
        )
        chosen, others = batch["chosen"], original["attention_mask"].bool() & ~batch["chosen"]
        loss.parts["replaced_chosen"] = (labels & chosen).sum() / chosen.sum().clamp(min=1)
        loss.parts["replaced_others"] = (labels & others).sum() / others.sum().clamp(min=1)
        return loss

    def rewrites(self, batch: Batch, original: Tokens) -> Tensor:
        """Returns the generator's output for the corrupted copies; the first token is always the original's.

        Other positions and padding keep their token.
        Source: DiffCSE's code, where the generator replaces all positions.
        Shapes: the batch's copies and places, and their originals [R, L]; returns ids [R, L] without a graph.
        """
        assert self.generator is not None
        tokens = {**original, "input_ids": batch["corrupted"]}
        written = original["input_ids"].clone()
        sample = self.config.generator_output == "sample"
        for start, places in batch["places"].items():
            if len(places):
                block = {name: tensor[start : start + ROWS_AT_ONCE] for name, tensor in tokens.items()}
                scores = self.generator({**block, "places": places})  # [P, V]
                written[start : start + ROWS_AT_ONCE].view(-1)[places] = pieces(scores, sample=sample)
        return written


class Discriminator(nn.Module):
    """A copy of the backbone with two classes at every position: original or replaced.

    The sentence vector replaces the output of the embedding layer at the first position, after layer norm and
    dropout: it gets no position, norm or dropout.
    """

    def __init__(self, encoder: SentenceEncoder) -> None:
        super().__init__()
        self.body: Any = encoder.backbone
        self.classes = nn.Linear(encoder.width, 2)

    def forward(self, tokens: Tokens, vectors: Tensor) -> Tensor:
        """Returns the logits of all positions, padding too; tokens [R, L], vectors [R, d] to [R, L, 2].

        Source: DiffCSE's code; padded positions have id 0 for every tokenizer.
        Errors: InputError for backbones that are not BERT or RoBERTa.
        """
        if type(self.body).__name__ not in ARCHITECTURES:
            raise InputError(
                f"{type(self.body).__name__} cannot be the discriminator of diffcse; use a BERT or RoBERTa"
            )

        def placed(layer: nn.Module, given: Any, embedded: Tensor) -> Tensor:
            return torch.cat([vectors.to(embedded.dtype).unsqueeze(1), embedded[:, 1:]], dim=1)  # [R, L, d]

        inputs = {**tokens, "input_ids": tokens["input_ids"] * tokens["attention_mask"]}
        if can_pack(self.body, tokens):
            embedded = placed(self.body, (), self.body.embeddings(input_ids=inputs["input_ids"]))
            return self.classes(token_states(self.body, embedded, tokens))
        with self.body.embeddings.register_forward_hook(placed):
            return self.classes(self.body(**library_inputs(self.body, inputs)).last_hidden_state)


def corrupt(
    ids: np.ndarray,
    rng: np.random.Generator,
    *,
    share: float,
    special: np.ndarray,
    mask_id: int,
    vocabulary: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the corrupted ids and the mask of chosen positions.

    Every token except special ones is chosen with probability `share`. Of the chosen tokens, 80 % become the
    mask, 10 % a random entry of the vocabulary, special tokens included, 10 % stay.
    Source: DiffCSE's code, BERT's rule.
    Shapes: ids int32 [length]; returns [length] ids and [length] bool.
    """
    chosen = (rng.random(len(ids)) < share) & ~np.isin(ids, special)
    fate = rng.random(len(ids))
    drawn = rng.integers(vocabulary, size=len(ids))
    edited = np.where(chosen & (fate < MASKED), mask_id, ids)
    edited = np.where(chosen & (fate >= MASKED) & (fate < MASKED + RANDOM), drawn, edited)
    return edited.astype(ids.dtype), chosen


def pieces(scores: Tensor, *, sample: bool) -> Tensor:
    """Returns a token for every position, the most probable one or a sample; [P, V] to [P].

    Of exponential waiting times with rates p_i, the i-th is the first with probability p_i. torch's own
    sampling draws the same, but waits for the GPU to check the probabilities.
    """
    if not sample:
        return scores.argmax(dim=-1)
    shares = scores.float().softmax(dim=-1)
    return (shares / torch.empty_like(shares).exponential_()).argmax(dim=-1)
