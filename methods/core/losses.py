"""Shared objectives as pure functions, computed in fp32 or wider.

Legend: B batch, M further negatives, d width. Similarity is the cosine, temperature divides it.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional


def wide(values: Tensor) -> Tensor:
    """Returns the values in fp32, or as they are in fp64."""
    return values if values.dtype == torch.float64 else values.float()


def unit(vectors: Tensor) -> Tensor:
    """Returns rows of length one, in fp32 or wider; a zero row stays zero. Shapes: [..., d] to [..., d]."""
    return functional.normalize(wide(vectors), dim=-1)


def cosine_similarities(queries: Tensor, keys: Tensor) -> Tensor:
    """Returns all cosines between two sets, outside autocast; [B, d] and [M, d] to [B, M]."""
    with torch.autocast(queries.device.type, enabled=False):
        return unit(queries) @ unit(keys).T


def info_nce(
    anchors: Tensor, positives: Tensor, *, temperature: float, negatives: Tensor | None = None
) -> Tensor:
    """Returns the mean cross-entropy of picking each anchor's own positive by cosine similarity.

    Source: SimCSE eq. 1; MoCo eq. 1 if `negatives` is a queue.
    Shapes: anchors [B, d], positives [B, d], negatives [M, d] or None; returns a scalar in nats.
    Gradients: flow to every argument that requires them.
    Facts: log(B + M) when all vectors are equal; tends to 0 with the temperature if each positive is nearest.
    """
    keys = positives if negatives is None else torch.cat([positives, negatives.to(positives.dtype)])
    logits = cosine_similarities(anchors, keys) / temperature  # [B, B+M]
    return functional.cross_entropy(logits, torch.arange(len(anchors), device=logits.device))


def nt_xent(anchors: Tensor, positives: Tensor, *, temperature: float) -> Tensor:
    """Returns the symmetric NT-Xent loss: 2B anchors, each against 2B - 1 others.

    Source: SimCLR eq. 1, the form of UNA's rows (paper eq. 3): the vector itself is excluded, the other
    view of the sentence is the positive, all other 2B - 2 vectors are negatives.
    Shapes: anchors [B, d], positives [B, d]; returns a scalar in nats.
    Facts: log(2B - 1) when all vectors are equal; exactly 0 for B = 1; symmetric in its arguments.
    """
    both = torch.cat([anchors, positives])  # [2B, d]
    logits = cosine_similarities(both, both) / temperature  # [2B, 2B]
    logits = logits.masked_fill(torch.eye(len(both), dtype=torch.bool, device=both.device), -torch.inf)
    index = torch.arange(len(both), device=both.device)
    return functional.cross_entropy(logits, (index + len(anchors)) % len(both))


def uniformity(vectors: Tensor, *, temperature: float) -> Tensor:
    """Returns the log of the mean of exp((cos - 1) / temperature) over all pairs of distinct rows.

    Source: Wang and Isola 2020 (arXiv 2005.10242), whose t is 1 / (2 temperature). At equal temperature it
    corresponds to the negatives of `info_nce` without positives.
    Shapes: vectors [B, d], B > 1; returns a scalar in nats.
    Facts: 0 when all rows are equal, its largest value; -1 / temperature for rows at right angles.
    """
    rows = len(vectors)
    distances = (cosine_similarities(vectors, vectors) - 1) / temperature  # [B, B]
    itself = torch.eye(rows, dtype=torch.bool, device=vectors.device)
    others = distances.masked_fill(itself, -torch.inf)
    return others.flatten().logsumexp(dim=0) - math.log(rows * (rows - 1))


def unit_squared_error(vectors: Tensor, targets: Tensor) -> Tensor:
    """Returns the mean squared distance of unit vectors, 2 - 2 cos per sentence; twice [B, d] to a scalar."""
    with torch.autocast(vectors.device.type, enabled=False):
        return (unit(vectors) - unit(targets)).square().sum(dim=-1).mean()
