"""Settings of BERT-flow, one switch for every difference between paper, released code and its port."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from methods.core.coupling_flow import Permutation
from methods.core.method import MethodConfig
from methods.core.rows import FIRST_AUGMENTATION, TEXT, Column


class BertFlowConfig(MethodConfig):
    """Settings of one BERT-flow run; the presets `released` and `paper` are blocks of its recipe."""

    levels: int = Field(ge=1, description="M; 3 in the released settings, 2 in the paper")
    depth: int = Field(ge=1, description="steps of each level")
    hidden: int = Field(ge=1, description="width of the couplings' inner layers")
    permutation: Permutation = Field(
        description="reversal of the channels (released code), or random (paper)"
    )
    sides: Literal["pairs", "sentences"] = Field(
        description="a row is both sentences of a pair, whose means are added (released code), or a single "
        "sentence"
    )
    encoder_dropout: bool = Field(
        description="dropout of the fixed encoder is active while fitting (released)"
    )
    start_sentences: int = Field(
        ge=2, description="number of sentences from which the scalings are initialised"
    )

    @property
    def columns(self) -> Sequence[Column]:
        return (TEXT, FIRST_AUGMENTATION) if self.sides == "pairs" else (TEXT,)
