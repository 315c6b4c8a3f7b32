"""The re-ranking sets."""

from functools import partial
from typing import Any

from harness.tasks.interface import Declaration, Task


def _reranking(name: str, text: str, source: str, **options: Any) -> Task:
    from harness.data.reranking import READERS
    from harness.tasks.reranking import RerankingTask

    return RerankingTask(name, READERS[name], text, source, **options)


TASKS = tuple(
    Declaration(name, name.lower(), partial(_reranking, name), suite="reranking")
    for name in ("AskUbuntu", "SciDocs", "TRECQA")
)
