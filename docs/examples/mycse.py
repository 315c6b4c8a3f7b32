"""SimCSE with a second term: a penalty on correlated features."""

import torch
from pydantic import Field

from methods.core.heads import training_head
from methods.core.losses import info_nce, unit
from methods.core.method import Method, MethodConfig
from methods.core.types import Loss


class Config(MethodConfig):
    temperature: float = Field(0.05, gt=0)
    weight: float = Field(0.01, ge=0)


class MyCSE(Method):
    Config = Config

    def __init__(self, config, networks):
        super().__init__(config, networks)
        self.head = training_head("mlp", self.encoder.width)

    def vectors(self, batch):
        twice = {name: torch.cat([ids, ids]) for name, ids in batch["anchor"].items()}
        return self.head(self.encoder(twice)).float().chunk(2)  # two views, each [B, d]

    def loss(self, batch):
        first, second = self.vectors(batch)
        contrast = info_nce(first, second, temperature=self.config.temperature)
        vectors = torch.cat([first, second])  # [2B, d]
        features = unit((vectors - vectors.mean(dim=0)).T)  # [d, 2B]
        correlation = features @ features.T  # [d, d]
        penalty = (correlation - torch.eye(len(correlation))).square().mean()
        return Loss(contrast + self.config.weight * penalty, {"penalty": penalty.detach()})
