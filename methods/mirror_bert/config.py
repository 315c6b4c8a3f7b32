"""Settings of Mirror-BERT; the README lists the values of each preset."""

from typing import Literal

from pydantic import Field

from methods.core.dropout import WhenNoHeadIsLeft
from methods.core.method import MethodConfig

SpanPlace = Literal["first-occurrence", "drawn"]
"""Masked span: the leftmost one with the characters of the drawn span, or the drawn span."""


class MirrorBertConfig(MethodConfig):
    """Settings of one Mirror-BERT run."""

    temperature: float = Field(gt=0, description="tau, divides the cosine")
    vector: Literal["pooled", "padded-mean"] = Field(
        description="trained vector: the pooled vector, or the mean of max_length states with padding (code)"
    )
    dropout: float | None = Field(
        ge=0, lt=1, description="hidden and attention dropout; null: the backbone's"
    )
    drophead: float = Field(ge=0, lt=1, description="probability that a head is dropped in a sentence")
    drophead_all: WhenNoHeadIsLeft = Field(description="treatment of a sentence that lost all heads")
    span_length: int = Field(ge=0, description="k, masked characters of the second view")
    span_shortest: int = Field(ge=0, description="fewest characters of a text with a masked span")
    span_place: SpanPlace = Field(
        description="mask the first occurrence of the drawn span's characters (code), or the drawn span"
    )
    mask_token: Literal["text", "tokenizer"] = Field(
        description="write [MASK] for every tokenizer (code), or the tokenizer's mask token"
    )
