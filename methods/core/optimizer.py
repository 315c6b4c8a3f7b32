"""AdamW as the papers' code has it, including the variant without bias correction."""

from __future__ import annotations

import math

import torch
from torch import nn

from methods.core.train_config import TrainConfig


def build_optimizer(method: nn.Module, config: TrainConfig) -> torch.optim.AdamW:
    """Returns AdamW over the parameters with `requires_grad`, each once.

    With `decay_everything` off, biases and the weights of layer norms have a group without weight decay.
    """
    named = [(name, value) for name, value in method.named_parameters() if value.requires_grad]
    free = set() if config.decay_everything else _without_decay(method)
    groups = [
        {"params": [value for name, value in named if name not in free], "decay": config.weight_decay},
        {"params": [value for name, value in named if name in free], "decay": 0.0},
    ]
    return torch.optim.AdamW(
        [group for group in groups if group["params"]],
        lr=config.learning_rate,
        betas=config.betas,
        eps=config.epsilon,
        weight_decay=config.weight_decay,
        fused=True,
    )


def set_rate(optimizer: torch.optim.Optimizer, config: TrainConfig, *, step: int, factor: float) -> float:
    """Sets the learning rate of a step, counted from 0, and returns it.

    Without bias correction the update is lr m / (sqrt(v) + eps). Torch divides m by c1 = 1 - beta1^t and
    sqrt(v) by c2 = sqrt(1 - beta2^t), so the rate is multiplied by c1 / c2, eps divided by c2, and the weight
    decay, which torch multiplies by the rate, by c2 / c1: the same update exactly.
    """
    rate = config.learning_rate * factor
    first, second = 1.0, 1.0
    if not config.bias_correction:
        first = 1.0 - config.betas[0] ** (step + 1)
        second = math.sqrt(1.0 - config.betas[1] ** (step + 1))
    for group in optimizer.param_groups:
        group["lr"] = rate * first / second
        group["eps"] = config.epsilon / second
        group["weight_decay"] = group["decay"] * second / first
    return rate


def _without_decay(method: nn.Module) -> set[str]:
    names: set[str] = set()
    for prefix, module in method.named_modules():
        for name, _ in module.named_parameters(recurse=False):
            if name == "bias" or isinstance(module, nn.LayerNorm):
                names.add(f"{prefix}.{name}" if prefix else name)
    return names
