"""The protocol for training and choosing classifiers; its name is the setting of its scores."""

from __future__ import annotations

from dataclasses import dataclass, replace

SEED = 1111


@dataclass(frozen=True)
class Training:
    """How one regression is trained, by Adam with torch's defaults."""

    learning_rate: float
    batch_size: int
    tenacity: int  # the check that fails after this many failed ones ends the fit
    epoch_size: int  # passes over the rows between two checks
    max_epochs: int  # no block of passes starts after this many
    seed: int


@dataclass(frozen=True)
class Protocol:
    """One way to train and choose classifiers by cross-validation; `grid` are L2 penalties."""

    name: str
    folds: int
    grid: tuple[float, ...]
    training: Training


SENTEVAL = Protocol("senteval", 10, (1e-5, 1e-4, 1e-3, 1e-2), Training(1e-3, 64, 5, 4, 200, seed=SEED))
"""SentEval's full defaults, which the papers use."""


def without_search(protocol: Protocol) -> Protocol:
    """Returns the protocol as SentEval changes it for SNLI: one tiny penalty, a check after every epoch."""
    return replace(protocol, grid=(1e-9,), training=replace(protocol.training, epoch_size=1, max_epochs=15))
