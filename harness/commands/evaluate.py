"""`sentbench evaluate`: score an encoder folder.

Example: `sentbench evaluate backbones/minilm-l6 --tasks STSB,sts-part --interval`
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.commands import JSON, POOLING, TEXT, check_encoder_folder, name_list
from harness.data.hub_models import model_folder
from harness.disk.files import write_json
from harness.disk.locks import alone
from harness.disk.outputs import check_file
from harness.errors import InputError
from harness.plan.entries import read_plan
from harness.process import DEVICE, compute_on, compute_with
from harness.report.formats.scores import ScoreLine
from harness.tasks.interface import Task, check_names

if TYPE_CHECKING:
    import numpy as np

    from harness.facts.statistics import Interval

CONTINUES = "with --run the same command encodes only what is not stored yet; otherwise nothing is left"
ARGUMENTS = {
    "folder": {
        "type": Path,
        "metavar": "MODEL",
        "help": "an encoder's folder, or the hub's NAME/REPOSITORY; with --from-store a folder of vectors",
    },
    "--tasks": {
        "help": "tasks and suites, comma-separated (default: sts, the seven STS sets; none with --pairs)",
    },
    "--pairs": {
        "type": Path,
        "action": "append",
        "default": [],
        "metavar": "FILE",
        "help": "scored pairs of your own: .tsv, .csv or .jsonl with sentence1, sentence2, score",
    },
    "--text": TEXT,
    "--pooling": POOLING,
    "--device": DEVICE,
    "--interval": {"action": "store_true", "help": "bootstrap intervals of correlations over the pairs"},
    "--subsets": {"action": "store_true", "help": "also show the scores of subsets"},
    "--out": {"type": Path, "metavar": "FILE", "help": "also write the scores as JSON"},
    "--json": JSON,
    "--from-store": {"action": "store_true", "help": "score stored vectors without a model"},
    "--arithmetic": {
        "choices": ["portable", "native"],
        "help": "portable: one thread, the same bits on every x86-64 processor (default: native, faster)",
    },
    "--run": {"help": "evaluate the artefact of this run of params.yaml on the run's tasks"},
}


def execute(arguments: argparse.Namespace) -> None:
    """Prints the scores of a folder; with `--run` writes those of a run of the plan."""
    if arguments.run:
        evaluate_planned(arguments)
        return
    compute_with(arguments.arithmetic or "native")
    output = check_file(arguments.out, keys=("model", "scores")) if arguments.out else None
    lines, bounds = scores_of(arguments)
    found: dict[str, Any] = {"model": str(arguments.folder), "scores": [line.plain() for line in lines]}
    if arguments.interval:
        found["average_intervals"] = bounds
    if output:
        write_json(output, found)
    if arguments.json:
        print(json.dumps(found))
        return
    from harness.report.formats.scores import to_table
    from harness.tasks.registry import SUITES

    notes = {"senteval": "SentEval's tokenised text", "raw": "raw text, as MTEB has it"}
    note = notes[arguments.text] if arguments.tasks or not arguments.pairs else ""
    if arguments.pairs:
        note = "; ".join(filter(None, [note, f"text of {', '.join(map(str, arguments.pairs))} as it is"]))
    suites = {**SUITES, "pairs": [file.stem for file in arguments.pairs]}
    print(to_table(lines, suites=suites, note=note, subsets=arguments.subsets, bounds_of=bounds), end="")


def evaluate_planned(arguments: argparse.Namespace) -> None:
    """Writes the scores of a run of the plan. Errors: InputError with options that only folders take."""
    for name in ("json", "out", "interval", "from_store", "pooling", "arithmetic", "tasks", "pairs"):
        if getattr(arguments, name):
            option = f"--{name.replace('_', '-')}"
            raise InputError(
                f"--run with {option}: a run is scored with the plan's settings; drop one of the two"
            )
    check_encoder_folder(arguments.folder)
    params = read_plan()
    device = compute_on(params.run(arguments.run).arithmetic, arguments.device)
    from harness.stages.evaluate import evaluate_run

    with alone(f"evaluating {arguments.run}"):
        print(evaluate_run(params, arguments.run, arguments.folder, device=device))


def scores_of(arguments: argparse.Namespace) -> tuple[list[ScoreLine], dict[str, Interval]]:
    """Returns the scores of a folder's encoder, or of stored vectors, and the intervals of averages."""
    folder = arguments.folder
    if not arguments.from_store:
        folder = model_folder(folder)
        check_encoder_folder(folder)
    from harness.assembly.pairs import average_intervals, score_lines
    from harness.stages.evaluate import tasks_named, vectors_of
    from harness.tasks.own_pairs import own_pairs_task
    from harness.tasks.registry import SUITES

    own = [own_pairs_task(file) for file in arguments.pairs]
    listed = arguments.tasks if arguments.tasks or own else "sts"
    tasks: list[Task] = [*(tasks_named(name_list(listed), text=arguments.text) if listed else []), *own]
    check_names(tasks)
    kept: dict[str, np.ndarray] = {}
    options = {"pooling": arguments.pooling, "from_store": arguments.from_store, "device": arguments.device}
    with vectors_of(folder, tasks, **options) as encode:
        lines = score_lines(tasks, encode, intervals=arguments.interval, kept=kept)
    suites = {**SUITES, "pairs": [task.name for task in own]}
    return lines, average_intervals(kept, {name: found for name, found in suites.items() if len(found) > 1})
