"""How a run is trained: the settings that every method shares."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class TrainConfig(BaseModel):
    """How a run is trained. Every number comes from its recipe; nothing is rescaled."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    steps: int | None = Field(
        ge=0, description="optimiser steps; null where `epochs` is given; 0 trains nothing"
    )
    epochs: int | None = Field(ge=1, description="passes over the corpus; null where `steps` is given")
    batch_size: int = Field(ge=1, description="sentences per step")
    drop_last: bool = Field(description="leave out the incomplete batch at the end of an epoch")
    learning_rate: float = Field(gt=0, description="peak learning rate")
    schedule: Literal["linear", "cosine", "constant"]
    warmup_share: float = Field(
        ge=0, lt=1, description="share of all steps in which the rate rises, rounded up"
    )
    betas: tuple[float, float] = Field(strict=False, description="Adam's decay rates")
    epsilon: float = Field(gt=0, description="Adam's epsilon")
    bias_correction: bool = Field(description="off reproduces optimisers without Adam's bias correction")
    adam: Literal["torch", "transformers"] = Field(
        description="whose AdamW; transformers 4, which the papers' trainers used, adds epsilon before the "
        "bias correction and decays weights after the update"
    )
    weight_decay: float = Field(ge=0, description="decoupled weight decay")
    decay_everything: bool = Field(description="off exempts biases and layer norms from weight decay")
    max_grad_norm: float | None = Field(
        gt=0, description="joint gradient norm is clipped to this; null: never"
    )
    precision: Literal["fp32", "bf16"]
    eval_every: int = Field(ge=1, description="steps between two evaluations on the dev set")
    eval_within: Literal["run", "epoch"] = Field(
        description="whose steps `eval_every` counts: the run's, or each epoch's from its first"
    )
    eval_epoch_ends: bool = Field(description="also evaluate when an epoch is complete")
    patience: int | None = Field(
        ge=1, description="stop after this many epoch ends below the best; null: never"
    )
    save_every: int = Field(
        ge=1, description="steps after which a resume point may be written; no effect on results"
    )

    @model_validator(mode="after")
    def _one_length(self) -> Self:
        if (self.steps is None) == (self.epochs is None):
            raise ValueError("give exactly one of steps and epochs, the other null")
        return self
