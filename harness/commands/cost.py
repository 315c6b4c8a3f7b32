"""`sentbench cost`: parameters, throughput and memory of an encoder folder, as JSON."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from harness.commands import add_command
from harness.errors import InputError
from harness.files import write_json
from harness.outputs import check_file


def add_to(commands: Any) -> None:
    cost = add_command(commands, "cost", cost_command, "measure what an encoder folder takes to run")
    cost.add_argument("folder", type=Path, metavar="DIR")
    cost.add_argument("--task", default="STSB", help="whose sentences are encoded (default: STSB)")
    cost.add_argument("--limit", type=int, metavar="N", help="only the first N distinct sentences")
    cost.add_argument("--rounds", type=int, default=5, help="rates are medians over these (default: 5)")
    cost.add_argument("--batch-size", type=int, default=128)
    cost.add_argument("--pooling", help="required for a plain Hugging Face folder")
    cost.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    cost.add_argument("--out", type=Path, metavar="FILE", help="also write the figures as JSON")


def cost_command(arguments: argparse.Namespace) -> None:
    if not arguments.folder.is_dir():
        raise InputError(f"{arguments.folder}: no such folder, expected an encoder folder; check the path")
    place = check_file(arguments.out, keys=("model", "parameters")) if arguments.out else None
    from harness.stages.cost import cost_of_folder, record_cost

    measured = cost_of_folder(
        arguments.folder,
        task=arguments.task,
        rounds=arguments.rounds,
        batch_size=arguments.batch_size,
        limit=arguments.limit,
        pooling=arguments.pooling,
        device=arguments.device,
    )
    record_cost(arguments.folder, measured)
    if place:
        write_json(place, measured)
    print(json.dumps(measured, indent=1))
