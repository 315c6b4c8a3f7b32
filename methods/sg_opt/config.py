"""Settings of SG-OPT, one switch for every point in which text and released code differ."""

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
        description="all layers; one drawn layer against other layers, against vectors too, both sides as "
        "anchors; or the contrast with a back-translation"
    )
    distance_weight: float = Field(ge=0, description="lambda of the squared distance to the frozen weights")
    first_layer: int = Field(ge=0, description="lowest hidden state that is read; 0 is the embedding layer")
    last_layer: int | None = Field(
        ge=1, description="hidden states from this one on are left out; null: none"
    )
    frozen_dropout: bool = Field(description="dropout of the frozen copy is active (released code)")
    freeze_embeddings: bool = Field(description="the embedding layer of the tuned copy stays as it is")
    head_width: int = Field(ge=1, description="p, width of the two layers of the training head")
    opt2_negatives: OtherLayers = Field(
        description="all other sentences, or without the lowest-numbered of them (released code)"
    )
    normaliser: Normaliser = Field(
        description="of the objectives with both sides as anchors: the mean over 2B, or the sum over B"
    )

    @model_validator(mode="after")
    def _layers_agree(self) -> Self:
        if self.last_layer is not None and self.last_layer <= self.first_layer:
            raise ValueError(
                f"last_layer {self.last_layer} with first_layer {self.first_layer}; expected a larger one or "
                "null, for it is the first state that is left out"
            )
        if self.first_layer > 0 and self.draws_layers:
            raise ValueError(
                f"first_layer {self.first_layer} with objective {self.objective!r}; expected 0 where one "
                "layer is drawn, as in the released code, whose draw is not shifted"
            )
        return self

    @property
    def draws_layers(self) -> bool:
        """Whether one layer of the frozen copy is drawn for each sentence."""
        return self.objective in ("opt2", "opt1", "sg")

    @property
    def columns(self) -> Sequence[Column]:
        return (TEXT, FIRST_AUGMENTATION) if self.objective == "back-translation" else (TEXT,)
