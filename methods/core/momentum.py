"""Momentum contrast: queries of a trained encoder against keys of its moving average and a queue of them.

Legend: B batch, L tokens, d width, M earlier keys.
"""

import copy
from typing import Literal, TypeVar

import torch
from pydantic import Field
from torch import Tensor, nn

from methods.core.heads import INITIAL_SD, TrainingHead, training_head
from methods.core.losses import info_nce
from methods.core.method import Method, MethodConfig
from methods.core.networks import Networks
from methods.core.queues import BatchQueue
from methods.core.types import Batch, Loss, Tokens

Network = TypeVar("Network", bound=nn.Module)


def frozen_copy(network: Network) -> Network:
    """Returns a copy without gradients, the key side of a query network."""
    return copy.deepcopy(network).requires_grad_(False)


@torch.no_grad()
def reset_weights(network: nn.Module, *, sd: float) -> None:
    """Reinitialises all weights in place like BERT: normal with standard deviation `sd`.

    The padding row and biases become zero, layer norms the identity.
    """
    for part in network.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            part.weight.normal_(std=sd)
        if isinstance(part, nn.Linear) and part.bias is not None:
            part.bias.zero_()
        if isinstance(part, nn.Embedding) and part.padding_idx is not None:
            part.weight[part.padding_idx].zero_()
        if isinstance(part, nn.LayerNorm):
            part.reset_parameters()


@torch.no_grad()
def ema_update(key: nn.Module, query: nn.Module, *, momentum: float) -> None:
    """Sets every parameter of `key` to momentum * key + (1 - momentum) * query, in place.

    Source: MoCo eq. 2. momentum 1 freezes the keys, 0 copies the query. After n updates towards a constant
    query: key_n = momentum^n key_0 + (1 - momentum^n) query. Buffers are not averaged, because BERT-like
    encoders keep no running statistics.
    """
    keys: list[Tensor] = list(key.parameters())
    queries: list[Tensor] = list(query.parameters())
    if keys or queries:
        torch._foreach_lerp_(keys, queries, 1.0 - momentum)


class MomentumContrastConfig(MethodConfig):
    """Settings that MoCo and PT-BERT share."""

    temperature: float = Field(gt=0, description="tau, divides the cosine")
    momentum: float = Field(ge=0, le=1, description="lambda, share of itself a key weight keeps each step")
    momentum_start: Literal["random", "backbone"] = Field(
        description="initial weights of the key encoder; random: not pre-trained, as in the released code"
    )
    queue_size: int = Field(
        ge=0,
        description="most keys kept from earlier steps, in whole batches, at least one batch; 0: no queue",
    )
    queue_holds_batch: bool = Field(
        description="whether `queue_size` includes the current batch; off: it comes on top, as released"
    )
    head: TrainingHead
    key_dropout: bool = Field(description="whether dropout is active on the key side")


class MomentumContrast(Method):
    """Contrasts each sentence's query with its key and the keys of the batch and of earlier steps.

    Trained: encoder and head. The key side (`key_encoder`, `key_head`) has no gradient and follows by moving
    average.
    """

    config: MomentumContrastConfig

    def __init__(self, config: MomentumContrastConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        width = self.encoder.width
        self.head = training_head(config.head, width)
        self.key_head = frozen_copy(self.head)
        self.key_encoder = networks.new_encoder().requires_grad_(False)
        if config.momentum_start == "random":
            reset_weights(self.key_encoder.backbone, sd=INITIAL_SD)
        self.queue = BatchQueue(config.queue_size, width) if config.queue_size else None
        self.fixed_modes = {"key_encoder": config.key_dropout, "key_head": config.key_dropout}

    def queries(self, tokens: Tokens) -> Tensor:
        """Returns the vectors of the trained side; [B, d]."""
        return self.head(self.encoder(tokens))

    def keys(self, tokens: Tokens) -> Tensor:
        """Returns the vectors of the momentum side; [B, d]. Called without a graph."""
        return self.key_head(self.key_encoder(tokens))

    def averaged(self) -> list[tuple[nn.Module, nn.Module]]:
        """Returns the pairs (key network, query network) of the moving average."""
        return [(self.key_encoder, self.encoder), (self.key_head, self.head)]

    def loss(self, batch: Batch) -> Loss:
        """Returns the contrastive loss of the queries and stores the keys for later steps.

        The key side reads the batch's entry `key` or, without it, the same tokens.
        """
        queries = self.queries(batch["anchor"])  # [B, d]
        with torch.no_grad():
            keys = self.keys(batch["key" if "key" in batch else "anchor"]).float()  # [B, d]
        earlier = self.earlier_keys(len(keys))
        total = info_nce(queries, keys, temperature=self.config.temperature, negatives=earlier)
        if self.queue is not None:
            self.queue.push(keys)
        compared = len(keys) + (0 if earlier is None else len(earlier))
        return Loss(total, {"keys": total.new_full((), float(compared))})

    def earlier_keys(self, batch: int) -> Tensor | None:
        """Returns the keys of earlier steps for a batch; [M, d], None without a queue."""
        if self.queue is None:
            return None
        return self.queue.newest(self.queue.rows_beside(batch, holds_batch=self.config.queue_holds_batch))

    def after_step(self, step: int) -> None:
        """Moves the key side towards the updated weights."""
        for key, query in self.averaged():
            ema_update(key, query, momentum=self.config.momentum)
