"""SCD (Klein and Nabi 2022); Legend: B sentences, d width, D width of the projections."""

from torch import Tensor

from methods.core.dropout import dropout_rate
from methods.core.heads import BatchNormHead
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.types import Batch, Loss, Tokens
from methods.scd.config import SCDConfig
from methods.scd.objective import scd_loss


class SCD(Method):
    """Separates a sentence's vectors under two dropout rates; aligns and decorrelates their projections."""

    Config = SCDConfig
    config: SCDConfig

    def __init__(self, config: SCDConfig, networks: Networks) -> None:
        super().__init__(config, networks)
        wide = config.projector_width
        self.projector = BatchNormHead([self.encoder.width, wide, wide, wide], first_bias=True)

    def loss(self, batch: Batch) -> Loss:
        """Returns self-contrast of the vectors and decorrelation of their projections.

        Each view has separate batch statistics, because the projector is called once per view.
        """
        first, second = self.vectors(batch["anchor"])
        return scd_loss(
            first,
            second,
            self.projector(first),
            self.projector(second),
            self_contrast_weight=self.config.self_contrast_weight,
            self_contrast_scale=self.config.self_contrast_scale,
            self_contrast_reduction=self.config.self_contrast,
            decorrelation_weight=self.config.decorrelation_weight,
            off_diagonal_weight=self.config.off_diagonal_weight,
        )

    def vectors(self, tokens: Tokens) -> tuple[Tensor, Tensor]:
        """Returns the vectors with the low and with the high rate, each [B, d], from one pass each."""
        with dropout_rate(self.encoder, self.config.dropout_low):
            first = self.encoder(tokens)
        with dropout_rate(self.encoder, self.config.dropout_high):
            second = self.encoder(tokens)
        return first, second
