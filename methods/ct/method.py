"""Contrastive tension (Carlsson et al. 2021); Legend: n pairs, L tokens, d width."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from methods.core.dropout import set_dropout
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.types import Batch, Encoder, Loss, Row
from methods.ct import objective
from methods.ct.config import CTConfig
from methods.ct.pairs import pair_up


class CT(Method):
    """Two copies of the backbone are trained apart: alike on the same sentence, unlike on random pairs."""

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
        """Tokenises the corpus and remembers it: sentences may be drawn from all of it."""
        self.drawn_from = super().prepare(rows)
        return self.drawn_from

    def collate(self, rows: Sequence[Row], *, step: int, rng: np.random.Generator) -> Batch:
        """Returns the tokens `first` and `second` of n pairs, each [n, L], and `same` [n] of 0 and 1.

        Drawn with replacement, the step's rows say only how many sentences there are.
        """
        if self.config.sampling == "with-replacement":
            rows = [self.drawn_from[place] for place in rng.integers(len(self.drawn_from), size=len(rows))]
        ids = self.token_ids(rows)
        pairs = pair_up(len(ids), kind=self.config.negative_pairs, negatives=self.config.negatives)
        return {
            "first": self.encoder.pad([ids[place] for place in pairs.first]),
            "second": self.encoder.pad([ids[place] for place in pairs.second]),
            "same": torch.from_numpy(pairs.same),
        }

    def loss(self, batch: Batch) -> Loss:
        """Returns the tension of the pairs, network 1 reading the firsts and network 2 the seconds."""
        first, second = self.encoder(batch["first"]), self.second(batch["second"])
        if self.log_scale is not None:
            scale = self.log_scale.exp()
            total = objective.in_batch_tension(first, second, scale=scale, similarity=self.config.similarity)
            return Loss(total, {"scale": scale.detach()})
        same = batch["same"]
        total = objective.tension(first, second, same, reduction=self.config.reduction)
        return Loss(total, mean_scores(objective.scores(first, second).detach(), same))

    def candidates(self) -> Sequence[Encoder]:
        """Returns both networks where dev decides, else the second."""
        return (self.encoder, self.second) if self.config.exported == "better" else (self.second,)

    def exported(self) -> Encoder:
        """Returns the second network; `candidates` has the first next to it where dev decides."""
        return self.second


def mean_scores(found: Tensor, same: Tensor) -> dict[str, Tensor]:
    """Returns the mean dot product of positive and of random pairs, for the log; [n] twice to scalars."""
    return {
        "score_same": (found * same).sum() / same.sum(),
        "score_random": (found * (1 - same)).sum() / (1 - same).sum().clamp(min=1),
    }
