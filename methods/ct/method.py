"""Contrastive tension (Carlsson et al. 2021); Legend: n pairs, L tokens, d width."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from methods.core.dropout import set_dropout
from methods.core.errors import InputError
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.rows import Row
from methods.core.types import Batch, Encoder, Loss
from methods.ct import objective
from methods.ct.config import CTConfig, NegativePairs


class CT(Method):
    """Trains two copies of the backbone to be similar on the same sentence and dissimilar on random pairs."""

    Config = CTConfig
    config: CTConfig

    def __init__(self, config: CTConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        self.second = networks.new_encoder()
        if config.dropout is not None:
            set_dropout(self, config.dropout)
        start = None if config.scale is None else torch.tensor(math.log(config.scale))
        self.log_scale = None if start is None else nn.Parameter(start)
        self.drawn_from: Sequence[Row] = ()

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Tokenises the corpus and keeps it, because sentences may be drawn from all of it."""
        self.drawn_from = super().prepare(rows)
        return self.drawn_from

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the tokens `first` and `second` of n pairs, each [n, L], and `same` [n] of 0 and 1.

        With draws from the corpus, only the number of the step's rows matters.
        """
        if self.config.sampling == "with-replacement":
            rows = [self.drawn_from[index] for index in rng.integers(len(self.drawn_from), size=len(rows))]
        ids = self.token_ids(rows)
        first, second, same = pair_up(
            len(ids), kind=self.config.negative_pairs, negatives=self.config.negatives
        )
        return {
            "first": self.encoder.pad([ids[index] for index in first]),
            "second": self.encoder.pad([ids[index] for index in second]),
            "same": torch.from_numpy(same),
        }

    def loss(self, batch: Batch) -> Loss:
        """Returns the tension of the pairs; network 1 encodes the first sentences, network 2 the second ones.

        Parts: the mean dot product of positive and of random pairs.
        """
        first, second = self.encoder(batch["first"]), self.second(batch["second"])
        if self.log_scale is not None:
            scale = self.log_scale.exp()
            total = objective.in_batch_tension(first, second, scale=scale, similarity=self.config.similarity)
            return Loss(total, {"scale": scale.detach()})
        same = batch["same"]
        total = objective.tension(first, second, same, reduction=self.config.reduction)
        scores = objective.scores(first, second).detach()
        parts = {
            "score_same": (scores * same).sum() / same.sum(),
            "score_random": (scores * (1 - same)).sum() / (1 - same).sum().clamp(min=1),
        }
        return Loss(total, parts)

    def candidates(self) -> Sequence[Encoder]:
        """Returns both networks if dev selects, otherwise the second."""
        return (self.encoder, self.second) if self.config.exported == "better" else (self.second,)

    def exported(self) -> Encoder:
        """Returns the second network; `candidates` adds the first if dev selects."""
        return self.second


def pair_up(count: int, *, kind: NegativePairs, negatives: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the pairs of `count` sentences, group after group, the positive pair of a group first.

    Returns two indices into a list of sentences, and 1 for positive pairs; each [n]. A group is the positive
    p, then for `two-random` the first sentences u_1 .. u_k and the second sentences v_1 .. v_k, for
    `anchored` only the v, each paired with p. Sentences of an incomplete group are skipped.
    Source: the released code; `anchored` follows the paper's figure.
    Errors: InputError if there is no complete group.
    """
    size = 1 + negatives * (2 if kind == "two-random" else 1)
    if count < size:
        raise InputError(
            f"{count} sentences in a batch, expected at least {size}: one positive and {negatives} random "
            f"pairs ({kind}); set `batch_size` to a multiple of {size}"
        )
    starts = size * np.arange(count // size)[:, None]  # [groups, 1]
    others = np.arange(1, negatives + 1)
    seconds = others + (negatives if kind == "two-random" else 0)
    firsts = others if kind == "two-random" else np.zeros_like(others)
    first, second = (starts + np.concatenate([[0], places]) for places in (firsts, seconds))
    same = np.zeros_like(first)
    same[:, 0] = 1
    return first.ravel(), second.ravel(), same.ravel()
