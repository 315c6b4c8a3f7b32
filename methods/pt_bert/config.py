"""Settings of PT-BERT; the README lists the values of each preset."""

from typing import Literal, Self

from pydantic import Field, model_validator

from methods.core.errors import InputError
from methods.core.momentum import MomentumContrastConfig

Form = Literal["factorised", "plain", "collapsed"]


class PTBertConfig(MomentumContrastConfig):
    """Settings of one PT-BERT run."""

    pseudo_length: int = Field(ge=1, description="m, number of pseudo tokens")
    pseudo_heads: int = Field(ge=1, description="H, attention heads; a divisor of the width")
    pseudo_dropout: float = Field(ge=0, lt=1, description="p, dropout of the block's attention weights")
    pseudo_source: Literal["pooled", "tokens"] = Field(
        description="keys and values of the first attention: the sentence vector or all token states"
    )
    pseudo_form: Form = Field(
        description="factorised and plain give the same numbers; collapsed: without dropout"
    )
    key_second_attention: Literal["online", "momentum"] = Field(
        description="weights of the key side's second attention; online: the trained weights, as released"
    )
    export: Literal["pooled", "output"] = Field(
        description="evaluated vector: the pooled vector, or the block's output without dropout"
    )

    @model_validator(mode="after")
    def _tokens_have_one_form(self) -> Self:
        if self.pseudo_source == "tokens" and (self.pseudo_form, self.export) != ("plain", "pooled"):
            raise InputError(
                f"pseudo_source tokens with form {self.pseudo_form} and export {self.export}: tokens as "
                f"source need form plain and export pooled"
            )
        return self
