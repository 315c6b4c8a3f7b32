"""The scores of an encoder: every unique text encoded once and kept, each task reading its own vectors."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from harness.disk.records import rounded
from harness.results.embeddings import EmbeddingStore
from harness.tasks.evaluation import unique_texts
from harness.tasks.interface import Task


def load_model(folder: Path, *, pooling: str | None, device: str) -> Any:
    """Returns the encoder of a folder on a device."""
    from methods.core.folders import load_encoder

    return load_encoder(folder, pooling=pooling).to(device)


@contextmanager
def embedded(
    load: Callable[[], Any],
    tasks: Sequence[Task],
    *,
    keep: Path | None = None,
    kept_shards: Path | None = None,
    encoder: str = "",
) -> Iterator[EmbeddingStore]:
    """Yields a store with the vector of every text that the tasks need, each unique text encoded once.

    It is in `keep`, where a second evaluation of the same `encoder` (see `harness.identity`) finds it and
    loads no model, or in a folder of the system's for temporary files (TMPDIR) that is removed at the end.
    `kept_shards` is a folder with vectors of earlier evaluations, which it reads and adds to.
    """
    model = [] if keep or kept_shards else [load()]  # a wrong folder is refused before data is read

    def encode(texts: Sequence[str]) -> np.ndarray:
        if not model:
            model.append(load())
        vectors: np.ndarray = model[0].encode(texts, progress=True)
        return vectors

    with tempfile.TemporaryDirectory(prefix="sentbench-") as scratch:
        store = EmbeddingStore.open_or_create(
            keep or Path(scratch, "store"), encoder=encoder, kept=kept_shards
        )
        store.complete(unique_texts(tasks), encode)
        for path in store.damaged:
            print(f"{path}: damaged, expected whole vectors; they were made again", file=sys.stderr)
        model.clear()
        yield store


def evaluations(log: Path) -> list[dict[str, Any]]:
    """Returns the evaluations of a training log, rounded: what the report's curves need."""
    lines = log.read_text(encoding="utf-8").splitlines()
    return [rounded(json.loads(line)) for line in lines if '"evaluation": true' in line]
