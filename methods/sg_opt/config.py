"""Settings of SG-OPT, one switch for every difference between paper and released code."""

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field, model_validator

from methods.core.method import MethodConfig
from methods.core.rows import FIRST_AUGMENTATION, TEXT, Column
from methods.sg_opt.objective import Normaliser, OtherLayers

Objective = Literal["sg-opt", "opt2", "opt1", "sg", "back-translation"]


class SGOptConfig(MethodConfig):
    """Settings of one SG-OPT run; the presets `released` and `paper` are blocks of its recipe."""

    temperature: float = Field(gt=0, description="tau, divides the cosine")
    objective: Objective = Field(
        description="all layers; one random layer against other layers, also against vectors, or with both "
        "sides as anchors; or contrast with a back-translation"
    )
    distance_weight: float = Field(
        ge=0, description="lambda, weight of the squared distance to the frozen weights"
    )
    first_layer: int = Field(ge=0, description="first hidden state; 0 is the embedding layer")
    last_layer: int | None = Field(ge=1, description="end of the hidden states (exclusive); null: all")
    frozen_dropout: bool = Field(description="dropout of the frozen copy is active (released code)")
    freeze_embeddings: bool = Field(description="the embedding layer of the tuned copy is frozen")
    head_width: int = Field(ge=1, description="p, width of the two layers of the training head")
    opt2_negatives: OtherLayers = Field(
        description="all other sentences, or all except the first of them (released code)"
    )
    normaliser: Normaliser = Field(
        description="for objectives with both sides as anchors: mean over 2B, or sum over B"
    )

    @model_validator(mode="after")
    def _layers_agree(self) -> Self:
        if self.last_layer is not None and self.last_layer <= self.first_layer:
            raise ValueError(
                f"last_layer {self.last_layer} with first_layer {self.first_layer}; last_layer is "
                f"exclusive, so it must be larger or null"
            )
        if self.first_layer > 0 and self.draws_layers:
            raise ValueError(
                f"first_layer {self.first_layer} with objective {self.objective!r}; objectives with a "
                f"random layer need first_layer 0"
            )
        return self

    @property
    def draws_layers(self) -> bool:
        """Whether one layer of the frozen copy is drawn for each sentence."""
        return self.objective in ("opt2", "opt1", "sg")

    @property
    def columns(self) -> Sequence[Column]:
        return (TEXT, FIRST_AUGMENTATION) if self.objective == "back-translation" else (TEXT,)
