"""`sentbench cost`: measure what an encoder folder takes to run.

Example: `sentbench cost backbones/minilm-l6 --limit 500`
"""

import argparse
import json
from pathlib import Path

from harness.commands import POOLING, check_encoder_folder
from harness.errors import InputError
from harness.process import DEVICE, compute_with, quiet, resolve_device

MOST_ROUNDS = 1000
ARGUMENTS = {
    "folder": {"type": Path, "metavar": "DIR"},
    "--task": {"default": "STSB", "help": "whose sentences are encoded (default: STSB)"},
    "--limit": {"type": int, "metavar": "N", "help": "only the first N distinct sentences"},
    "--rounds": {"type": int, "default": 5, "help": "rates are medians over these (default: 5)"},
    "--batch-size": {"type": int, "default": 128},
    "--pooling": POOLING,
    "--device": DEVICE,
}


def execute(arguments: argparse.Namespace) -> None:
    """Prints parameters, width, rates, peak memory and device as JSON, and what was encoded.

    The sentences are the distinct ones of the task in SentEval's form, at most `limit` from the front.
    """
    compute_with("native")
    check_encoder_folder(arguments.folder)
    import torch

    from harness.compute.encoders import read_encoder
    from harness.tasks.cost import measure_cost
    from harness.tasks.evaluation import unique_texts
    from harness.tasks.registry import build_tasks

    rounds, batch_size, limit = arguments.rounds, arguments.batch_size, arguments.limit
    if rounds > MOST_ROUNDS:
        raise InputError(
            f"{rounds} rounds, expected at most {MOST_ROUNDS}: a median needs no more; give fewer"
        )
    if batch_size < 1 or (limit is not None and limit < 1):
        raise InputError(f"batch size {batch_size}, limit {limit}: expected 1 or more; give larger numbers")
    tasks = build_tasks([arguments.task], text="senteval")
    quiet()
    # a wrong folder is refused before data are read
    encoder = read_encoder(arguments.folder, pooling=arguments.pooling)
    encoder.to(resolve_device(arguments.device))
    texts = unique_texts(tasks)[:limit]
    cost = measure_cost(encoder, texts, rounds=rounds, batch_size=batch_size)
    found = {
        "model": str(arguments.folder),
        "task": arguments.task,
        "batch_size": batch_size,
        "threads": torch.get_num_threads(),
        **cost._asdict(),
    }
    print(json.dumps(found, indent=1))
