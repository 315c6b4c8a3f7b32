"""Protocols for training and choosing classifiers; a protocol's name is the setting of its scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

SEED = 1111


@dataclass(frozen=True)
class Training:
    """How one regression is trained. Defaults of the optimisers are torch's."""

    optimiser: Literal["adam", "rmsprop"]
    learning_rate: float
    batch_size: int
    tenacity: int  # the check that fails after this many failed ones ends the fit
    epoch_size: int  # passes over the rows between two checks
    max_epochs: int  # no block of passes starts after this many
    seed: int


@dataclass(frozen=True)
class Protocol:
    """One way to train and choose classifiers; `name` is the setting of its scores.

    `grid` are L2 penalties, or scikit-learn's inverse penalties C where `training` is None.
    `two_part_grid`, if given, is used in place of `grid` for data with train and test alone.
    """

    name: str
    folds: int
    grid: tuple[float, ...]
    training: Training | None
    two_part_grid: tuple[float, ...] | None = None


SENTEVAL = Protocol(
    "senteval", 10, (1e-5, 1e-4, 1e-3, 1e-2), Training("adam", 1e-3, 64, 5, 4, 200, seed=SEED)
)
"""SentEval's full defaults, which the papers use."""

FAST = Protocol("fast", 5, SENTEVAL.grid, Training("rmsprop", 1e-2, 128, 3, 2, 200, seed=SEED))
"""SimCSE's setting for checks during training."""

LIBRARY = Protocol(
    "library",
    10,
    tuple(2.0**power for power in range(-2, 4)),
    training=None,
    two_part_grid=tuple(2.0**power for power in range(-1, 6)),
)
"""scikit-learn's logistic regression with the folds and the values of C of SentEval's scikit-learn mode."""

PROTOCOLS = {protocol.name: protocol for protocol in (SENTEVAL, FAST, LIBRARY)}


def without_search(protocol: Protocol) -> Protocol:
    """Returns the protocol as SentEval changes it for SNLI: one tiny penalty, a check after every epoch."""
    if protocol.training is None:
        return replace(protocol, grid=(1e9,))
    return replace(protocol, grid=(1e-9,), training=replace(protocol.training, epoch_size=1, max_epochs=15))
