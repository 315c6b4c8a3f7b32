"""`sentbench bm25`: score re-ranking tasks with BM25 instead of an encoder.

Example: `sentbench bm25 --tasks TRECQA`
"""

import argparse
import json

from harness.commands import JSON, TEXT, name_list
from harness.errors import InputError
from harness.report.formats.scores import ScoreLine, to_table
from harness.tasks.interface import Score
from harness.tasks.registry import build_tasks
from harness.tasks.reranking import RerankingTask, bm25_scores

ARGUMENTS = {
    "--tasks": {"default": "TRECQA", "help": "re-ranking tasks, comma-separated (default: TRECQA)"},
    "--text": TEXT,
    "--json": JSON,
}


def execute(arguments: argparse.Namespace) -> None:
    """Prints the scores of the tasks."""
    names = name_list(arguments.tasks)
    if not names:
        raise InputError("no task is named, expected AskUbuntu, SciDocs or TRECQA; name one")
    scores: list[Score] = []
    for task in build_tasks(names, text=arguments.text):
        if not isinstance(task, RerankingTask):
            raise InputError(f"task {task.name} ranks nothing, expected AskUbuntu, SciDocs or TRECQA")
        scores += bm25_scores(task)
    if arguments.json:
        print(json.dumps({"model": "bm25", "scores": [score._asdict() for score in scores]}))
        return
    print(to_table([ScoreLine(**score._asdict()) for score in scores], suites={}), end="")
