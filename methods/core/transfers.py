"""How batches get to the device without a wait, and what the host knows of them.

What the host must know of a mask, where tokens stand and how many, it reads from a copy that stays with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from methods.core.types import HOST_MASK, MASK, Tokens


def to_device(value: Any, device: str | torch.device) -> Any:
    """Returns a batch with every tensor on `device`; tokens keep their mask on the host too."""
    if isinstance(value, Tensor):
        return moved(value, device)
    if not isinstance(value, Mapping):
        return value
    there = {name: to_device(entry, device) for name, entry in value.items()}
    if MASK in value and torch.device(device).type != "cpu":
        there[HOST_MASK] = value[MASK]
    return there


def moved(tensor: Tensor, device: str | torch.device) -> Tensor:
    """Returns a tensor of the host on `device`, without a wait for the copy to a card."""
    if torch.device(device).type == "cuda" and tensor.device.type == "cpu":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)


def mask_on_host(tokens: Mapping[str, Tensor]) -> Tensor | None:
    """Returns the host's copy of the mask, else the mask itself, None where there is none."""
    return tokens.get(HOST_MASK, tokens.get(MASK))


def library_inputs(backbone: Any, tokens: Mapping[str, Tensor]) -> Tokens:
    """Returns tokens as a model of transformers takes them, which asks whether the mask hides anything.

    Where the host knows, it gets no mask, or that of torch's attention, [B, 1, L, L], and asks nothing.
    """
    inputs = dict(tokens)
    on_host = inputs.pop(HOST_MASK, None)
    if on_host is None or MASK not in inputs or backbone.config._attn_implementation != "sdpa":
        return inputs
    if bool(on_host.all()):
        inputs.pop(MASK)
    else:
        inputs[MASK] = inputs[MASK].bool()[:, None, None, :].expand(-1, -1, on_host.shape[1], -1)
    return inputs
