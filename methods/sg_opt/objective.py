"""The terms of SG-OPT's loss, on vectors after the head; Legend: B batch, K layers, p width of the head.

Anchors [B, p] come from the tuned copy, layer vectors [B, K, p], or one per sentence [B, p], from the frozen
copy. All terms are computed in fp32 or wider; gradients flow to every argument that requires them.
"""

from collections.abc import Iterable
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from methods.core.losses import cosine_similarities, info_nce, nt_xent

OtherLayers = Literal["all", "skip-first"]
Normaliser = Literal["mean", "sum-over-batch"]


def layer_terms(anchors: Tensor, layers: Tensor, *, temperature: float) -> Tensor:
    """Returns for each sentence i and layer k: -s_ik + log(e^s_ik + sum over j != i, all n, of e^s_jn).

    s is the cosine of anchor i with a layer vector over the temperature. Other layers of the same sentence
    are excluded, so the denominator has 1 + (B - 1) K terms.
    Source: the objective that the released code calls SG-OPT.
    Shapes: anchors [B, p], layers [B, K, p]; returns [B, K] in nats.
    Facts: log(1 + (B - 1) K) if all vectors have one direction; 0 for B = 1.
    """
    batch, count = layers.shape[:2]
    scores = cosine_similarities(anchors, layers.flatten(0, 1)) / temperature  # [B, BK]
    sentence = torch.arange(batch, device=scores.device)
    owner = sentence.repeat_interleave(count)  # [BK]
    itself = torch.eye(batch * count, dtype=torch.bool, device=scores.device).unflatten(0, (batch, count))
    counts = itself | (owner != sentence[:, None])[:, None]  # [B, K, BK]
    denominators = scores[:, None].masked_fill(~counts, -torch.inf).logsumexp(dim=-1)  # [B, K]
    return denominators - scores.unflatten(1, (batch, count))[sentence, sentence]


def layer_contrast(anchors: Tensor, layers: Tensor, *, temperature: float) -> Tensor:
    """Returns the mean of `layer_terms` over the B K pairs; a scalar (SG-OPT)."""
    return layer_terms(anchors, layers, temperature=temperature).mean()


def drawn_layer_contrast(
    anchors: Tensor, drawn: Tensor, *, temperature: float, negatives: OtherLayers = "all"
) -> Tensor:
    """Returns InfoNCE of each anchor's layer vector against other sentences' layer vectors; a scalar (OPT2).

    `skip-first` omits the first other sentence, like a slice in the released code, which leaves B - 2
    negatives.
    Shapes: anchors [B, p], drawn [B, p].
    """
    if negatives == "all":
        return info_nce(anchors, drawn, temperature=temperature)
    scores = cosine_similarities(anchors, drawn) / temperature  # [B, B]
    index = torch.arange(len(scores), device=scores.device)
    skipped = (index == 0).long()  # sentence 1 for the anchor 0, otherwise sentence 0
    left_out = (index == skipped[:, None]) & (index != index[:, None])
    return functional.cross_entropy(scores.masked_fill(left_out, -torch.inf), index)


def anchored_contrast(anchors: Tensor, drawn: Tensor, *, temperature: float) -> Tensor:
    """Returns the mean NT-Xent term of the anchors, with negatives of both sides; a scalar (OPT1).

    Shapes: anchors [B, p], drawn [B, p]; 2B - 2 negatives for each anchor.
    """
    keys = torch.cat([drawn, anchors])  # [2B, p]
    scores = cosine_similarities(anchors, keys) / temperature  # [B, 2B]
    index = torch.arange(len(anchors), device=scores.device)
    itself = index[:, None] + len(anchors) == torch.arange(len(keys), device=scores.device)
    return functional.cross_entropy(scores.masked_fill(itself, -torch.inf), index)


def symmetric_contrast(
    anchors: Tensor, others: Tensor, *, temperature: float, normaliser: Normaliser = "mean"
) -> Tensor:
    """Returns NT-Xent over both sides; a scalar (SG, and back-translations in SG-OPT's code).

    The released normaliser, the sum over B, is twice the mean.
    Shapes: anchors [B, p], others [B, p].
    """
    mean = nt_xent(anchors, others, temperature=temperature)
    return mean if normaliser == "mean" else 2.0 * mean


def weight_distance(tuned: Iterable[Tensor], frozen: Iterable[Tensor]) -> Tensor:
    """Returns the squared distance between two lists of weights, summed over all numbers; a scalar.

    Facts: 0 with zero gradient for equal weights; gradient 2 (tuned - frozen).
    Errors: ValueError if the lists differ in length.
    """
    pairs = zip(tuned, frozen, strict=True)
    return torch.stack([(weight - start).square().sum() for weight, start in pairs]).sum()
