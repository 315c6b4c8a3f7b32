"""`sentbench bm25`: the re-ranking tasks under BM25, the row that every encoder should beat."""

from __future__ import annotations

import argparse
import json
from typing import Any

from harness.commands import add_command


def add_to(commands: Any) -> None:
    bm25 = add_command(
        commands, "bm25", bm25_command, "score re-ranking tasks with BM25 instead of an encoder"
    )
    bm25.add_argument("--tasks", default="TRECQA", help="re-ranking tasks, comma-separated (default: TRECQA)")
    bm25.add_argument("--text", choices=["senteval", "raw"], default="senteval")
    bm25.add_argument("--json", action="store_true", help="one JSON object on standard output")


def bm25_command(arguments: argparse.Namespace) -> None:
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
