"""PCL (Wu et al. 2022); Legend: B sentences, K positives, V = K + 1 views, N = B V rows, d width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Self

import numpy as np
import torch
from pydantic import Field, model_validator
from torch import Tensor, nn

from methods.core.grouping import encode_in_groups, pad_in_groups
from methods.core.heads import TanhHead
from methods.core.interface import Batch, Loss, Method, MethodConfig, Row
from methods.core.parents import EncoderFactory, Frozen
from methods.pcl import objective
from methods.pcl.peers import OWN_POOLER, frozen_peer, with_pooler
from methods.pcl.views import continuing_pieces, positive_edits

LENGTH_GROUPS = 4
"""Blocks a batch is encoded in; more save little padding and cost launches."""


class PCLConfig(MethodConfig):
    """Settings of one PCL run; the README says which reading each switch belongs to."""

    positives: int = Field(ge=1, description="K, positives of a sentence, the dropout copy included")
    edits: list[Literal["dropout", "shuffle", "invert", "delete", "repeat"]] = Field(
        description="what makes views 2, 3, ...: the first K - 1 entries are used"
    )
    edit_share: float = Field(ge=0, le=1, description="share of a sentence deleted or repeated")
    edit_unit: Literal["piece", "word"] = Field(description="what an edit moves")
    deletion: Literal["first-occurrence", "place"] = Field(
        description="what goes when a unit is drawn: the leftmost of its value, or itself"
    )
    temperature: float = Field(gt=0, description="tau, divides the cosine")
    coupling: Literal["separate", "tied", "fixed", "none"] = Field(
        description="the peer: its own network, a second pass of the main one, a frozen parent, or no peer "
        "(then no setting of the peer or of the divergences has an effect)"
    )
    peer_head: Literal["pooler-shared-mlp", "new-pooler-shared-mlp", "cls-shared-mlp", "cls-own-mlp"] = Field(
        description="what stands on the peer's pooled vector: the checkpoint's pooler or a new one before "
        "the main head, the main head alone, or a head of its own"
    )
    peer_attention_mask: bool = Field(description="off: the peer attends to padding")
    peer_views: Literal["shared", "independent"] = Field(
        description="one draw of edits for both networks or two"
    )
    contrast: Literal["dropout-and-group", "dropout", "sum"] = Field(
        description="InfoNCE on the dropout copy, with or without the group term, or a sum over all positives"
    )
    contrast_weight: float = Field(ge=0, description="beta, multiplies the contrastive terms")
    kl_pairs: Literal["consistency-agreement", "eq5-literal"] = Field(description="reading of eq. 5")
    kl_direction: Literal["peer-main", "main-peer"] = Field(description="target first")
    kl_reduction: Literal["element-mean", "batch-mean"] = Field(description="divide by B M or by B")
    recompute: bool = Field(
        description="recompute activations in the backward pass: equal numbers, less memory, more time"
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(self.edits) < self.positives - 1:
            raise ValueError(
                f"positives {self.positives} needs {self.positives - 1} edits and `edits` has "
                f"{len(self.edits)}; lengthen `edits` or lower `positives`"
            )
        if self.coupling == "tied" and (self.peer_head != "cls-shared-mlp" or not self.peer_attention_mask):
            raise ValueError(
                "tied networks share head and mask; set `peer_head: cls-shared-mlp` and "
                "`peer_attention_mask: true`"
            )
        if self.coupling == "fixed" and self.peer_head in ("cls-own-mlp", "new-pooler-shared-mlp"):
            raise ValueError(
                f"a fixed peer cannot train the layer that `peer_head: {self.peer_head}` adds; set "
                "`cls-shared-mlp` or `pooler-shared-mlp`"
            )
        return self


class PCL(Method):
    """Two networks contrast a sentence with its edited copies and agree on their distributions."""

    Config = PCLConfig
    config: PCLConfig

    def __init__(self, config: PCLConfig, new_encoder: EncoderFactory) -> None:
        super().__init__(config, new_encoder)
        self.head = TanhHead(self.encoder.width)
        self.edits = positive_edits(config, None)
        self.frozen: Frozen | None = None
        self.peer: nn.Module | None = None
        self.peer_head: nn.Module | None = None
        if config.coupling == "separate":
            peer = new_encoder(hf_pooler=config.peer_head == OWN_POOLER)
            self.peer = with_pooler(peer, kind=config.peer_head)
            if config.peer_head == "cls-own-mlp":
                self.peer_head = TanhHead(self.encoder.width)
        elif config.coupling == "fixed":
            folder = new_encoder.parent_folder("pcl with a fixed peer")
            self.frozen = frozen_peer(folder, self.encoder, kind=config.peer_head)

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Tokenises the corpus; edits of whole words also need to know where words start."""
        if self.config.edit_unit == "word":
            self.edits = positive_edits(self.config, continuing_pieces(self.encoder.tokenizer))
        return super().prepare(rows)

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the views of all rows, sentence by sentence; [N, L] in groups of like length."""
        sentences = self.token_ids(rows)
        views = self.views(sentences, rng)
        batch: Batch = {"views": pad_in_groups(self.encoder, views, groups=LENGTH_GROUPS)}
        if self.config.coupling == "none":
            return batch
        if self.config.peer_views == "independent":
            views = self.views(sentences, rng)
        batch["peer_views"] = pad_in_groups(
            self.encoder, views, groups=LENGTH_GROUPS, masked=self.config.peer_attention_mask
        )
        return batch

    def loss(self, batch: Batch) -> Loss:
        """Returns contrast of each trained network plus cooperation of the two."""
        return objective.pcl_loss(*self.vectors(batch), self.config)

    def vectors(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """Returns what the main network and the peer make of all views after their heads, each [B, V, d]."""
        main = self._fold(self.encoder, self.head, batch["views"])
        if self.config.coupling == "none":
            return main, None
        if self.frozen is not None:
            with torch.no_grad():
                return main, self._fold(self.frozen, self.head, batch["peer_views"])
        network = self.encoder if self.peer is None else self.peer
        head = self.head if self.peer_head is None else self.peer_head
        return main, self._fold(network, head, batch["peer_views"])

    def views(self, sentences: Sequence[np.ndarray], rng: np.random.Generator) -> list[np.ndarray]:
        """Returns the V views of every sentence, one sentence after the other; [N] arrays of ids."""
        return [view for ids in sentences for view in (ids, *(edit(ids, rng) for edit in self.edits))]

    def _fold(self, encode: Callable[..., Tensor], head: nn.Module, batch: Batch) -> Tensor:
        embeddings = head(encode_in_groups(encode, batch, recompute=self.config.recompute))  # [N, d]
        return embeddings.unflatten(0, (-1, self.config.positives + 1))
