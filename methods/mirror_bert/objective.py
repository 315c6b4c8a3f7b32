"""Mirror-BERT's loss of given vectors. Legend: B sentences, d width."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from methods.core.losses import nt_xent
from methods.core.types import Loss


def mirror_bert_loss(first: Tensor, second: Tensor, *, temperature: float) -> Loss:
    """Returns the contrast of 2B vectors, each with its sentence's other view against 2B - 2 others.

    Source: Mirror-BERT eq. 1, which its code takes from a library of losses; the same as NT-Xent.
    Shapes: first, second [B, d]. Part: the mean cosine of the positive pairs.
    Facts: symmetric in the two views; log(2B - 1) where all vectors are equal; 0 for one sentence.
    """
    positive = functional.cosine_similarity(first.detach().float(), second.detach().float()).mean()
    return Loss(nt_xent(first, second, temperature=temperature), {"positive_cosine": positive})
