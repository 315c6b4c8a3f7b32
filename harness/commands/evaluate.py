"""`sentbench evaluate`: score encoder folders, models of the hub, or BM25, in one table."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.commands import JSON, POOLING, TEXT, check_encoder_folder, name_list
from harness.commands.waiting import waiting
from harness.errors import InputError
from harness.models.hub import model_folder
from harness.process import DEVICE, compute_with
from harness.tasks.interface import Task, check_names
from methods.core.progress import progress_bar

if TYPE_CHECKING:
    import numpy as np

    from harness.report.formats.evaluations import Evaluation
    from harness.report.formats.scores import ScoreLine
    from harness.tasks.reranking import RerankingTask

TEXT_NOTES = {"senteval": "SentEval's tokenised text", "raw": "raw text, as MTEB has it"}
BM25 = "bm25"
"""The name that selects BM25 instead of an encoder's folder."""
ARGUMENTS = {
    "models": {
        "nargs": "+",
        "metavar": "MODEL",
        "help": "encoders' folders, the hub's NAME/REPOSITORY, or bm25",
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
    "--out": {
        "type": Path,
        "action": "append",
        "default": [],
        "metavar": "FILE",
        "help": "also write the table; the ending chooses: .csv, .json, .md or .tex; may be repeated",
    },
    "--json": JSON,
    "--arithmetic": {
        "choices": ["portable", "native"],
        "help": "portable: one thread, the same bits on every x86-64 processor (default: native, faster)",
    },
}


def execute(arguments: argparse.Namespace) -> None:
    """Prints the scores of the models, and writes them if requested."""
    compute_with(arguments.arithmetic or "native")
    if arguments.batch_size is not None and arguments.batch_size < 1:
        raise InputError(f"--batch-size {arguments.batch_size}: expected an integer from 1")
    folders = folders_of(arguments.models)
    from harness.io.files import write_text
    from harness.report.formats.evaluations import check_table, table_in, to_json, to_text

    outputs = [check_table(path) for path in arguments.out]
    evaluations, note = evaluated(arguments, folders)
    for output in outputs:
        table = table_in(output.suffix.lower(), evaluations, text=arguments.text, note=note)
        write_text(output, table)
    if arguments.json:
        print(json.dumps(to_json(evaluations, text=arguments.text)))
    else:
        print(to_text(evaluations, note), end="")


def evaluated(arguments: argparse.Namespace, folders: dict[str, Path | None]) -> tuple[list[Evaluation], str]:
    """Returns the scores of each model and a note on text and intervals. All models, tasks and data are
    checked before the first text is encoded.
    """
    with waiting("loading libraries"):
        from harness.commands.vectors import fetch_data, offline_first
        from harness.report.formats.evaluations import Evaluation
        from harness.tasks.own_pairs import own_pairs_task
        from harness.tasks.registry import tasks_named

    ranked = bm25_tasks(arguments) if BM25 in folders and folders[BM25] is None else []
    if all(folder is None for folder in folders.values()):
        return [Evaluation(BM25, bm25_lines(ranked))], TEXT_NOTES[arguments.text]

    pair_tasks = [own_pairs_task(file) for file in arguments.pairs]
    listed = "sts" if arguments.tasks is None and not pair_tasks else arguments.tasks
    names = None if listed is None else name_list(listed)
    with offline_first(names or ()), waiting("reading the data of the tasks"):
        tasks = [*([] if names is None else tasks_named(names, text=arguments.text)), *pair_tasks]
        check_names(tasks)
        fetch_data(tasks)
    if len(folders) > 1:
        check_models([folder for folder in folders.values() if folder], arguments)
    own = [task.name for task in pair_tasks]
    evaluations = [
        Evaluation(name, bm25_lines(ranked) if folder is None else scores_of(folder, tasks, own, arguments))
        for name, folder in folders.items()
    ]
    return evaluations, note_of(tasks, arguments)


def folders_of(models: Sequence[str]) -> dict[str, Path | None]:
    """Returns the folder of each model by its name, None for BM25. Errors: InputError for a model that is
    named twice, and for a name that is neither a folder of an encoder nor a model of the hub.
    """
    folders: dict[str, Path | None] = {}
    for name in models:
        if name in folders:
            raise InputError(f"{name}: named twice")
        if not name.strip():
            raise InputError(f"{name!r} is not a model, expected an encoder's folder or a name on the hub")
        if name == BM25 and not Path(name).exists():
            folders[name] = None
            continue
        folder = model_folder(name)
        check_encoder_folder(folder)
        folders[name] = folder
    return folders


def check_models(folders: Sequence[Path], arguments: argparse.Namespace) -> None:
    """Raises InputError if a folder cannot be opened: with several models the last would be refused only
    after the others were scored."""
    for folder in folders:
        with waiting(f"checking {folder}"):
            from harness.models.read import read_encoder
            from harness.process import quiet

            quiet()
            read_encoder(folder, pooling=arguments.pooling)


def scores_of(
    folder: Path, tasks: Sequence[Task], own: Sequence[str], arguments: argparse.Namespace
) -> list[ScoreLine]:
    """Returns the scores of a folder's encoder and the averages of complete suites. own: the names of own
    pairs, which are a suite."""
    from harness.commands.vectors import vectors_of
    from harness.report.assembly.pairs import average_lines, score_lines, with_intervals
    from harness.tasks.registry import SUITES

    kept: dict[str, np.ndarray] = {}
    options = {name: getattr(arguments, name) for name in ("pooling", "device", "batch_size")}
    with vectors_of(folder, tasks, **options) as encode:
        number = len(with_intervals(tasks)) if arguments.interval else 0
        with progress_bar(number, "tasks") as bar:
            lines = score_lines(
                tasks, encode, intervals=arguments.interval, kept=kept, ended=lambda task: bar.update()
            )
    return [*lines, *average_lines(lines, kept, {**SUITES, "pairs": own})]


def note_of(tasks: Sequence[Task], arguments: argparse.Namespace) -> str:
    """Returns the text form of tasks and, if intervals were asked for, the tasks that are too small for
    one."""
    from harness.report.assembly.pairs import FEWEST_PAIRS, scored_pairs, with_intervals

    small = [task for task in scored_pairs(tasks) if task not in with_intervals(tasks)]
    few = ", ".join(f"{task.name} ({len(task.pairs)} pairs)" for task in small)
    without = f"no interval over fewer than {FEWEST_PAIRS} pairs: {few}" if arguments.interval and few else ""
    return "; ".join(filter(None, [text_note(tasks, arguments.text), without]))


def text_note(tasks: Sequence[Task], text: str) -> str:
    """Describes the text form of tasks: `text`, or unchanged for custom pairs."""
    from harness.tasks.own_pairs import is_own_pairs

    pair_names = [task.name for task in tasks if is_own_pairs(task)]
    declared = TEXT_NOTES[text] if len(pair_names) < len(tasks) else ""
    return "; ".join(
        filter(None, [declared, f"text of {', '.join(pair_names)} as it is" if pair_names else ""])
    )


def bm25_tasks(arguments: argparse.Namespace) -> list[RerankingTask]:
    """Returns the re-ranking tasks that BM25 is scored on, without reading data.

    Errors: InputError for a task of another kind, and for an option of encoders.
    """
    usual = {"device": DEVICE["default"]}
    for name in ("interval", "pooling", "arithmetic", "pairs", "batch_size", "device"):
        if getattr(arguments, name) not in (usual.get(name), None, False, []):
            raise InputError(f"bm25 with --{name.replace('_', '-')}: only encoders take this option")
    from harness.tasks.registry import build_tasks
    from harness.tasks.reranking import RerankingTask

    tasks, listed = [], "sts" if arguments.tasks is None else arguments.tasks
    for task in build_tasks(name_list(listed), text=arguments.text):
        if not isinstance(task, RerankingTask):
            raise InputError(
                f"bm25: {task.name} is not a re-ranking task, expected AskUbuntu, SciDocs or TRECQA"
            )
        tasks.append(task)
    return tasks


def bm25_lines(tasks: Sequence[RerankingTask]) -> list[ScoreLine]:
    """Returns the scores of BM25 on re-ranking tasks."""
    from harness.report.formats.scores import ScoreLine
    from harness.tasks.reranking import bm25_scores

    return [ScoreLine(**score._asdict()) for task in tasks for score in bm25_scores(task)]
