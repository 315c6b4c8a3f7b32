"""Which library multiplies matrices faster in training passes on this machine."""

import statistics
import time
from typing import get_args

import torch
from torch import nn

from methods.core.fast.choices import Library, training_products, use_for_training
from methods.core.fast.linear import linear

ROWS, INPUTS, OUTPUTS = 1024, 768, 3072
"""Tokens of a batch of 64 short sentences, and BERT-base's largest layer."""


def training_rates(rounds: int = 9) -> dict[Library, float]:
    """Returns GFLOP/s of a linear layer with both gradients by library, medians of alternating rounds."""
    layer, rows = nn.Linear(INPUTS, OUTPUTS), torch.randn(ROWS, INPUTS, requires_grad=True)
    before, times = training_products(), dict[Library, list[float]]({name: [] for name in get_args(Library)})
    try:
        for _ in range(rounds + 1):
            for library, taken in times.items():
                use_for_training(library)
                started = time.perf_counter()
                linear(layer, rows).sum().backward()
                taken.append(time.perf_counter() - started)
    finally:
        use_for_training(before)
    operations = 3 * 2 * ROWS * INPUTS * OUTPUTS
    return {library: operations / statistics.median(taken[1:]) / 1e9 for library, taken in times.items()}
