"""`sentbench evaluate`: score an encoder folder.

Example: `sentbench evaluate backbones/minilm-l6 --tasks STSB,sts-part --interval`
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.commands import (
    add_json_option,
    add_pooling_option,
    add_text_option,
    check_encoder_folder,
    name_list,
)
from harness.disk.files import write_json
from harness.disk.locks import alone
from harness.disk.outputs import check_file
from harness.errors import InputError
from harness.plan.entries import read_plan
from harness.process import add_device_option, compute_with

if TYPE_CHECKING:
    from harness.report.formats.scores import ScoreLine

CONTINUES = "with --run the same command encodes only what is not stored yet; otherwise nothing is left"


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "folder", type=Path, metavar="DIR", help="the encoder's folder; with --from-store a folder of vectors"
    )
    parser.add_argument(
        "--tasks", default="sts", help="tasks and suites, comma-separated (default: sts, the seven STS sets)"
    )
    add_text_option(parser)
    add_pooling_option(parser)
    add_device_option(parser)
    parser.add_argument(
        "--interval", action="store_true", help="bootstrap intervals of correlations over the pairs"
    )
    parser.add_argument("--subsets", action="store_true", help="also show the scores of subsets")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write the scores as JSON")
    add_json_option(parser)
    parser.add_argument("--from-store", action="store_true", help="score stored vectors without a model")
    parser.add_argument(
        "--arithmetic",
        choices=["portable", "native"],
        help="portable: one thread, the same bits on every x86-64 processor (default: native, faster)",
    )
    parser.add_argument("--run", help="evaluate the artefact of this run of params.yaml on the run's tasks")


def execute(arguments: argparse.Namespace) -> None:
    """Prints the scores of a folder; with `--run` writes those of a run of the plan."""
    if arguments.run:
        evaluate_planned(arguments)
        return
    compute_with(arguments.arithmetic or "native")
    if not arguments.from_store:
        check_encoder_folder(arguments.folder)
    output = check_file(arguments.out, keys=("model", "scores")) if arguments.out else None
    lines = scores_of(
        arguments.folder,
        name_list(arguments.tasks),
        text=arguments.text,
        pooling=arguments.pooling,
        from_store=arguments.from_store,
        device=arguments.device,
        intervals=arguments.interval,
    )
    found = {"model": str(arguments.folder), "scores": [as_plain(line) for line in lines]}
    if output:
        write_json(output, found)
    if arguments.json:
        print(json.dumps(found))
        return
    print(shown(lines, arguments.text, subsets=arguments.subsets), end="")


def evaluate_planned(arguments: argparse.Namespace) -> None:
    """Writes the scores of a run of the plan. Errors: InputError with options that only folders take."""
    wrong = {
        "--json": arguments.json,
        "--out": arguments.out,
        "--interval": arguments.interval,
        "--from-store": arguments.from_store,
        "--pooling": arguments.pooling,
        "--arithmetic": arguments.arithmetic,
    }
    for option in (name for name, value in wrong.items() if value):
        raise InputError(
            f"--run with {option}: a run is scored with the plan's settings; drop one of the two"
        )
    check_encoder_folder(arguments.folder)
    params = read_plan()
    compute_with(params.run(arguments.run).arithmetic)
    from harness.stages.evaluate import evaluate_run

    with alone(f"evaluating {arguments.run}"):
        print(evaluate_run(params, arguments.run, arguments.folder, device=arguments.device))


def scores_of(
    folder: Path,
    names: Sequence[str],
    *,
    text: str,
    pooling: str | None = None,
    from_store: bool = False,
    device: str = "auto",
    intervals: bool = False,
) -> list[ScoreLine]:
    """Returns the scores of a folder's encoder, or of stored vectors, with intervals if wanted."""
    from harness.assembly.pairs import score_lines
    from harness.stages.evaluate import tasks_named, vectors_of

    tasks = tasks_named(names, text=text)
    with vectors_of(folder, tasks, pooling=pooling, from_store=from_store, device=device) as encode:
        return score_lines(tasks, encode, intervals=intervals)


def as_plain(line: ScoreLine) -> dict[str, Any]:
    """Returns a score as a JSON object; with `interval` only if one was computed."""
    plain = line._asdict()
    interval = plain.pop("interval")
    return plain if interval is None else {**plain, "interval": list(interval)}


def shown(lines: Sequence[ScoreLine], text: str, *, subsets: bool) -> str:
    """Returns the scores as a table with the averages that a paper would print."""
    from harness.report.formats.scores import to_table
    from harness.tasks.registry import SUITES

    notes = {"senteval": "SentEval's tokenised text", "raw": "raw text, as MTEB has it"}
    return to_table(lines, suites=SUITES, note=notes[text], subsets=subsets)
