"""Linear layers in fp32 on a CPU through oneDNN's products, with and without a fused GELU.

torch sends an fp32 linear layer on x86 to MKL; oneDNN, which comes with torch too, was measured at about
twice its rate on an AMD EPYC, and MKL's two products of a gradient at 1.1 to 3.5 times oneDNN's rate on an
Intel Xeon. MKL is slow in its portable mode, so oneDNN computes the gradients too. Values differ only by
rounding. Everything except large fp32 products uses torch's own path.

Legend: T rows, k inputs, n outputs.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from methods.core.fast.plain import is_plain_linear

HAS_PRODUCTS = (
    torch.backends.mkldnn.is_available()
    and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")
)
"""Whether this torch has oneDNN and exposes its products, which are not part of torch's API."""

SMALLEST_WEIGHT = 64 * 64
"""Smaller weight matrices are left to torch, because oneDNN's overhead per call exceeds the product's cost.
"""

REORDERED = "reordered_weight"
"""Attribute with a layer's weight in oneDNN's memory order, inside `reordered`."""


def fits_onednn(inputs: Tensor, weight: Tensor) -> bool:
    """Returns whether oneDNN computes this product, regardless of values and the number of rows."""
    return (
        inputs.device.type == "cpu"
        and inputs.dtype == weight.dtype == torch.float32
        and weight.numel() >= SMALLEST_WEIGHT
        and HAS_PRODUCTS
        and bool(torch.backends.mkldnn.enabled)
        and not torch.is_autocast_enabled("cpu")
    )


def linear(layer: nn.Linear, inputs: Tensor) -> Tensor:
    """Returns `layer(inputs)` up to rounding, with its gradients; [T, k] to [T, n].

    A layer of another class, or with anything attached, is called.
    """
    if not fits_onednn(inputs, layer.weight) or not is_plain_linear(layer):
        return layer(inputs)
    if torch.is_grad_enabled():
        return _Linear.apply(inputs, layer.weight, layer.bias)
    return _product(inputs, getattr(layer, REORDERED, layer.weight), layer.bias)


def linear_gelu(layer: nn.Linear, inputs: Tensor) -> Tensor:
    """Returns the exact GELU of `layer(inputs)`, in one call without gradients; [T, k] to [T, n]."""
    if torch.is_grad_enabled() or not fits_onednn(inputs, layer.weight) or not is_plain_linear(layer):
        return functional.gelu(linear(layer, inputs))
    return _product(inputs, getattr(layer, REORDERED, layer.weight), layer.bias, gelu=True)


@contextmanager
def reordered(network: nn.Module, rows: int) -> Iterator[None]:
    """Also keeps the weights of linear layers in oneDNN's order, so no call reorders them.

    For passes without gradients, of about `rows` tokens, in which no weight changes; values are the same.
    """
    chosen: list[nn.Linear] = []
    try:
        with torch.no_grad():
            for layer in network.modules():
                if isinstance(layer, nn.Linear) and fits_onednn(layer.weight, layer.weight):
                    weight = torch.ops.mkldnn._reorder_linear_weight(layer.weight.detach(), rows)
                    setattr(layer, REORDERED, weight)
                    chosen.append(layer)
        yield
    finally:
        for layer in chosen:
            delattr(layer, REORDERED)


@torch.no_grad()
def product(rows: Tensor, columns: Tensor) -> Tensor:
    """Returns rows times columns transposed, without a graph; [T, k] and [n, k] to [T, n]."""
    return _product(rows, columns, None) if fits_onednn(rows, columns) else rows @ columns.T


def _product(inputs: Tensor, weight: Tensor, bias: Tensor | None, *, gelu: bool = False) -> Tensor:
    """Returns inputs times weight transposed, plus bias, or their exact GELU; to [T, n]."""
    name, form = ("gelu", "none") if gelu else ("none", "")
    return torch.ops.mkldnn._linear_pointwise(inputs, weight, bias, name, [], form)


class _Linear(torch.autograd.Function):
    """The product and its first derivatives, which are also products."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(inputs, weight)
        return _product(inputs, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        inputs, weight = ctx.saved_tensors
        wanted = ctx.needs_input_grad
        return (
            _product(gradient, weight.t(), None) if wanted[0] else None,
            _product(gradient.t(), inputs.t(), None) if wanted[1] else None,
            gradient.sum(dim=0) if wanted[2] else None,
        )
