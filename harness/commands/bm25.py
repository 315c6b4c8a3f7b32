"""`sentbench bm25`: score re-ranking tasks with BM25 instead of an encoder."""

from __future__ import annotations

import argparse
import json


def declare(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "--tasks", default="TRECQA", help="re-ranking tasks, comma-separated (default: TRECQA)"
    )
    parser.add_argument("--text", choices=["senteval", "raw"], default="senteval")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def execute(arguments: argparse.Namespace) -> None:
    """Prints the scores of the tasks."""
    from harness.errors import InputError
    from harness.tasks.interface import Score
    from harness.tasks.registry import build_tasks
    from harness.tasks.reranking import RerankingTask, bm25_scores

    scores: list[Score] = []
    for task in build_tasks(arguments.tasks.split(","), text=arguments.text):
        if not isinstance(task, RerankingTask):
            raise InputError(f"task {task.name} ranks nothing, expected AskUbuntu, SciDocs or TRECQA")
        scores += bm25_scores(task)
    if arguments.json:
        print(json.dumps({"model": "bm25", "scores": [score._asdict() for score in scores]}))
        return
    for score in scores:
        print(f"{score.task:<14} {score.metric:<10} {score.setting:<24} {score.value:8.4f}  n={score.n}")
