"""`sentbench evaluate`: score an encoder folder."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from harness.commands import check_encoder_folder, read_plan
from harness.device import add_device_option
from harness.files import write_json
from harness.locks import alone
from harness.outputs import check_file


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--tasks", default="sts", help="tasks and suites, comma-separated")
    parser.add_argument("--text", choices=["senteval", "raw"], default="senteval")
    parser.add_argument("--pooling", help="required for a plain Hugging Face folder")
    add_device_option(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write the scores as JSON")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--from-store", action="store_true", help="use stored vectors, no model")
    parser.add_argument("--run", help="evaluate the artefact of this run of params.yaml on the run's tasks")


def execute(arguments: argparse.Namespace) -> None:
    """Prints the scores of any folder; with `--run` writes those of a run of the plan instead."""
    if not arguments.from_store:
        check_encoder_folder(arguments.folder)
    output = check_file(arguments.out, keys=("model", "scores")) if arguments.out else None
    from harness.stages import evaluate as stage

    if arguments.run:
        with alone(f"evaluating {arguments.run}"):
            print(stage.evaluate_run(read_plan(), arguments.run, arguments.folder, device=arguments.device))
        return
    scores = stage.evaluate_folder(
        arguments.folder,
        names=[name for name in arguments.tasks.split(",") if name],
        text=arguments.text,
        pooling=arguments.pooling,
        from_store=arguments.from_store,
        device=arguments.device,
    )
    found = {"model": str(arguments.folder), "scores": [score._asdict() for score in scores]}
    if output:
        write_json(output, found)
    if arguments.json:
        print(json.dumps(found))
        return
    for score in scores:
        print(f"{score.task:<14} {score.metric:<10} {score.setting:<24} {score.value:8.4f}  n={score.n}")
