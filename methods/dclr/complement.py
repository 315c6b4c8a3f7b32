"""The complementary model: a frozen encoder that scores which sentences of a batch are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from torch import nn

from methods.core.encoder import SentenceEncoder
from methods.core.errors import InputError
from methods.core.heads import TanhHead
from methods.core.parents import EncoderFactory, Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

ComplementVector = Literal["own", "cls", "pooler"]


def load_complement(
    new_encoder: EncoderFactory, student: SentenceEncoder, *, vector: ComplementVector, dropout: bool
) -> Frozen:
    """Returns the run's parent as a frozen map from the student's tokens to vectors of any width.

    `vector`: what the parent exports (`own`), its last [CLS] (`cls`), or the dense layer with tanh that its
    checkpoint keeps above it (`pooler`; in SimCSE's public checkpoints that is the trained head).
    Errors: InputError if there is no parent, it is no transformer, it has no pooler and `pooler` is asked
    for, or it splits text differently from the student.
    """
    encoder: Any = new_encoder.parent_encoder(
        "dclr", pooling=None if vector == "own" else "cls", hf_pooler=vector == "pooler"
    )
    if not isinstance(encoder, SentenceEncoder):
        raise InputError(
            f"{new_encoder.parent}: the complement is not a transformer, expected one that reads the "
            "student's tokens; name a trained encoder as `parent`"
        )
    if vocabulary(encoder) != vocabulary(student):
        raise InputError(
            f"{new_encoder.parent}: the complement's tokenizer differs from that of {new_encoder.backbone}, "
            "expected the same word pieces and ids; name a `parent` of the same family"
        )
    head = take_pooler(encoder) if vector == "pooler" else encoder.output or nn.Identity()
    return Frozen(nn.Sequential(encoder, head), dropout=dropout)


def take_pooler(encoder: SentenceEncoder) -> TanhHead:
    """Returns the pre-trained pooler of a backbone as a head and removes it from the backbone."""
    head = TanhHead(encoder.width)
    head.dense = encoder.backbone.pooler.dense  # type: ignore[union-attr, assignment]
    encoder.backbone.pooler = None  # type: ignore[assignment]
    return head


def vocabulary(encoder: SentenceEncoder) -> Mapping[str, int]:
    """Returns the word pieces of an encoder's tokenizer with their ids."""
    pieces: Mapping[str, int] = encoder.tokenizer.get_vocab()
    return pieces
