"""Pooling: from the token vectors of a backbone to one vector per sentence.

Two different averages are called "first-last" in the literature; the names here state the averaged layers.
`first-last-avg` takes the first transformer layer and the last (SimCSE's current code); `static-last-avg`
takes the embedding layer and the last (the rows of PCL, DCLR and PT-BERT).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from methods.core.errors import InputError, near_matches

LAYERS: dict[str, tuple[int, ...]] = {
    "cls": (-1,),
    "mean": (-1,),
    "first-last-avg": (1, -1),
    "static-last-avg": (0, -1),
    "last-two-avg": (-2, -1),
}
"""Pooling -> the averaged hidden states; 0 is the embedding layer, -1 the last layer."""

EVERY_LAYER = "every-layer"
"""Mean of each layer separately, for objectives that read a frozen copy; not for published vectors."""

PORTABLE = ("cls", "mean")
"""Poolings that a sentence-transformers folder can express without custom code."""


def check_pooling(pooling: str) -> str:
    """Returns the name of a known pooling; raises InputError otherwise."""
    if pooling not in LAYERS:
        raise InputError(
            f"pooling {pooling!r} is not known; expected one of {', '.join(LAYERS)}"
            f"{near_matches(pooling, list(LAYERS))}"
        )
    return pooling


def masked_mean(hidden: Tensor, mask: Tensor | None) -> Tensor:
    """Returns the mean over unmasked tokens, 0 for rows without any; [B, L, d] and mask [B, L] to [B, d]."""
    if mask is None:
        return hidden.mean(dim=1)
    weights = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)


def needs_last_only(pooling: str) -> bool:
    """Returns whether a pooling reads only the last hidden state."""
    return LAYERS.get(pooling) == (-1,)


def pool(states: Sequence[Tensor], mask: Tensor | None, pooling: str) -> Tensor:
    """Returns one vector per sentence, [B, d], or with `EVERY_LAYER` one of each of K states, [B, K, d].

    Shapes: hidden states [B, L, d], embedding layer first, or only the last if no other is needed; mask [B,
    L] or None.
    """
    if pooling == EVERY_LAYER:
        return torch.stack([masked_mean(state, mask) for state in states], dim=1)
    if pooling == "cls":
        return states[-1][:, 0]
    chosen = [states[layer] for layer in LAYERS[pooling]]
    hidden = chosen[0] if len(chosen) == 1 else (chosen[0] + chosen[1]) / 2
    return masked_mean(hidden, mask)
