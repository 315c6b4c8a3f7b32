"""Settings of MODALS and of PCA jittering."""

from typing import Literal, Self

from pydantic import Field, model_validator

from methods.core.heads import TrainingHead
from methods.core.method import MethodConfig


class ModalsConfig(MethodConfig):
    """Settings of one run."""

    temperature: float = Field(gt=0, description="tau, divides the cosine")
    head: TrainingHead
    positive: Literal[
        "interpolation", "extrapolation", "linear-sampling", "gaussian-noise", "pca-jittering"
    ] = Field(description="augmentation of the second pass' vectors, or of its token embeddings")
    magnitude: float = Field(ge=0, description="m, strength of the augmentation; 0: SimCSE with NT-Xent")
    directions: int | None = Field(ge=1, description="principal directions of the jitter; null otherwise")

    @model_validator(mode="after")
    def _directions_belong_to_the_jitter(self) -> Self:
        if (self.positive == "pca-jittering") != (self.directions is not None):
            raise ValueError("`directions` must be set exactly with `positive: pca-jittering`")
        return self
