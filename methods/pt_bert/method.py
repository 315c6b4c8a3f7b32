"""PT-BERT (Tan et al. 2022): momentum contrast behind a block of pseudo tokens; Legend: B batch, d width."""

from __future__ import annotations

from torch import Tensor, nn

from methods.core.encoder import SentenceEncoder
from methods.core.momentum import MomentumContrast, frozen_copy
from methods.core.networks import Networks
from methods.core.pooling import pool
from methods.core.types import Encoder, Tokens
from methods.pt_bert.block import PseudoTokenBlock
from methods.pt_bert.config import PTBertConfig


class PTBert(MomentumContrast):
    """Queries and keys are head(block(pooled vector)); block and head serve training only."""

    Config = PTBertConfig
    config: PTBertConfig

    def __init__(self, config: PTBertConfig, networks: Networks) -> None:
        super().__init__(config, networks)
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
