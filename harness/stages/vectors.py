"""The vectors of an encoder for all texts of its tasks: every unique text is encoded once and stored."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from harness.io.embeddings import EmbeddingStore, keep, kept_name, read_kept
from harness.tasks.evaluation import unique_texts
from harness.tasks.interface import Task
from methods.core.folders import cut_as_stated, load_encoder


def load_artefact(folder: Path, device: str, *, pieces: Path | None = None) -> Any:
    """Returns the encoder of an artefact, or of its `last/`, on a device. Errors: as of `load_encoder`.

    pieces: folder of tokenised texts, shared with other runs; None disables it.
    """
    encoder: Any = cut_as_stated(load_encoder(folder)).to(device)
    encoder.piece_folder = pieces
    return encoder


@contextmanager
def embedded(
    load: Callable[[], Any],
    tasks: Sequence[Task],
    *,
    path: Path | None = None,
    cache: Path | None = None,
    identity: str = "",
    batch_size: int | None = None,
) -> Iterator[EmbeddingStore]:
    """Yields a store with the vector of every text that the tasks need, each unique text encoded once.

    load: returns the encoder. The store is the file `path`, or a temporary file (TMPDIR) that is removed at
    the end. `cache` keeps copies: a second evaluation of an encoder with the same identity (see
    `harness.plan.identity.vectors_identity`) loads no model. batch_size: of the encoder's `encode`, None
    for its default.
    """
    options = {"progress": True} | ({} if batch_size is None else {"batch_size": batch_size})
    model = None if cache else load()  # refuses a wrong folder before data is read
    texts = unique_texts(tasks)
    with tempfile.TemporaryDirectory(prefix="sentbench-") as scratch:
        path = path or Path(scratch, "store")
        kept = cache / kept_name(identity, texts) if cache else None
        store = read_kept(kept, path, texts, encoder=identity) if kept else None
        if store is None:
            model = load() if model is None else model
            store = EmbeddingStore.write(path, texts, partial(model.encode, **options), encoder=identity)
            if kept:
                keep(store, kept)
        model = None
        yield store
