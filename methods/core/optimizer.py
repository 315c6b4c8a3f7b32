"""AdamW as in the papers' code: torch's or transformers 4's, each also without bias correction.

RMSprop is a special case: without a first moment (betas [0, rho]), bias correction and decay the update is g
/ (sqrt(v) + eps) with v <- rho v + (1 - rho) g^2 from v = 0, as in torch's and TensorFlow 2.4's RMSprop.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from methods.core.train_config import TrainConfig


class AdamW(torch.optim.AdamW):
    """Torch's AdamW with optional decay after the update, by the groups' `decay_after`."""

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = super().step(closure)
        with torch.no_grad():
            for group in self.param_groups:
                if group["decay_after"]:
                    for parameter in group["params"]:
                        if parameter.grad is not None:
                            parameter.mul_(1.0 - group["decay_after"])
        return loss


def build_optimizer(method: nn.Module, config: TrainConfig) -> AdamW:
    """Returns AdamW over the distinct parameters with `requires_grad`; `set_rate` prepares each step.

    With `decay_everything` off, biases and the weights of layer norms have a group without weight decay.
    """
    norms = [name for name, part in method.named_modules() if isinstance(part, nn.LayerNorm)]
    decayed: list[nn.Parameter] = []
    free: list[nn.Parameter] = []
    for name, value in method.named_parameters():
        if not value.requires_grad:
            continue
        part, _, kind = name.rpartition(".")
        if (kind == "bias" or part in norms) and not config.decay_everything:
            free.append(value)
        else:
            decayed.append(value)
    groups = [
        {"params": decayed, "decay": config.weight_decay, "decay_after": 0.0},
        {"params": free, "decay": 0.0, "decay_after": 0.0},
    ]
    return AdamW(
        [group for group in groups if group["params"]],
        lr=config.learning_rate,
        betas=config.betas,
        eps=config.epsilon,
        weight_decay=config.weight_decay,
        fused=True,
    )


def set_rate(optimizer: AdamW, config: TrainConfig, *, step: int, factor: float) -> float:
    """Sets the learning rate of a step, counted from 0, and returns it.

    With t = step + 1, c1 = 1 - beta1^t and c2 = sqrt(1 - beta2^t), and weights w:

    * torch: w <- (1 - lr decay) w - lr (m / c1) / (sqrt(v) / c2 + eps)
    * transformers 4: w <- (1 - lr decay) (w - lr (c2 / c1) m / (sqrt(v) + eps))
    * either one without bias correction: the same with c1 = c2 = 1

    All are torch's update with an adjusted rate, epsilon and decay: sqrt(v) + eps is c2 times sqrt(v) / c2 +
    eps / c2, so epsilon before the correction is eps / c2 in torch's place. Without correction, the rate
    takes c1 / c2 back. Torch multiplies its decay by the rate it is given.
    Source: `AdamW` of transformers 4, with which SimCSE, PCL, DCLR, PT-BERT and SCT were trained.
    """
    rate = config.learning_rate * factor
    first = 1.0 - config.betas[0] ** (step + 1)
    second = math.sqrt(1.0 - config.betas[1] ** (step + 1))
    epsilon = config.epsilon / second
    if config.bias_correction:
        first, second = 1.0, 1.0
        epsilon = epsilon if config.adam == "transformers" else config.epsilon
    for group in optimizer.param_groups:
        group["lr"] = rate * first / second
        group["eps"] = epsilon
        if config.adam == "transformers":
            group["weight_decay"], group["decay_after"] = 0.0, rate * group["decay"]
        else:
            group["weight_decay"] = group["decay"] * second / first
    return rate
