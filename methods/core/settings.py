"""What all settings of a training have in common: strict types, and numbers that arithmetic can bear."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

LARGEST, SMALLEST = 1.0e6, 1.0e-12
"""Bounds of the size of a setting that is not 0: beyond them losses and steps are not finite in fp32."""
MOST = 10**9
"""The largest whole number: of steps, rows or pieces."""


class Settings(BaseModel):
    """Settings of a recipe: strict types, frozen, unknown keys and absurd numbers are refused."""

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
