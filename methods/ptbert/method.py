"""PT-BERT (Tan et al. 2022): momentum contrast behind a block of pseudo tokens; Legend: B batch, d width."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator
from torch import Tensor, nn

from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.interface import Encoder, Tokens
from methods.core.momentum import frozen_copy
from methods.core.momentum_contrast import MomentumContrast, MomentumContrastConfig
from methods.core.parents import EncoderFactory
from methods.core.pooling import pool
from methods.ptbert.block import Form, PseudoTokenBlock


class PTBertConfig(MomentumContrastConfig):
    """Settings of one PT-BERT run."""

    pseudo_length: int = Field(ge=1, description="m, number of pseudo tokens")
    pseudo_heads: int = Field(ge=1, description="H, attention heads; a divisor of the width")
    pseudo_dropout: float = Field(ge=0, lt=1, description="p, dropout of the block's attention weights")
    pseudo_source: Literal["pooled", "tokens"] = Field(
        description="keys and values of the first attention: the sentence vector, or all token states"
    )
    pseudo_form: Form = Field(
        description="factorised and plain compute equal numbers, collapsed is the block without dropout"
    )
    key_second_attention: Literal["online", "momentum"] = Field(
        description="weights of the key side's second attention; online: the trained ones, as released"
    )
    export: Literal["pooled", "output"] = Field(
        description="what is evaluated: the pooled vector, or the block's output without dropout"
    )

    @model_validator(mode="after")
    def _tokens_have_one_form(self) -> Self:
        if self.pseudo_source == "tokens" and (self.pseudo_form, self.export) != ("plain", "pooled"):
            raise InputError(
                f"pseudo_source tokens with form {self.pseudo_form} and export {self.export}, expected plain "
                "and pooled: only a single source can be factorised or folded; mend the recipe"
            )
        return self


class PTBert(MomentumContrast):
    """Queries and keys are head(block(pooled vector)); block and head serve training only."""

    Config = PTBertConfig
    config: PTBertConfig

    def __init__(self, config: PTBertConfig, new_encoder: EncoderFactory) -> None:
        super().__init__(config, new_encoder)
        self.block = PseudoTokenBlock(
            self.encoder.width,
            length=config.pseudo_length,
            heads=config.pseudo_heads,
            dropout=config.pseudo_dropout,
            form=config.pseudo_form,
        )
        self.key_block = frozen_copy(self.block)
        self.fixed_modes["key_block"] = config.key_dropout

    def queries(self, tokens: Tokens) -> Tensor:
        """Returns head(block(y)) of the trained side; [B, d]."""
        return self.head(self.block(*self.sources(self.encoder, tokens)))

    def keys(self, tokens: Tokens) -> Tensor:
        """Returns head(block(y)) of the momentum side; [B, d]."""
        # released code: the second attention of the key side reads the trained weights (README deviation 4)
        second = self.block if self.config.key_second_attention == "online" else self.key_block
        return self.key_head(self.key_block(*self.sources(self.key_encoder, tokens), second=second))

    def sources(
        self, encoder: SentenceEncoder, tokens: Tokens
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Returns the pooled vectors [B, d] and, where they are attended, token states [B, L, d] and mask."""
        if self.config.pseudo_source != "tokens":
            return encoder(tokens), None, None
        states, mask = encoder.states(tokens), tokens.get("attention_mask")
        return pool(states, mask, encoder.pooling), states[-1], mask

    def averaged(self) -> list[tuple[nn.Module, nn.Module]]:
        """Returns the pairs of the moving average, the block among them."""
        return [*super().averaged(), (self.key_block, self.block)]

    def exported(self) -> Encoder:
        """Returns the encoder, or the encoder with the block folded into one affine layer."""
        if self.config.export == "pooled":
            return self.encoder
        return SentenceEncoder(
            self.encoder.backbone,
            self.encoder.tokenizer,
            pooling=self.encoder.pooling,
            output=self.block.as_affine(),
        )
