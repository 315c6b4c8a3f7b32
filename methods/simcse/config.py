"""Settings of SimCSE; the README lists the values of each preset."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from methods.core.heads import TrainingHead
from methods.core.method import MethodConfig
from methods.core.rows import FIRST_AUGMENTATION, TEXT, Column


class SimCSEConfig(MethodConfig):
    """Settings of one SimCSE run."""

    temperature: float = Field(gt=0, description="tau, divides the cosine")
    objective: Literal["info-nce", "nt-xent", "uniformity"] = Field(
        description="one-sided; symmetric, as in UNA's rows; or, as a control, negatives only"
    )
    positive: Literal["dropout", "paraphrase"] = Field(
        description="the same text with another dropout mask, or its first augmentation in the corpus"
    )
    head: TrainingHead
    dropout: float | None = Field(
        ge=0, lt=1, description="hidden and attention dropout; null: the backbone's"
    )

    @property
    def columns(self) -> Sequence[Column]:
        return (TEXT, FIRST_AUGMENTATION) if self.positive == "paraphrase" else (TEXT,)
