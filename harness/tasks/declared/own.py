"""The pairs of included folders: each file FOLDER/pairs/NAME is the task NAME, see `harness.include`."""

from functools import partial

from harness.data.sources import own_source_name
from harness.paths import own_files
from harness.tasks.interface import Declaration, Task


def _task(name: str, file: str, text: str, source: str) -> Task:
    from harness.data.own_pairs import read_own_pairs
    from harness.tasks.sts import StsTask

    return StsTask(name, source, lambda folder: {"all": read_own_pairs(folder / file)})


TASKS = tuple(
    Declaration(file.stem, own_source_name(file.stem), partial(_task, file.stem, file.name))
    for file in own_files("pairs", "[!._]*")
)
