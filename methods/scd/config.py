"""Settings of SCD; the README lists the values of each preset."""

from typing import Self

from pydantic import Field, model_validator

from methods.core.method import MethodConfig
from methods.scd.objective import Reduction


class SCDConfig(MethodConfig):
    """Settings of one SCD run."""

    dropout_low: float = Field(ge=0, lt=1, description="r_A, dropout of the first view, in every layer")
    dropout_high: float = Field(ge=0, lt=1, description="r_B, dropout of the second view, in every layer")
    self_contrast_weight: float = Field(ge=0, description="alpha, weight of the cosine of the two views")
    self_contrast_scale: float = Field(
        gt=0, description="factor of that cosine: 1 / temperature (code), 1 (formula)"
    )
    self_contrast: Reduction = Field(description="mean over the batch, or sum (released checkpoint)")
    decorrelation_weight: float = Field(ge=0, description="beta, weight of the decorrelation")
    off_diagonal_weight: float = Field(ge=0, description="lambda, weight of the off-diagonal terms")
    projector_width: int = Field(ge=1, description="D, width of the projector; 4096 for every backbone")

    @model_validator(mode="after")
    def _rates_in_order(self) -> Self:
        if self.dropout_low > self.dropout_high:
            raise ValueError(f"dropout_low {self.dropout_low} is above dropout_high {self.dropout_high}")
        return self
