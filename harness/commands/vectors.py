"""The vectors of any encoder folder for the tasks that a user names."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness.commands.waiting import waiting
from harness.data.download import NotFetched, folder_of
from harness.process import quiet, resolve_device
from harness.tasks.interface import Encode, Task
from harness.tasks.own_pairs import is_own_pairs

OFFLINE = "STSB,sts-part"
"""Tasks whose data come from the package registry: they run without access to the hub."""


@contextmanager
def vectors_of(
    folder: Path,
    tasks: Sequence[Task],
    *,
    pooling: str | None = None,
    device: str = "auto",
    batch_size: int | None = None,
) -> Iterator[Encode]:
    """Yields a function from texts to vectors of an encoder folder, with each text encoded once. Errors:
    InputError if the folder has no encoder.
    """
    with waiting(f"opening {folder}"):
        from harness.models.read import read_encoder
        from harness.stages.vectors import embedded

        quiet()
        used = resolve_device(device)
        opened = [read_encoder(folder, pooling=pooling).to(used)]
    work = f"{folder}: encoding the texts of {len(tasks)} task{'s' if len(tasks) > 1 else ''}"
    with waiting(work, bar=True), embedded(opened.pop, tasks, batch_size=batch_size) as store:
        yield store.encode


def fetch_data(tasks: Sequence[Task]) -> None:
    """Fetches the data of tasks that are missing, so that data which no provider has are refused before a
    model is loaded. Errors: as of `folder_of`."""
    for source in sorted({task.source for task in tasks if not is_own_pairs(task)}):
        folder_of(source)


@contextmanager
def offline_first(names: Sequence[str]) -> Iterator[None]:
    """Adds the tasks that need neither hub nor mirror to the error about a missing source."""
    try:
        yield
    except NotFetched as error:
        if set(names) <= set(OFFLINE.split(",")):
            raise
        raise NotFetched(f"the tasks {OFFLINE} need neither hub nor mirror; {error}") from None
