"""DCLR (Zhou et al. 2022); Legend: B batch, L tokens, d width, M noise negatives."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from methods.core.encoder import SentenceEncoder
from methods.core.heads import TanhHead, pooler_head
from methods.core.losses import cosine_similarities
from methods.core.method import Method
from methods.core.networks import Frozen, Networks
from methods.core.rows import Row
from methods.core.token_edits import shuffle_inside
from methods.core.types import HOST_MASK, MASK, Batch, Loss, Tokens, doubled
from methods.dclr import objective
from methods.dclr.config import DCLRConfig

TWENTY = 20.0
"""The released code compares cos / tau with this times phi; this equals cos > phi only for tau 0.05."""


class DCLR(Method):
    """SimCSE with masked false negatives and optimised noise as further negatives."""

    Config = DCLRConfig
    config: DCLRConfig

    def __init__(self, config: DCLRConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        keeps_pooler = config.head.startswith("pooler")
        if config.student_from == "parent":
            self.encoder = networks.parent_encoder(
                "dclr", pooling=networks.pooling, hf_pooler=keeps_pooler
            ).train()
        elif keeps_pooler:
            self.encoder = networks.new_encoder(hf_pooler=True)
        self.head = build_head(config.head, self.encoder)
        self.complement = load_complement(networks, self.encoder, config) if config.has_complement else None

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the tokens `anchor`, new noise [M, d], and the second view.

        The second view is given as tokens `positive` or as factors `keep` for the word embeddings; both are
        missing if the views differ by dropout only.
        """
        ids = self.token_ids(rows)
        count = int(self.config.noise_ratio * len(rows))
        drawn = rng.standard_normal((count, self.encoder.width), dtype=np.float32)
        batch: Batch = {
            "anchor": self.encoder.pad(ids),
            "noise": torch.from_numpy(drawn * np.float32(self.config.noise_scale)),
        }
        if self.config.positive == "token-shuffle":
            batch["positive"] = self.encoder.pad([shuffle_inside(row, rng) for row in ids])
        rate = self.config.cutoff_rate
        if rate is not None and self.config.positive == "feature-cutoff":
            batch["keep"] = cut_features(len(ids), self.encoder.width, rate=rate, rng=rng)
        elif rate is not None:
            span = self.config.positive == "span-cutoff"
            batch["keep"] = cut_tokens([len(row) for row in ids], rate=rate, span=span, rng=rng)
        return batch

    def loss(self, batch: Batch) -> Loss:
        """Returns the weighted contrastive loss of B sentences and M noise vectors."""
        first, second = self.vectors(batch)
        pairs = cosine_similarities(first, second)  # [B, B]
        noise = objective.ascend(
            batch["noise"],
            first,
            second,
            temperature=self.config.noise_temperature,
            steps=self.config.noise_steps,
            step_size=self.config.noise_step_size,
            denominator=self.config.noise_denominator,
        )
        against = cosine_similarities(first, noise)  # [B, M]
        scores = pairs.detach() if self.complement is None else self.complement_scores(batch["anchor"])
        masked = self._masked(pairs.detach() if self.config.weights_from == "student" else scores)
        logits = objective.weighted_logits(
            torch.cat([pairs, against], dim=1),
            masked,
            temperature=self.config.temperature,
            masked_pair=self.config.masked_pair,
        )
        total = objective.OBJECTIVES[self.config.objective](logits)
        parts = {"contrast": total.detach()}
        if self.config.noise_ratio > 0:
            parts["noise_share"] = objective.noise_share(logits)
        if masked is not None:
            parts["masked_share"] = masked.sum() / max(1, len(masked) * (len(masked) - 1))
        if self.config.distillation_weight > 0:
            distance = objective.distillation(pairs, scores, temperature=self.config.temperature)
            total = total + self.config.distillation_weight * distance
            parts["distillation"] = distance.detach()
        return Loss(total, parts)

    def vectors(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Returns the vectors of the two views after the head, each [B, d], from one pass over 2B rows."""
        first, second = batch["anchor"], batch.get("positive") or batch["anchor"]
        twice = self._attended({name: torch.cat([first[name], second[name]]) for name in first})  # [2B, L]
        embeddings = {}
        if "keep" in batch:
            words = self.encoder.backbone.get_input_embeddings()(twice["input_ids"])  # type: ignore[operator]
            plain, cut = words.chunk(2)
            embeddings["inputs_embeds"] = torch.cat([plain, cut * batch["keep"]])  # [2B, L, d]
        one, other = self.head(self.encoder(twice, **embeddings)).chunk(2)
        return one, other

    def complement_scores(self, tokens: Tokens) -> Tensor:
        """Returns the complement's cosines [B, B] between two passes, or within one if both are equal.

        It reads the original sentences, not a shuffled or cut view.
        """
        assert self.complement is not None
        tokens = self._attended(tokens)
        if not self.config.complement_dropout:
            vectors = self.complement(tokens)
            return cosine_similarities(vectors, vectors)
        first, second = self.complement(doubled(tokens)).chunk(2)
        return cosine_similarities(first, second)

    def _masked(self, scores: Tensor) -> Tensor | None:
        """Returns the mask of pairs with weight 0, [B, B] bool; None if all pairs count."""
        threshold = self.config.threshold
        if threshold is None:
            return None
        if self.config.threshold_scale == "twenty":
            threshold = TWENTY * self.config.temperature * threshold
        return objective.false_negatives(scores, threshold=threshold, comparison=self.config.comparison)

    def _attended(self, tokens: Tokens) -> Tokens:
        if not self.config.attend_padding:
            return tokens
        return {
            name: torch.ones_like(ids) if name in (MASK, HOST_MASK) else ids for name, ids in tokens.items()
        }


def build_head(kind: str, encoder: SentenceEncoder) -> nn.Module:
    """Returns the training head; the backbone's pooler moves into it and is not exported."""
    if kind == "mlp":
        return TanhHead(encoder.width)
    below = pooler_head(encoder) if kind.startswith("pooler") else TanhHead(encoder.width)
    return below if kind == "pooler" else nn.Sequential(below, TanhHead(encoder.width))


def load_complement(networks: Networks, student: SentenceEncoder, config: DCLRConfig) -> Frozen:
    """Returns the run's parent as a frozen map from the student's tokens to vectors of any width.

    The vectors are the parent's exported vectors (`own`), its last [CLS] state (`cls`), or the output of its
    checkpoint's pooler (`pooler`; in SimCSE's public checkpoints the trained head).
    Errors: InputError if there is no parent, or the parent is not a transformer, lacks a required pooler, or
    has another tokenizer than the student.
    """
    vector = config.complement_vector
    encoder = networks.parent_encoder(
        "dclr", pooling=None if vector == "own" else "cls", hf_pooler=vector == "pooler", like=student
    )
    head = pooler_head(encoder) if vector == "pooler" else encoder.output or nn.Identity()
    return Frozen(nn.Sequential(encoder, head), dropout=config.complement_dropout)


def cut_tokens(lengths: Sequence[int], *, rate: float, span: bool, rng: np.random.Generator) -> Tensor:
    """Returns factors [B, L, 1], 0 for a share `rate` of each sentence's tokens, special tokens excluded.

    span: the tokens are contiguous; otherwise drawn independently.
    """
    keep = torch.ones(len(lengths), max(lengths), 1)
    for row, length in enumerate(lengths):
        inner = max(0, length - 2)
        count = cut_count(inner, rate)
        if span:
            places = rng.integers(inner - count + 1) + np.arange(count)
        else:
            places = rng.permutation(inner)[:count]
        keep[row, 1 + places] = 0.0
    return keep


def cut_features(count: int, width: int, *, rate: float, rng: np.random.Generator) -> Tensor:
    """Returns factors [B, 1, d], 0 for a share `rate` of the features, drawn per sentence."""
    keep = torch.ones(count, 1, width)
    for row in range(count):
        keep[row, 0, rng.permutation(width)[: cut_count(width, rate)]] = 0.0
    return keep


def cut_count(total: int, rate: float) -> int:
    """Returns the number of `total` items to cut: the rounded share, at least 1 unless `total` is 0."""
    return min(total, max(1, round(rate * total)))
