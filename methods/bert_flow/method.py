"""BERT-flow (Li et al. 2020); Legend: B batch, L tokens, d width."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from methods.bert_flow.config import BertFlowConfig
from methods.core.coupling_flow import CouplingFlow, FlowSettings
from methods.core.heads import without_output
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.rows import Row
from methods.core.types import Batch, Loss


class BertFlow(Method):
    """A flow fitted to a frozen encoder's vectors by maximum likelihood, exported as its last layer."""

    Config = BertFlowConfig
    config: BertFlowConfig

    def __init__(self, config: BertFlowConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        self.encoder.backbone.requires_grad_(False)
        settings = config.model_dump(include={"levels", "depth", "hidden", "permutation"})
        self.encoder.output = CouplingFlow(FlowSettings(width=self.encoder.width, **settings))
        self.fixed_modes = {"encoder.backbone": config.encoder_dropout}

    @property
    def flow(self) -> CouplingFlow:
        """The flow, which is the encoder's output layer."""
        flow = self.encoder.output
        assert isinstance(flow, CouplingFlow)
        return flow

    def prepare(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Initialises the scalings from the first sentences of the corpus, encoded without dropout."""
        with without_output(self.encoder) as flow:
            first = self.encoder.encode([row.text for row in rows[: self.config.start_sentences]])
        flow.fit(torch.from_numpy(first).to(next(flow.parameters()).device))
        return super().prepare(rows)

    def loss(self, batch: Batch) -> Loss:
        """Returns the mean bits per dimension of B sentences, or the sum over both sides of B pairs."""
        with torch.no_grad():
            vectors = self.encoder(batch["anchor"])  # [B or 2B, d]
        log_determinant = self.flow.log_determinant()
        mean = bits_per_dimension(self.flow(vectors), log_determinant).mean()
        total = mean * len(self.columns)
        return Loss(total, {"bits": mean.detach(), "log_determinant": log_determinant.detach()})


def log_normal(latent: Tensor) -> Tensor:
    """Returns the log-density of each vector under N(0, I), in nats; [B, d] to [B]."""
    return -0.5 * (latent.square() + math.log(2.0 * math.pi)).sum(dim=-1)


def bits_per_dimension(latent: Tensor, log_determinant: Tensor) -> Tensor:
    """Returns -(log N(z; 0, I) + log |det dz/du|) / (d ln 2) of each vector; [B].

    Source: BERT-flow's eq. 3 in bits per dimension, as in its released code.
    Shapes: latent [B, d], log_determinant a scalar or [B].
    Facts: 0.5 log2(2 pi e) = 2.04710 in expectation for z normal and a determinant of 1.
    """
    return -(log_normal(latent) + log_determinant) / (latent.shape[-1] * math.log(2.0))
