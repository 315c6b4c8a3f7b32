"""The results that are compared: hashes of operators on fixed inputs, and of first losses."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

OPERATORS = "operators"
"""Computations in addition to runs, which are named by their keys."""
ROWS = 64
"""Rows of the corpus for first losses: the emulator computes products some 500 times slower."""


def computed(keys: Sequence[str]) -> Iterator[dict[str, str]]:
    """Computes in this process and yields name -> hash of the results of each key."""
    from harness.check.first_losses import measure_run
    from harness.plan.params_file import read_params

    for key in keys:
        if key == OPERATORS:
            yield {f"operator {name}": digest for name, digest in operators().items()}
        else:
            losses = measure_run(read_params(), key, most_rows=ROWS)
            yield {f"losses {key}": sha256(json.dumps(losses).encode())}


def operators() -> dict[str, str]:
    """Returns operator -> hash of its result on fixed inputs; portable arithmetic must be set before.

    A difference between processors shows here first.
    """
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
        plain = linear(layer, rows)
    given = rows.clone().requires_grad_()
    made = linear(layer, given)
    made.square().sum().backward()
    heads = rows.view(4, 16, 4, 96).transpose(1, 2)
    symmetric = square @ square.T
    wide = square.numpy().astype(np.float64)
    outputs: dict[str, Any] = {
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
    return {name: sha256(np.ascontiguousarray(value).tobytes()) for name, value in outputs.items()}


def code_that_computes() -> str:
    """Returns the fingerprint of the code of training and of this benchmark."""
    from harness.plan.identity import METHODS, code_base, training_roots

    roots = [root for method in METHODS for root in training_roots(method)]
    return sha256(code_base().fingerprint(roots).encode() + Path(__file__).read_bytes())


def sha256(data: bytes) -> str:
    """Returns the first digits of a hash, enough to distinguish results."""
    return hashlib.sha256(data).hexdigest()[:16]
