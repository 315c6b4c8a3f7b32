"""Training settings shared by all methods, and the resulting steps and learning rates."""

import math
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from methods.core.errors import InputError

LARGEST, SMALLEST = 1.0e6, 1.0e-12
"""Bounds of the absolute value of a nonzero setting; beyond them losses and steps are not finite in fp32."""
MOST = 10**9
"""Largest integer setting: of steps, rows or tokens."""


class Settings(BaseModel):
    """Base class of recipe settings: frozen, with strict types; refuses unknown keys and absurd numbers."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="after")
    def _numbers_are_sane(self) -> Self:
        for name, value in self:
            if isinstance(value, float) and value and not SMALLEST <= abs(value) <= LARGEST:
                raise ValueError(
                    f"{name} is {value:g}, expected 0 or a size from {SMALLEST:g} to {LARGEST:g}"
                )
            if isinstance(value, int) and abs(value) > MOST:
                raise ValueError(f"{name} is more than {MOST:,}")
        return self


class Patience(Settings):
    """Early stopping by single evaluations, at any step."""

    evaluations: int = Field(ge=1, description="stop after this many counted evaluations")
    counts: Literal["without-best", "falls"] = Field(
        description="counted evaluations: consecutive ones without a new best (ConSERT), or all that score "
        "below the previous one, beginning with the untrained score (SG-OPT)"
    )


Decay = Annotated[float, Field(ge=0, lt=1)]
Drop = Annotated[
    tuple[Annotated[int, Field(ge=0)], Annotated[float, Field(gt=0, le=1000)]], Field(strict=False)
]
"""A step, and the share of the peak rate after it."""


class TrainConfig(Settings):
    """Training settings of a run. Every number comes from its recipe without rescaling."""

    steps: int | None = Field(ge=0, description="optimiser steps; null if `epochs` is given; 0: no training")
    epochs: int | None = Field(ge=1, description="passes over the corpus; null if `steps` is given")
    batch_size: int = Field(ge=1, description="sentences per step")
    drop_last: bool = Field(description="skip the incomplete batch at the end of an epoch")
    learning_rate: float = Field(gt=0, le=1000, description="peak learning rate")
    schedule: Literal["linear", "cosine", "constant", "piecewise"]
    rate_drops: tuple[Drop, ...] = Field(
        default=(),
        strict=False,
        description="only for `piecewise`: pairs of a step and the share of the peak rate after it",
    )
    warmup_share: float = Field(
        ge=0, lt=1, description="share of all steps in which the rate rises, rounded up"
    )
    betas: tuple[Decay, Decay] = Field(strict=False, description="Adam's decay rates; [0, rho] is RMSprop")
    epsilon: float = Field(gt=0, description="Adam's epsilon")
    bias_correction: bool = Field(description="off reproduces optimisers without Adam's bias correction")
    adam: Literal["torch", "transformers"] = Field(
        description="whose AdamW; transformers 4, which the papers' trainers used, adds epsilon before the "
        "bias correction and decays weights after the update"
    )
    weight_decay: float = Field(ge=0, description="decoupled weight decay")
    decay_everything: bool = Field(description="off exempts biases and layer norms from weight decay")
    max_grad_norm: float | None = Field(
        gt=0, description="bound of the joint gradient norm; null: no clipping"
    )
    precision: Literal["fp32", "bf16"]
    eval_every: int = Field(ge=1, description="steps between two evaluations on the dev set")
    eval_within: Literal["run", "epoch"] = Field(
        description="whether `eval_every` counts steps of the run, or restarts in each epoch"
    )
    eval_epoch_ends: bool = Field(description="also evaluate when an epoch is complete")
    patience: Annotated[int, Field(ge=1)] | Patience | None = Field(
        description="stop after this many epoch ends in a row without a new best, or by single evaluations; "
        "null: no early stopping"
    )
    save_every: int = Field(ge=1, description="steps between possible resume points; no effect on results")

    @model_validator(mode="after")
    def _one_length(self) -> Self:
        if (self.steps is None) == (self.epochs is None):
            raise ValueError("give exactly one of steps and epochs, the other null")
        return self

    @model_validator(mode="after")
    def _drops_in_order(self) -> Self:
        steps = [after for after, _ in self.rate_drops]
        if bool(steps) != (self.schedule == "piecewise") or steps != sorted(set(steps)):
            raise ValueError(
                f"rate_drops at steps {steps} with schedule {self.schedule!r}; expected ascending steps "
                f"with `piecewise`, none otherwise"
            )
        return self

    def rate_factor(self, step: int, *, total: int) -> float:
        """Returns the share of the peak learning rate at a step, counted from 0.

        `linear` falls to 0 at `total`, `cosine` along half a cosine, `constant` stays, `piecewise` is
        constant between its drops: (s, share) applies after step s, not yet at s. All rise linearly from 0
        over the warm-up steps.
        """
        warmup = math.ceil(self.warmup_share * total)
        if step < warmup:
            return step / warmup
        if self.schedule == "constant":
            return 1.0
        if self.schedule == "piecewise":
            return next((share for after, share in reversed(self.rate_drops) if step > after), 1.0)
        done = (step - warmup) / max(1, total - warmup)
        return 1.0 - done if self.schedule == "linear" else 0.5 * (1.0 + math.cos(math.pi * done))


class StepPlan(NamedTuple):
    """Assignment of rows to the batches of a run that states its steps or its epochs.

    Steps count from 0 over all epochs.
    """

    rows: int
    batch_size: int
    drop_last: bool
    steps: int | None
    epochs: int | None

    @property
    def total(self) -> int:
        """All steps of the run.

        Errors: InputError if the corpus has fewer rows than one batch and incomplete batches are dropped.
        """
        if self.steps != 0 and not self.per_epoch:
            raise InputError(
                f"{self.rows} rows make no batch of {self.batch_size} with drop_last; use a larger corpus "
                f"or a smaller batch"
            )
        return self.steps if self.steps is not None else self.per_epoch * int(self.epochs or 0)

    @property
    def per_epoch(self) -> int:
        """Steps per epoch; the last batch may be smaller unless `drop_last`."""
        whole = self.rows // self.batch_size
        return whole if self.drop_last else math.ceil(self.rows / self.batch_size)

    def position(self, step: int) -> tuple[int, slice]:
        """Returns the epoch of a step and the slice of that epoch's row order that forms its batch."""
        epoch, inside = divmod(step, self.per_epoch)
        return epoch, slice(inside * self.batch_size, min((inside + 1) * self.batch_size, self.rows))

    def inside_epoch(self, done: int) -> int:
        """Returns the steps since the start of the epoch of the last of `done` (at least 1) steps."""
        return (done - 1) % self.per_epoch + 1

    def ends_epoch(self, done: int) -> bool:
        """Returns whether `done` finished steps complete an epoch."""
        return done > 0 and done % self.per_epoch == 0
