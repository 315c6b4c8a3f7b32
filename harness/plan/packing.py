"""How many runs share a GPU, and how long runs take side by side."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.paths import COSTS

USABLE = 0.9
"""The share of a GPU's memory that runs may fill together."""
CONTEXT = 600 * 2**20
"""Bytes that each process takes of a GPU besides what it allocates: an assumption, not measured here."""


def packing(keys: Iterable[str], folder: Path = COSTS) -> str:
    """Returns the line of a plan that says how many of the largest of these runs share the GPU that they were
    trained on: `sentbench train` notes its peak there.
    """
    fitting = []
    for key in keys:
        path = folder / f"{key}.train.json"
        cost = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        if "peak_memory" in cost:
            fitting.append(int(USABLE * cost["card_memory"] / (cost["peak_memory"] + CONTEXT)))
    if not fitting:
        return "runs a GPU: 1, for no training of this plan was measured on a GPU"
    number = max(1, min(fitting))
    share = int(100 / number) / 100
    return f"runs a GPU: {number}, by the largest peak of memory measured; --gpus-per-run {share:g}"


def cores_here() -> int:
    """Returns how many cores this process may use; as many runs of one thread share this machine."""
    return len(os.sched_getaffinity(0))


def hours_at_once(hours: Sequence[float], slots: int) -> float:
    """Returns what works of these hours take where `slots` of them run at once: no schedule is faster."""
    return max(max(hours), sum(hours) / slots) if hours else 0.0
