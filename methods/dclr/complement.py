"""The complementary model: a frozen encoder that scores which sentences of a batch are alike."""

from __future__ import annotations

from typing import Literal

from torch import nn

from methods.core.encoder import SentenceEncoder
from methods.core.heads import pooler_head
from methods.core.networks import Frozen, Networks

ComplementVector = Literal["own", "cls", "pooler"]


def load_complement(
    networks: Networks, student: SentenceEncoder, *, vector: ComplementVector, dropout: bool
) -> Frozen:
    """Returns the run's parent as a frozen map from the student's tokens to vectors of any width.

    `vector`: what the parent exports (`own`), its last [CLS] (`cls`), or the dense layer with tanh that its
    checkpoint keeps above it (`pooler`; in SimCSE's public checkpoints that is the trained head).
    Errors: InputError if there is no parent, it is no transformer, it has no pooler where `vector` is
    `pooler`, or it splits text differently from the student.
    """
    encoder = networks.parent_encoder(
        "dclr", pooling=None if vector == "own" else "cls", hf_pooler=vector == "pooler", like=student
    )
    head = pooler_head(encoder) if vector == "pooler" else encoder.output or nn.Identity()
    return Frozen(nn.Sequential(encoder, head), dropout=dropout)
