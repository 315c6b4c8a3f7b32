"""The re-ranking sets; the reader of one is `read_NAME` in harness.data.reranking."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.tasks.interface import Declaration, Task


def _reranking(name: str, text: str, source: str, **options: Any) -> Task:
    from harness.data import reranking
    from harness.tasks.reranking import RerankingTask

    return RerankingTask(name, getattr(reranking, f"read_{name.lower()}"), text, source, **options)


TASKS = tuple(
    Declaration(name, name.lower(), partial(_reranking, name), suite="reranking")
    for name in ("AskUbuntu", "SciDocs", "TRECQA")
)
