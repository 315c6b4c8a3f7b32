"""The training of one run from its values; its rows are read by `harness.data.corpora`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from harness.tasks.selection import dev_evaluation
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.streams import INITIALISE, torch_seed
from methods.core.train_config import TrainConfig
from methods.core.trainer import Trainer


def build_trainer(
    method: type[Method],
    config: Any,
    settings: TrainConfig,
    networks: Networks,
    *,
    seed: int,
    text: str,
    state: Path,
    device: str,
    report: Callable[[int, int, Mapping[str, float]], None],
) -> Trainer:
    """Returns the trainer of a run with its method built under the run's initialisation seed.

    networks: source of the method's networks. text: text form of selection. state: folder of the resume
    points. report: called at each evaluation with step, all steps and measures.
    """
    torch.manual_seed(torch_seed(seed, INITIALISE))
    built = method(config, networks)
    return Trainer(built, settings, seed, dev_evaluation(text), state, device=device, report=report)
