"""Types shared by corpus, method, trainer and evaluation, and asynchronous transfer of batches to a device.

Legend of shapes used throughout `methods`: B batch, L tokens, d width, K positives, M queue rows.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

Tokens = dict[str, Tensor]
"""`input_ids`, `attention_mask` and, if the backbone uses them, `token_type_ids`; each [B, L]."""

ARCHITECTURES = ("BertModel", "RobertaModel", "XLMRobertaModel")
"""Networks of transformers that `methods.core.fast` computes if nothing is attached to them."""

MASK, HOST_MASK = "attention_mask", "host_mask"
"""The mask of tokens, and its copy on the host if the tokens are on another device."""

Batch = dict[str, Any]
"""Input of a step, by names that the method chooses: `Tokens`, a tensor, or a group of these."""


class Loss(NamedTuple):
    """A scalar fp32 `total` with a graph, and detached scalars for the log."""

    total: Tensor
    parts: dict[str, Tensor]


@runtime_checkable
class Encoder(Protocol):
    """Interface of encoders, as returned by training and used by evaluation."""

    @property
    def dim(self) -> int: ...
    def encode(self, texts: Sequence[str], *, batch_size: int = 128) -> np.ndarray: ...  # [N, dim] fp32
    def save(self, directory: Path) -> None: ...


def doubled(tokens: Tokens) -> Tokens:
    """Returns all rows, then all rows again; [B, L] to [2B, L]."""
    return {name: torch.cat([tensor, tensor]) for name, tensor in tokens.items()}


def to_device(value: Any, device: str | torch.device) -> Any:
    """Returns a batch with every tensor on `device`; tokens keep their mask on the host too."""
    if isinstance(value, Tensor):
        return moved(value, device)
    if not isinstance(value, Mapping):
        return value
    moved_batch = {name: to_device(entry, device) for name, entry in value.items()}
    if MASK in value and torch.device(device).type != "cpu":
        moved_batch[HOST_MASK] = value[MASK]
    return moved_batch


def moved(tensor: Tensor, device: str | torch.device) -> Tensor:
    """Returns a host tensor on `device`, without waiting for the copy to a GPU."""
    if torch.device(device).type == "cuda" and tensor.device.type == "cpu":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)


def mask_on_host(tokens: Mapping[str, Tensor]) -> Tensor | None:
    """Returns the host's copy of the mask, or the mask itself, or None without a mask."""
    return tokens.get(HOST_MASK, tokens.get(MASK))


def library_inputs(backbone: Any, tokens: Mapping[str, Tensor]) -> Tokens:
    """Returns tokens as input of a transformers model, without a transfer from the device.

    The model would ask the device whether the mask hides anything. If the host knows, the model gets no mask
    or torch's attention mask [B, 1, L, L] instead.
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
