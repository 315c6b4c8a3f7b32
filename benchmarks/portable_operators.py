"""Hashes of the operators that results are made of: a difference between processors shows here first."""

from __future__ import annotations

import hashlib
from typing import Any


def operators() -> dict[str, str]:
    """Returns operator -> hash of its result on fixed inputs; needs portable arithmetic to be set before."""
    import numpy as np
    import scipy.linalg
    import torch
    from torch.nn import functional

    from methods.core.fast.linear import linear

    drawn = torch.Generator().manual_seed(0)
    rows, square = (torch.randn(count, 384, generator=drawn) for count in (64, 384))
    few, keys = torch.randn(32, 50, generator=drawn), torch.randn(256, 50, generator=drawn)
    layer = torch.nn.Linear(384, 1536)
    with torch.no_grad():
        for weights in layer.parameters():
            weights.copy_(torch.randn(weights.shape, generator=drawn))
    given = rows.clone().requires_grad_()
    made = linear(layer, given)
    made.square().sum().backward()
    with torch.no_grad():
        plain = linear(layer, rows)
    heads = rows.view(4, 16, 4, 96).transpose(1, 2)
    symmetric = square @ square.T
    wide = square.numpy().astype(np.float64)
    found: dict[str, Any] = {
        "normal draws": square,
        "uniform draws": torch.rand(1000, generator=drawn),
        "permutation": torch.randperm(1000, generator=drawn),
        "small product": few @ keys.T,
        "large product": rows @ square,
        "batched product": torch.bmm(heads.flatten(0, 1), heads.flatten(0, 1).transpose(1, 2)),
        "linear layer": plain,
        "linear layer in training": made.detach(),
        "gradient of inputs": given.grad,
        "gradient of weights": layer.weight.grad,
        "gradient of biases": layer.bias.grad,
        "exp": rows.exp(),
        "log": rows.abs().log(),
        "tanh": rows.tanh(),
        "sigmoid": rows.sigmoid(),
        "softmax": rows.softmax(-1),
        "log-sum-exp": rows.logsumexp(-1),
        "GELU": functional.gelu(rows),
        "layer norm": functional.layer_norm(rows, (384,)),
        "cosine": functional.cosine_similarity(rows[:32], rows[32:]),
        "sum": rows.sum(),
        "mean of rows": rows.mean(0),
        "norm": rows.norm(dim=1),
        "attention": functional.scaled_dot_product_attention(heads, heads, heads),
        "eigenvalues": torch.linalg.eigh(symmetric)[0],
        "singular values": torch.linalg.svd(square)[1],
        "Cholesky": torch.linalg.cholesky(symmetric + 384 * torch.eye(384)),
        "NumPy product": rows.numpy() @ square.numpy(),
        "NumPy product in float64": wide @ wide,
        "NumPy exp": np.exp(wide),
        "NumPy log": np.log(np.abs(wide)),
        "NumPy sum": wide.sum(),
        "NumPy mean of rows": wide.mean(0),
        "NumPy svd": np.linalg.svd(wide)[1],
        "SciPy eigenvalues": scipy.linalg.eigh(wide @ wide.T)[0],
    }
    return {name: _hash(value) for name, value in found.items()}


def _hash(value: Any) -> str:
    import numpy as np

    numbers = np.ascontiguousarray(value.detach().numpy() if hasattr(value, "detach") else value)
    return hashlib.sha256(numbers.tobytes()).hexdigest()[:16]
