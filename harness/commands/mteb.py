"""`sentbench mteb`: an encoder folder under mteb's tasks, results in the layout of the public repository."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from harness.commands import add_command
from harness.errors import InputError

RESULTS = Path(".cache/mteb")


def add_to(commands: Any) -> None:
    mteb = add_command(commands, "mteb", mteb_command, "score an encoder folder on tasks of mteb")
    mteb.add_argument("folder", type=Path, metavar="DIR")
    mteb.add_argument("--tasks", help="mteb's names, comma-separated; default: its seven English STS sets")
    mteb.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help=f"default: {RESULTS}")
    mteb.add_argument("--pooling", help="required for a plain Hugging Face folder")
    mteb.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    mteb.add_argument("--json", action="store_true", help="one JSON object on standard output")


def mteb_command(arguments: argparse.Namespace) -> None:
    if not arguments.folder.is_dir():
        raise InputError(f"{arguments.folder}: no such folder, expected an encoder folder; check the path")
    from harness.stages import mteb as stage

    asked = stage.DEFAULT_TASKS if arguments.tasks is None else arguments.tasks.split(",")
    identity, scores = stage.run_folder(
        arguments.folder,
        [name for name in dict.fromkeys(asked) if name],
        out=arguments.out,
        pooling=arguments.pooling,
        device=arguments.device,
    )
    found = {**identity._asdict(), "scores": [score._asdict() for score in scores]}
    if arguments.json:
        print(json.dumps(found))
        return
    print(f"{identity.name} revision {identity.revision}")
    for score in scores:
        origin = f"data {score.data_revision}"
        print(f"{score.task:<28} {score.metric:<18} {score.value:8.4f}  {origin}  {score.file}")
