"""Peak memory of a training step on a GPU: counted and tracked, kept by what it depends on."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from pydantic import Field

from harness.declarations import Declaration, read_declaration
from harness.paths import PEAKS, declared
from harness.plan.entries import Run
from harness.plan.step_times import Shape


class Peak(Declaration):
    """Peak bytes of one training step.

    counted: weights with gradients and moments, queues, and activations by the formula of Korthikanti et al.
    (2022). tracked: the largest sum of all storages alive, by torch's MemTracker under tensors without
    values. Neither has the CUDA context, workspaces or fragmentation. system: the first run it was found for.
    """

    system: str
    counted: float = Field(gt=0)
    tracked: float = Field(gt=0)


class Peaks(Declaration):
    """The file memory.yaml, written by `python -m benchmarks.peaks --write`: setting -> peak."""

    peaks: dict[str, Peak]


def setting_of(run: Run, shape: Shape) -> str:
    """Returns a digest of what decides the sizes of a run's tensors; of fractions whether they are 0."""
    train = {name: run.train[name] for name in ("batch_size", "precision", "max_grad_norm")}
    parts = [run.method, _sizes(run.config), _sizes(train), run.pooling, bool(run.parent), shape.model_dump()]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


def read_peaks(path: Path = PEAKS) -> Peaks:
    """Returns the table of peaks. Errors: InputError in one line if the file is missing or damaged."""
    return read_declaration(declared(path), Peaks)


def _sizes(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sizes(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_sizes(entry) for entry in value]
    return value != 0 if isinstance(value, float) else value
