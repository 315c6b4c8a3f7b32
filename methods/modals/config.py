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
    ] = Field(description="what is done to the second pass' vectors, or to its token embeddings")
    magnitude: float = Field(ge=0, description="m, how far the positive is moved; 0: SimCSE with NT-Xent")
    directions: int | None = Field(ge=1, description="principal directions of the jitter; else null")

    @model_validator(mode="after")
    def _directions_belong_to_the_jitter(self) -> Self:
        if (self.positive == "pca-jittering") != (self.directions is not None):
            raise ValueError("directions go with positive: pca-jittering, expected both or null; fix one")
        return self
