"""Template (authors and year); Legend: B batch, L tokens, d width."""

from __future__ import annotations

import torch
from pydantic import Field

from methods.core.losses import info_nce
from methods.core.method import Method, MethodConfig
from methods.core.types import Batch, Loss


class TemplateConfig(MethodConfig):
    """Settings of one run of template; the README lists the values of each preset."""

    temperature: float = Field(gt=0, description="tau, divides the cosine")


class Template(Method):
    """One line: the training objective."""

    Config = TemplateConfig
    config: TemplateConfig

    def loss(self, batch: Batch) -> Loss:
        """Returns the loss of B sentences: replace SimCSE's by the loss of template."""
        tokens = {name: torch.cat([ids, ids]) for name, ids in batch["anchor"].items()}  # [2B, L]
        first, second = self.encoder(tokens).chunk(2)
        return Loss(info_nce(first, second, temperature=self.config.temperature), {})
