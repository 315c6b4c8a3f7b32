"""Settings of contrastive tension; the README lists the values of each preset."""

from typing import Literal, Self

from pydantic import Field, model_validator

from methods.core.method import MethodConfig
from methods.ct.objective import Reduction, Similarity

NegativePairs = Literal["two-random", "anchored", "in-batch"]
"""Random pairs: two other sentences, the positive sentence and another one, or all others in the batch."""


class CTConfig(MethodConfig):
    """Settings of one run of contrastive tension."""

    negative_pairs: NegativePairs = Field(
        description="two other sentences (code), the positive's and another (paper's figure), or in the batch"
    )
    negatives: int = Field(ge=0, description="k, negative pairs per positive pair; 0 with `in-batch`")
    sampling: Literal["with-replacement", "one-pass"] = Field(
        description="sentences are drawn from the whole corpus (code), or are the step's rows"
    )
    reduction: Reduction = Field(
        description="over the losses of the pairs; sentence-transformers has a variant with the sum"
    )
    scale: float | None = Field(
        gt=0,
        description="initial value of the learned factor of the similarity with `in-batch`, null otherwise",
    )
    similarity: Similarity = Field(
        default="cosine", description="only for `in-batch`; all others use dot products"
    )
    dropout: float | None = Field(
        ge=0, lt=1, description="hidden and attention dropout of both networks; null: the backbone's"
    )
    exported: Literal["better", "second"] = Field(
        description="exported network: the one with the higher dev score (code), or always the second"
    )

    @model_validator(mode="after")
    def _in_batch_has_a_scale_and_no_drawn_pairs(self) -> Self:
        in_batch = self.negative_pairs == "in-batch"
        if in_batch != (self.scale is not None) or in_batch != (self.negatives == 0):
            raise ValueError(
                f"negative_pairs {self.negative_pairs!r}, negatives {self.negatives}, scale {self.scale}; "
                "expected 0 and a number for `in-batch`, at least 1 and null otherwise"
            )
        if self.similarity == "dot" and not in_batch:
            raise ValueError(
                f"similarity 'dot' with negative_pairs {self.negative_pairs!r}, expected `in-batch`"
            )
        return self
