"""Settings of Mirror-BERT; the README says which preset each switch belongs to."""

from typing import Literal

from pydantic import Field

from methods.core.dropout import WhenNoHeadIsLeft
from methods.core.method import MethodConfig

SpanPlace = Literal["first-occurrence", "drawn"]
"""The leftmost place with the same characters as the drawn span, or the drawn place itself."""


class MirrorBertConfig(MethodConfig):
    """Settings of one Mirror-BERT run."""

    temperature: float = Field(gt=0, description="tau, divides the cosine")
    vector: Literal["pooled", "padded-mean"] = Field(
        description="what is trained: the pooled vector, or the mean of max_length states, padding too (code)"
    )
    dropout: float | None = Field(
        ge=0, lt=1, description="hidden and attention dropout; null: the backbone's"
    )
    drophead: float = Field(ge=0, lt=1, description="chance of a head to be dropped in a sentence; 0: never")
    drophead_all: WhenNoHeadIsLeft = Field(description="what a sentence that lost all heads gets")
    span_length: int = Field(ge=0, description="k, characters of the second view that are masked; 0: none")
    span_shortest: int = Field(ge=0, description="shortest text, in characters, in which a span is masked")
    span_place: SpanPlace = Field(
        description="mask the first place that reads like the drawn span (code), or the drawn one"
    )
    mask_token: Literal["text", "tokenizer"] = Field(
        description="write [MASK] whatever the tokenizer (code), or the tokenizer's own mask token"
    )
