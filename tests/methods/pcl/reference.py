"""PCL's loss written once more from its equations, one sentence and one candidate at a time, in float64."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from tests.support.vectors import cosine


def distribution(anchors: Tensor, candidates: Tensor, i: int, tau: float) -> list[Tensor]:
    """Returns the M probabilities of sentence i: its own views 1..K, then the anchors of the others."""
    scores = [cosine(anchors[i, 0], view) / tau for view in candidates[i, 1:]]
    scores += [cosine(anchors[i, 0], candidates[j, 0]) / tau for j in range(len(anchors)) if j != i]
    weights = [score.exp() for score in scores]
    total = torch.stack(weights).sum()
    return [weight / total for weight in weights]


def nce_dropout(x: Tensor, tau: float) -> Tensor:
    loss = x.new_zeros(())
    for i in range(len(x)):
        weights = [(cosine(x[i, 0], x[j, 1]) / tau).exp() for j in range(len(x))]
        loss = loss - (weights[i] / torch.stack(weights).sum()).log() / len(x)
    return loss


def nce_sum(x: Tensor, tau: float) -> Tensor:
    loss = x.new_zeros(())
    for k in range(1, x.shape[1]):
        for i in range(len(x)):
            positive = (cosine(x[i, 0], x[i, k]) / tau).exp()
            others = [(cosine(x[i, 0], x[j, 0]) / tau).exp() for j in range(len(x)) if j != i]
            loss = loss - (positive / torch.stack([positive, *others]).sum()).log() / len(x)
    return loss


def group(x: Tensor, tau: float) -> Tensor:
    loss, entries = x.new_zeros(()), 0
    for i in range(len(x)):
        for c, q in enumerate(distribution(x, x, i, tau)):
            squashed = 1 / (1 + (-q).exp())
            loss = loss - (squashed if c < x.shape[1] - 1 else 1 - squashed).log()
            entries += 1
    return loss / entries


def divergence(target: tuple[Tensor, Tensor], guess: tuple[Tensor, Tensor], tau: float, how: str) -> Tensor:
    loss, size = target[0].new_zeros(()), len(target[0])
    for i in range(size):
        p, q = (distribution(anchors, candidates, i, tau) for anchors, candidates in (target, guess))
        for p_c, q_c in zip(p, q, strict=True):
            loss = loss + p_c * (p_c / q_c).log() / size
    return loss / len(p) if how == "element-mean" else loss


def pcl(u: Tensor, v: Tensor | None, config: Mapping[str, Any]) -> Tensor:
    """Returns the total for main vectors u and peer vectors v, each [B, V, d]."""
    tau = config["temperature"]
    total = u.new_zeros(())
    for x in (u,) if v is None or config["coupling"] == "fixed" else (u, v):
        terms = [nce_sum(x, tau)] if config["contrast"] == "sum" else [nce_dropout(x, tau)]
        if config["contrast"] == "dropout-and-group":
            terms.append(group(x, tau))
        total = total + config["contrast_weight"] * torch.stack(terms).sum()
    if v is None:
        return total
    mm, pp, mp, pm = (u, u), (v, v), (u, v), (v, u)
    pairs = [(mm, pp), (mp, pm)] if config["kl_pairs"] == "consistency-agreement" else [(mp, pp), (mp, pm)]
    for main, peer in pairs:
        target, guess = (peer, main) if config["kl_direction"] == "peer-main" else (main, peer)
        total = total + divergence(target, guess, tau, config["kl_reduction"])
    return total
