"""Settings of whitening."""

from typing import Literal

from pydantic import Field

from methods.core.method import MethodConfig


class WhiteningConfig(MethodConfig):
    """Settings of one whitening run."""

    transform: Literal["whiten", "centre"] = Field(description="unit covariance, or only zero mean")
    dim: int | None = Field(ge=1, description="number of directions, largest variance first; null: all")
    sentences: int | None = Field(
        ge=2, description="number of corpus sentences for the statistics; null: all"
    )
