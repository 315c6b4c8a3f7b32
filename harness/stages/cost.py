"""Stage `cost`: what an encoder folder takes to run, measured on the sentences of an evaluation task."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.files import write_json
from harness.paths import is_project
from harness.stages.train import COSTS, DESCRIPTION, quiet, resolve_device
from harness.tasks.cost import measure_cost
from harness.tasks.evaluation import unique_texts
from harness.tasks.registry import build_tasks

MOST_ROUNDS = 1000


def cost_of_folder(
    folder: Path,
    *,
    task: str,
    rounds: int,
    batch_size: int,
    limit: int | None = None,
    pooling: str | None = None,
    device: str = "auto",
) -> dict[str, Any]:
    """Returns parameters, width, rates, peak memory and device of a folder's encoder, and what was encoded.

    The sentences are the distinct ones of `task` in SentEval's form, at most `limit` from the front.
    Errors: InputError for a bad folder or task, or fewer than one round or sentence.
    """
    import torch

    from methods.core.folders import load_encoder

    if rounds > MOST_ROUNDS:
        raise InputError(
            f"{rounds} rounds, expected at most {MOST_ROUNDS}: a median needs no more; give fewer"
        )
    if batch_size < 1 or (limit is not None and limit < 1):
        raise InputError(f"batch size {batch_size}, limit {limit}: expected 1 or more; give larger numbers")
    texts = unique_texts(build_tasks([task], text="senteval"))[:limit]
    quiet()
    encoder = load_encoder(folder, pooling=pooling)
    encoder.to(resolve_device(device))
    cost = measure_cost(encoder, texts, rounds=rounds, batch_size=batch_size)
    return {
        "model": str(folder),
        "task": task,
        "batch_size": batch_size,
        "threads": torch.get_num_threads(),
        **cost._asdict(),
    }


def record_cost(folder: Path, measured: dict[str, Any]) -> Path | None:
    """Writes the cost of a run's artefact among the project's costs and returns the place; None for others.

    Costs hold clock times: they are a log beside the results, never part of them.
    """
    place = folder / DESCRIPTION
    if not place.is_file() or not is_project():
        return None
    key = json.loads(place.read_text(encoding="utf-8"))["key"]
    write_json(COSTS / f"{key}.encode.json", measured)
    return COSTS / f"{key}.encode.json"
