"""PCL (Wu et al. 2022); Legend: B sentences, K positives, V = K + 1 views, N = B V rows, d width."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from methods.core.batching import encode_in_groups, pad_in_groups
from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.heads import TanhHead, pooler_head
from methods.core.method import Method
from methods.core.networks import Frozen, Networks
from methods.core.rows import Row
from methods.core.token_edits import (
    TokenEdit,
    by_words,
    delete_inside,
    invert_inside,
    repeat_inside,
    shuffle_inside,
)
from methods.core.types import Batch, Loss
from methods.pcl import objective
from methods.pcl.config import PCLConfig

MARKS_OF_CONTINUATION = ("##",)
MARKS_OF_START = ("Ġ", "▁")
OWN_POOLER, NEW_POOLER = "pooler-shared-mlp", "new-pooler-shared-mlp"


class PCL(Method):
    """Contrasts a sentence with augmented copies in two networks, and aligns their distributions."""

    Config = PCLConfig
    config: PCLConfig

    def __init__(self, config: PCLConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        self.head = TanhHead(self.encoder.width)
        words = config.edit_unit == "word"
        self.edits = positive_edits(config, continuing_pieces(self.encoder.tokenizer) if words else None)
        self.frozen: Frozen | None = None
        self.peer: nn.Module | None = None
        self.peer_head: nn.Module | None = None
        if config.coupling == "separate":
            peer = networks.new_encoder(hf_pooler=config.peer_head == OWN_POOLER)
            self.peer = with_pooler(peer, kind=config.peer_head)
            if config.peer_head == "cls-own-mlp":
                self.peer_head = TanhHead(self.encoder.width)
        elif config.coupling == "fixed":
            self.frozen = frozen_peer(networks, self.encoder, kind=config.peer_head)

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the views of all rows, sentence by sentence; [N, L] in groups of similar length."""
        sentences = self.token_ids(rows)
        views = self.views(sentences, rng)
        batch: Batch = {"views": pad_in_groups(self.encoder, views)}
        if self.config.coupling == "none":
            return batch
        if self.config.peer_views == "independent":
            views = self.views(sentences, rng)
        batch["peer_views"] = pad_in_groups(self.encoder, views, masked=self.config.peer_attention_mask)
        return batch

    def loss(self, batch: Batch) -> Loss:
        """Returns contrast of each trained network plus cooperation of the two."""
        return objective.pcl_loss(*self.vectors(batch), self.config)

    def vectors(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """Returns all views' vectors from main network and peer, after their heads; each [B, V, d]."""
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


def with_pooler(encoder: SentenceEncoder, *, kind: str) -> nn.Module:
    """Returns the encoder followed by the pooler that `kind` names: tokens to [B, d].

    `pooler-shared-mlp` uses the backbone's pooler (the encoder must have been loaded with it),
    `new-pooler-shared-mlp` a new one, as for checkpoints without a pooler; other kinds have no pooler.
    """
    if kind == OWN_POOLER:
        return nn.Sequential(encoder, pooler_head(encoder))
    if kind == NEW_POOLER:
        return nn.Sequential(encoder, TanhHead(encoder.width))
    return encoder


def frozen_peer(networks: Networks, main: SentenceEncoder, *, kind: str) -> Frozen:
    """Returns the run's parent as a frozen peer with active dropout.

    Errors: InputError if its tokenizer or width differs from the main network's.
    """
    parent = networks.parent_encoder(
        "pcl with a fixed peer", pooling=main.pooling, hf_pooler=kind == OWN_POOLER, like=main
    )
    if parent.width != main.width:
        raise InputError(
            f"{networks.parent}: width {parent.width}, expected the backbone's {main.width}: a fixed peer "
            f"shares the main network's head"
        )
    return Frozen(with_pooler(parent, kind=kind), dropout=True)


def positive_edits(config: PCLConfig, continues: np.ndarray | None) -> list[TokenEdit]:
    """Returns the edits of views 1..K: none for the dropout copy, then the first K - 1 of `config.edits`.

    `continues` marks tokens that continue a word, for edits of whole words; None edits tokens.
    """
    longest = config.max_length
    known: dict[str, TokenEdit] = {
        "dropout": unchanged,
        "shuffle": shuffle_inside,
        "invert": invert_inside,
        "delete": partial(
            delete_inside,
            share=config.edit_share,
            first_occurrence=config.deletion == "first-occurrence",
        ),
        "repeat": partial(repeat_inside, share=config.edit_share, max_length=longest),
    }
    chosen = [known[name] for name in config.edits[: config.positives - 1]]
    if continues is not None:
        chosen = [partial(edit_words, edit=edit, continues=continues, max_length=longest) for edit in chosen]
    return [unchanged, *chosen]


def unchanged(ids: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Returns the same ids: a positive that differs by dropout only."""
    return ids


def edit_words(
    ids: np.ndarray, rng: np.random.Generator, *, edit: TokenEdit, continues: np.ndarray, max_length: int
) -> np.ndarray:
    """Returns the ids after an edit of whole words, truncated before the last id if they are too long."""
    edited = by_words(ids, rng, edit, continues=continues)
    return edited if len(edited) <= max_length else np.append(edited[: max_length - 1], edited[-1])


def continuing_pieces(tokenizer: Any) -> np.ndarray:
    """Returns whether each entry of a vocabulary continues the word before it; [vocabulary] bool.

    Word pieces mark a continuation (`##`), byte-level and unigram pieces mark a start instead.
    Errors: InputError if the vocabulary has neither mark.
    """
    pieces = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    continuing = np.array([piece.startswith(MARKS_OF_CONTINUATION) for piece in pieces])
    if continuing.any():
        return continuing
    starting = np.array([piece.startswith(MARKS_OF_START) for piece in pieces])
    if not starting.any():
        raise InputError("the tokenizer does not mark words; set `edit_unit: piece`")
    return ~starting
