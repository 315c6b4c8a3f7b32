"""Linear layers in fp32 on a CPU through oneDNN's products, with and without a fused GELU.

torch sends an fp32 linear layer on x86 to MKL; oneDNN, which comes with torch too, was measured at about
twice its rate on an AMD EPYC (`python -m benchmarks evaluation` prints both rates for its machine). Values
differ by rounding alone. Everything that is not a large fp32 product on a CPU takes torch's own path: other
devices and dtypes, autocast, small layers, a torch without oneDNN, or one where `torch.backends.mkldnn` is
switched off.

Legend: T rows, k inputs, n outputs.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

SMALLEST_WEIGHT = 128 * 128
"""Fewer weights than this are left to torch: there oneDNN's cost per call is more than the product's."""

NO_FUSION, FUSED_GELU = ("none", ""), ("gelu", "none")
"""Names of what oneDNN does to each output, and which form of it: GELU by the error function."""


def uses_onednn(inputs: Tensor, weight: Tensor) -> bool:
    """Returns whether `linear` of these goes through oneDNN; neither values nor the number of rows decide."""
    return (
        inputs.device.type == "cpu"
        and inputs.dtype == weight.dtype == torch.float32
        and weight.numel() >= SMALLEST_WEIGHT
        and torch.backends.mkldnn.is_available()
        and bool(torch.backends.mkldnn.enabled)
        and not torch.is_autocast_enabled("cpu")
    )


def linear(layer: nn.Linear, inputs: Tensor) -> Tensor:
    """Returns `layer(inputs)`, with the same gradients, to rounding; [T, k] to [T, n]."""
    if not uses_onednn(inputs, layer.weight):
        return layer(inputs)
    return _Linear.apply(inputs, layer.weight, layer.bias)


def linear_gelu(layer: nn.Linear, inputs: Tensor) -> Tensor:
    """Returns the exact GELU of `layer(inputs)`; [T, k] to [T, n].

    The two are one call where no gradient is wanted, for a gradient needs what GELU was given.
    """
    if torch.is_grad_enabled() or not uses_onednn(inputs, layer.weight):
        return functional.gelu(linear(layer, inputs))
    return _product(inputs, layer.weight, layer.bias, FUSED_GELU)


@torch.no_grad()
def product(rows: Tensor, columns: Tensor) -> Tensor:
    """Returns rows times columns transposed, without a graph; [T, k] and [n, k] to [T, n]."""
    return _product(rows, columns, None) if uses_onednn(rows, columns) else rows @ columns.T


def _product(
    inputs: Tensor, weight: Tensor, bias: Tensor | None, fusion: tuple[str, str] = NO_FUSION
) -> Tensor:
    """Returns inputs times weight transposed, plus bias; [T, k] and [n, k] to [T, n]."""
    name, form = fusion
    return torch.ops.mkldnn._linear_pointwise(inputs, weight, bias, name, [], form)


class _Linear(torch.autograd.Function):
    """The product with its first derivatives, each of them a product as well."""

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
