"""The terms of PCL's loss as pure functions.

Legend: B sentences, K positives of each (view 1 is the dropout copy), V = K + 1 views (view 0 is the anchor),
M = K + B - 1 candidates of one distribution, d width; m main network, p peer network.
"""

import torch
from torch import Tensor
from torch.nn import functional

from methods.core.losses import info_nce, unit
from methods.core.types import Loss
from methods.pcl.config import PCLConfig

KL_PAIRS = {
    "consistency-agreement": {"kl_consistency": ("mm", "pp"), "kl_agreement": ("mp", "pm")},
    "eq5-literal": {"kl_consistency": ("mp", "pp"), "kl_agreement": ("mp", "pm")},
}
"""Variant of eq. 5 -> term -> the pairings of the main network's and of the peer's distribution."""


def pcl_loss(main: Tensor, peer: Tensor | None, config: PCLConfig) -> Loss:
    """Returns the loss of the two networks' vectors of all views; its parts are the unweighted terms.

    Source: PCL eq. 3; the switches of `config` select the terms.
    Shapes: main [B, V, d], peer [B, V, d] or None.
    Gradients: no vector is detached.
    """
    logits = candidate_logits(main, peer, temperature=config.temperature)
    learning = {"main": main} | ({} if peer is None or config.coupling == "fixed" else {"peer": peer})
    parts: dict[str, Tensor] = {}
    for name, vectors in learning.items():
        own_logits = logits[name[0] * 2]
        terms = contrast(vectors, own_logits, kind=config.contrast, temperature=config.temperature)
        parts |= {f"{term}_{name}": value for term, value in terms.items()}
    total = config.contrast_weight * torch.stack(list(parts.values())).sum()
    if peer is not None:
        shared = cooperation(
            logits, pairs=config.kl_pairs, direction=config.kl_direction, reduction=config.kl_reduction
        )
        total = total + torch.stack(list(shared.values())).sum()
        parts |= shared
    parts["positive_mass"] = logits["mm"].softmax(dim=1)[:, : config.positives].sum(dim=1).mean()
    return Loss(total, {name: value.detach() for name, value in parts.items()})


def candidate_logits(main: Tensor, peer: Tensor | None, *, temperature: float) -> dict[str, Tensor]:
    """Returns cosine / temperature of each anchor with its candidates, for every pairing of the networks.

    Row i has the K positives of sentence i, then the anchors of all other sentences in order, so columns
    correspond across pairings. Key `xy`: anchors of x, candidates of y.
    Source: PCL eq. 4.
    Shapes: main [B, V, d], peer [B, V, d] or None; returns `mm` and with a peer also `pp`, `mp` and `pm`,
    each [B, M].
    Gradients: flow to both networks through all four.
    """
    with torch.autocast(main.device.type, enabled=False):
        views = {"m": unit(main)} | ({} if peer is None else {"p": unit(peer)})
        if "p" in views:
            crossed = views["m"][:, 0] @ views["p"][:, 0].T  # [B, B], serves mp and, transposed, pm
            products = {"mp": crossed, "pm": crossed.T}
        else:
            products = {}
        products |= {name * 2: view[:, 0] @ view[:, 0].T for name, view in views.items()}
        return {
            pair: torch.cat([_to_positives(views[pair[0]], views[pair[1]]), off_diagonal(product)], dim=1)
            / temperature
            for pair, product in products.items()
        }


def off_diagonal(square: Tensor) -> Tensor:
    """Returns each row without its diagonal entry, the order kept. Shapes: [B, B] to [B, B-1]."""
    size = len(square)
    return square.flatten()[1:].view(size - 1, size + 1)[:, :-1].reshape(size, size - 1)


def group_term(logits: Tensor, *, positives: int) -> Tensor:
    """Returns the binary cross-entropy that rewards probability on the group of positives.

    Source: PCL's released code only. The softmax probabilities are used as logits of a logistic function; to
    first order the value is log 2 + (1/2 - P)/M, where P is the mass on the positives.
    Shapes: logits [B, M], the first `positives` columns are the group; returns the mean over B M entries.
    Facts: smallest for equal mass on the positives, largest for all mass on one negative.
    """
    target = torch.zeros_like(logits)
    target[:, :positives] = 1.0
    return functional.binary_cross_entropy_with_logits(logits.softmax(dim=1), target)


def summed_info_nce(logits: Tensor, *, positives: int) -> Tensor:
    """Returns the sum over the positives of K InfoNCE losses, each against the same B - 1 other anchors.

    Source: PCL eq. 6. Shapes: logits [B, M], the first `positives` columns are positives; a scalar in nats.
    Facts: K log B when all vectors are equal.
    """
    others = logits[:, positives:].logsumexp(dim=1, keepdim=True)  # [B, 1]
    return functional.softplus(others - logits[:, :positives]).sum(dim=1).mean()


def contrast(vectors: Tensor, logits: Tensor, *, kind: str, temperature: float) -> dict[str, Tensor]:
    """Returns the contrastive terms of one network.

    kind: `dropout` InfoNCE on views 0 and 1; `dropout-and-group` also the group term; `sum` eq. 6.
    Shapes: vectors [B, V, d], logits [B, M] within the network.
    """
    positives = vectors.shape[1] - 1
    if kind == "sum":
        return {"nce": summed_info_nce(logits, positives=positives)}
    terms = {"nce": info_nce(vectors[:, 0], vectors[:, 1], temperature=temperature)}
    if kind == "dropout-and-group":
        terms["group"] = group_term(logits, positives=positives)
    return terms


def cooperation(
    logits: dict[str, Tensor], *, pairs: str, direction: str, reduction: str
) -> dict[str, Tensor]:
    """Returns the two divergences between the networks' distributions over the candidates.

    direction: `peer-main` is KL(peer || main), `main-peer` the reverse. reduction: `element-mean` divides by
    B M as in the released code, `batch-mean` by B as in the paper's expectation over sentences.
    Source: PCL eq. 5.
    Shapes: each logit matrix [B, M].
    Gradients: flow through both sides of each term.
    Facts: 0 with zero gradient if the networks are equal; `batch-mean` is M times `element-mean`.
    """
    log = {pair: matrix.log_softmax(dim=1) for pair, matrix in logits.items()}
    count = log["mm"].numel() if reduction == "element-mean" else len(log["mm"])
    terms = {}
    for name, (main, peer) in KL_PAIRS[pairs].items():
        target, guess = (peer, main) if direction == "peer-main" else (main, peer)
        divergence = functional.kl_div(log[guess], log[target], log_target=True, reduction="sum")
        terms[name] = divergence / count
    return terms


def _to_positives(anchors: Tensor, candidates: Tensor) -> Tensor:
    """Returns the cosine of each anchor to its own K positives; [B, V, d] twice to [B, K]."""
    return torch.bmm(candidates[:, 1:], anchors[:, 0].unsqueeze(2)).squeeze(2)
