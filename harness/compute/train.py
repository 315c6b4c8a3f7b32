"""The training of one run from its values; its rows are read by `harness.compute.rows`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from harness.compute.selection import dev_evaluation
from methods.core.interface import Method
from methods.core.parents import EncoderFactory
from methods.core.streams import INITIALISE, torch_seed
from methods.core.trainer import TrainConfig, Trainer


def build_trainer(
    method: type[Method],
    config: Any,
    settings: TrainConfig,
    encoders: EncoderFactory,
    *,
    seed: int,
    text: str,
    state: Path,
    device: str,
    report: Callable[[int, int, Mapping[str, float]], None],
) -> Trainer:
    """Returns the trainer of a run with its method built under the run's initialisation seed.

    encoders: where the method's networks come from. text: the form of the texts that selection reads.
    state: folder of the resume points. report: called at each evaluation with step, all steps and measures.
    """
    torch.manual_seed(torch_seed(seed, INITIALISE))
    built = method(config, encoders)
    return Trainer(built, settings, seed, dev_evaluation(text), state, device=device, report=report)
