"""SimCSE (Gao et al. 2021), unsupervised; Legend: B batch, L tokens, d width."""

from torch import Tensor

from methods.core.dropout import set_dropout
from methods.core.heads import training_head
from methods.core.losses import info_nce, nt_xent, uniformity
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.types import Batch, Loss, doubled
from methods.simcse.config import SimCSEConfig


def without_positives(anchors: Tensor, positives: Tensor, *, temperature: float) -> Tensor:
    """Returns `uniformity` of the anchors, a control: the loss without positives, which are ignored."""
    return uniformity(anchors, temperature=temperature)


OBJECTIVES = {"info-nce": info_nce, "nt-xent": nt_xent, "uniformity": without_positives}
"""Name of an objective -> loss of anchors, positives and a temperature; also used by other methods."""


class SimCSE(Method):
    """Contrasts two passes of a batch through the encoder in training mode."""

    Config = SimCSEConfig
    config: SimCSEConfig

    def __init__(self, config: SimCSEConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        if config.dropout is not None:
            set_dropout(self.encoder, config.dropout)
        self.head = training_head(config.head, self.encoder.width)

    def loss(self, batch: Batch) -> Loss:
        """Returns the contrastive loss of B sentences."""
        first, second = self.vectors(batch)
        objective = OBJECTIVES[self.config.objective]
        return Loss(objective(first, second, temperature=self.config.temperature), {})

    def vectors(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Returns the vectors of the two views after the head, each [B, d], from one pass over 2B rows.

        If augmentations are the positives, the batch is [2B, L], texts first.
        """
        tokens = batch["anchor"]
        if self.config.positive == "dropout":
            tokens = doubled(tokens)
        first, second = self.head(self.encoder(tokens)).chunk(2)
        return first, second
