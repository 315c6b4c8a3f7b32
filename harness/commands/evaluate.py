"""`sentbench evaluate`: score an encoder folder, a model of the hub, or BM25.

Example: `sentbench evaluate backbones/minilm-l6 --tasks STSB,sts-part --interval`
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.commands import JSON, POOLING, TEXT, check_encoder_folder, name_list
from harness.errors import InputError
from harness.io.files import write_json
from harness.io.outputs import check_file
from harness.models.hub import model_folder
from harness.process import DEVICE, compute_with
from harness.tasks.interface import Task, check_names

if TYPE_CHECKING:
    import numpy as np

    from harness.evidence.statistics import Interval
    from harness.report.formats.scores import ScoreLine

TEXT_NOTES = {"senteval": "SentEval's tokenised text", "raw": "raw text, as MTEB has it"}
BM25 = "bm25"
"""The name that selects BM25 instead of an encoder's folder."""
ARGUMENTS = {
    "folder": {
        "type": Path,
        "metavar": "MODEL",
        "help": "an encoder's folder, the hub's NAME/REPOSITORY, or bm25; with --from-store vectors",
    },
    "--tasks": {
        "help": "tasks and suites, comma-separated (default: sts, the seven STS sets; none with --pairs)",
    },
    "--pairs": {
        "type": Path,
        "action": "append",
        "default": [],
        "metavar": "FILE",
        "help": "your scored pairs: .tsv, .csv or .jsonl with sentence1, sentence2, score",
    },
    "--text": TEXT,
    "--pooling": POOLING,
    "--device": DEVICE,
    "--batch-size": {"type": int, "metavar": "N", "help": "texts of a batch (default: the encoder's own)"},
    "--interval": {"action": "store_true", "help": "bootstrap intervals of correlations over the pairs"},
    "--subsets": {"action": "store_true", "help": "also show the scores of subsets"},
    "--out": {"type": Path, "metavar": "FILE", "help": "also write the scores as JSON"},
    "--json": JSON,
    "--from-store": {"action": "store_true", "help": "score stored vectors without a model"},
    "--arithmetic": {
        "choices": ["portable", "native"],
        "help": "portable: one thread, the same bits on every x86-64 processor (default: native, faster)",
    },
}


def execute(arguments: argparse.Namespace) -> None:
    """Prints the scores of a folder, and writes them if requested."""
    compute_with(arguments.arithmetic or "native")
    output = check_file(arguments.out, keys=("model", "scores")) if arguments.out else None
    if arguments.batch_size is not None and arguments.batch_size < 1:
        raise InputError(f"--batch-size {arguments.batch_size}: expected an integer from 1")
    if arguments.batch_size is not None and arguments.from_store:
        raise InputError("--batch-size with --from-store: no text is encoded; drop one of the two")
    lines, bounds, note = scores_of(arguments)
    printed: dict[str, Any] = {"model": str(arguments.folder), "scores": [line.plain() for line in lines]}
    if arguments.interval:
        printed["average_intervals"] = bounds
    if output:
        write_json(output, printed)
    if arguments.json:
        print(json.dumps(printed))
        return
    from harness.report.formats.scores import to_table
    from harness.tasks.registry import SUITES

    suites = {**SUITES, "pairs": [file.stem for file in arguments.pairs]}
    print(to_table(lines, suites=suites, note=note, subsets=arguments.subsets, bounds_of=bounds), end="")


def scores_of(arguments: argparse.Namespace) -> tuple[list[ScoreLine], dict[str, Interval], str]:
    """Returns the scores of a folder's encoder, or of stored vectors, the intervals of averages, and a note.

    The note states the text form of the tasks.
    """
    folder = arguments.folder
    if str(folder) == BM25 and not folder.exists():
        return bm25_lines(arguments), {}, TEXT_NOTES[arguments.text]
    if not arguments.from_store:
        folder = model_folder(folder)
        check_encoder_folder(folder)
    from tqdm import tqdm

    from harness.commands.vectors import fetch_data, offline_first, vectors_of
    from harness.report.assembly.pairs import average_intervals, score_lines, scored_pairs
    from harness.tasks.own_pairs import own_pairs_task
    from harness.tasks.registry import SUITES, tasks_named

    pair_tasks = [own_pairs_task(file) for file in arguments.pairs]
    listed = "sts" if arguments.tasks is None and not pair_tasks else arguments.tasks
    names = None if listed is None else name_list(listed)
    kept: dict[str, np.ndarray] = {}
    options = {name: getattr(arguments, name) for name in ("pooling", "from_store", "device", "batch_size")}
    with offline_first(names or ()):
        tasks: list[Task] = [*([] if names is None else tasks_named(names, text=arguments.text)), *pair_tasks]
        check_names(tasks)
        fetch_data(tasks)
        with vectors_of(folder, tasks, **options) as encode:
            scored = len(scored_pairs(tasks)) if arguments.interval else 0
            with tqdm(total=scored, unit=" tasks", delay=3, disable=None) as bar:
                lines = score_lines(
                    tasks, encode, intervals=arguments.interval, kept=kept, ended=lambda task: bar.update()
                )
    suites = {**SUITES, "pairs": [task.name for task in pair_tasks]}
    bounds = average_intervals(kept, {name: members for name, members in suites.items() if len(members) > 1})
    return lines, bounds, text_note(tasks, arguments.text)


def text_note(tasks: Sequence[Task], text: str) -> str:
    """Describes the text form of tasks: `text`, or unchanged for custom pairs."""
    from harness.tasks.own_pairs import is_own

    pair_names = [task.name for task in tasks if is_own(task)]
    declared = TEXT_NOTES[text] if len(pair_names) < len(tasks) else ""
    return "; ".join(
        filter(None, [declared, f"text of {', '.join(pair_names)} as it is" if pair_names else ""])
    )


def bm25_lines(arguments: argparse.Namespace) -> list[ScoreLine]:
    """Returns the scores of BM25 on re-ranking tasks.

    Errors: InputError for a task of another kind, and for an option of encoders.
    """
    for name in ("interval", "from_store", "pooling", "arithmetic", "pairs", "batch_size"):
        if getattr(arguments, name):
            raise InputError(f"bm25 with --{name.replace('_', '-')}: only encoders take this option")
    from harness.report.formats.scores import ScoreLine
    from harness.tasks.registry import build_tasks
    from harness.tasks.reranking import RerankingTask, bm25_scores

    lines, listed = [], "sts" if arguments.tasks is None else arguments.tasks
    for task in build_tasks(name_list(listed), text=arguments.text):
        if not isinstance(task, RerankingTask):
            raise InputError(
                f"bm25: {task.name} is not a re-ranking task, expected AskUbuntu, SciDocs or TRECQA"
            )
        lines += [ScoreLine(**score._asdict()) for score in bm25_scores(task)]
    return lines
