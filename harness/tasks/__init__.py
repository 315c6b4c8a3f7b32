"""The registry of evaluation tasks, and how a model is asked: every unique text once, whatever the tasks.

Names stand here as text, so that listing them loads no reader, no numpy and no torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from harness.errors import InputError, near_matches

if TYPE_CHECKING:
    from harness.tasks.interface import Encode, Score, Task


class Group(NamedTuple):
    """The names of one dictionary of task factories and what its factories take besides the text form."""

    factories: str  # "module:DICT"
    names: tuple[str, ...]
    options: tuple[str, ...] = ()  # of "tiers", "arguments"


YEARS = ("STS12", "STS13", "STS14", "STS15", "STS16")
GEOMETRY = ("geometry-dev", "geometry-test", "geometry-whole")
_GROUPS = (
    Group("harness.tasks.sts:STS_TASKS", (*YEARS, "SICKR", "SICKR-mteb")),
    Group("harness.tasks.sts:STSB_TASKS", ("STSB", "STSB-dev"), ("tiers",)),
    Group("harness.tasks.sts:PART_TASKS", tuple(f"{year}-part" for year in YEARS), ("tiers",)),
    Group("harness.tasks.transfer:TRANSFER_TASKS", ("MR", "CR", "SUBJ", "MPQA", "SST", "TREC", "MRPC")),
    Group("harness.tasks.nli:NLI_TASKS", ("SICK-E", "SNLI")),
    Group("harness.tasks.reranking:RERANKING_TASKS", ("AskUbuntu", "SciDocs", "TRECQA")),
    Group("harness.tasks.geometry:GEOMETRY_TASKS", GEOMETRY, ("tiers",)),
    Group(
        "harness.tasks.geometry:HARD_TASKS", tuple(f"{year}-hard-length" for year in YEARS), ("arguments",)
    ),
    Group(
        "harness.tasks.geometry:HARD_PART_TASKS",
        tuple(f"{year}-part-hard-length" for year in YEARS),
        ("tiers", "arguments"),
    ),
)

TASKS: dict[str, Group] = {name: group for group in _GROUPS for name in group.names}
"""Task name -> where its factory is. `STS12-hard-length` and its like need thresholds after their name."""

SUITES: dict[str, tuple[str, ...]] = {
    "sts": (*YEARS, "STSB", "SICKR"),
    "sts-part": tuple(f"{year}-part" for year in YEARS),
    "transfer": ("MR", "CR", "SUBJ", "MPQA", "SST", "TREC", "MRPC"),
    "nli": ("SICK-E", "SNLI"),
    "reranking": ("AskUbuntu", "SciDocs", "TRECQA"),
    "geometry": ("geometry-dev", "geometry-test"),
}
"""Suite name -> its tasks; `sts` is the seven columns that every paper averages."""

FORMS = ("senteval", "raw")


def build_tasks(names: Sequence[str], *, text: str, tiers: Sequence[str] | None = None) -> list[Task]:
    """Returns the tasks of names and suites in the order given, each once; nothing is read or fetched yet.

    A name may carry arguments after colons: `STS12-hard-length:positive=4:negative=3:longer=5:closer=2`.
    `tiers` is the order of data tiers (default: as `harness.data.download.tier_order` has it), which decides
    between sources that hold the same pairs.
    Errors: InputError for an unknown name or text form, or arguments that the task does not take.
    """
    if text not in FORMS:
        raise InputError(
            f"text form {text!r} is not known, expected {' or '.join(FORMS)}{near_matches(text, list(FORMS))}"
        )
    wanted = dict.fromkeys(task for name in names for task in SUITES.get(name, (name,)))
    return [_build(name, text, tiers) for name in wanted]


def sources_of(names: Sequence[str], *, text: str, tiers: Sequence[str] | None = None) -> list[str]:
    """Returns the names of the sources that these tasks read, sorted, without fetching any."""
    return sorted({source for task in build_tasks(names, text=text, tiers=tiers) for source in task.sources})


def unique_texts(tasks: Sequence[Task]) -> list[str]:
    """Returns every text the tasks will ask for, each once, in the order of first use."""
    return list(dict.fromkeys(text for task in tasks for text in task.texts()))


def evaluate_tasks(tasks: Sequence[Task], encode: Encode) -> list[Score]:
    """Returns the scores of all tasks; `encode` is called once, with the union of their unique texts.

    Errors: InputError if the answer is not one finite vector for each text, or a task cannot score it.
    """
    from harness.tasks.vectors import encode_unique

    encoded = encode_unique(encode, unique_texts(tasks), "evaluation", dtype=None)
    return [
        score for task in tasks for score in task.evaluate(lambda texts: encoded.matrix[encoded.rows(texts)])
    ]


def evaluate_stored(tasks: Sequence[Task], encode: Encode) -> list[Score]:
    """Returns the scores of all tasks, each asking for its own texts only: for vectors kept on disk.

    The memory needed is that of the largest task; `evaluate_tasks` holds the vectors of all of them.
    """
    return [score for task in tasks for score in task.evaluate(encode)]


def _build(name: str, text: str, tiers: Sequence[str] | None) -> Task:
    base, *arguments = name.split(":")
    if base not in TASKS:
        known = [*TASKS, *SUITES]
        raise InputError(
            f"task {name!r} is not known, expected a name that `sentbench list tasks` prints or one of the "
            f"suites {', '.join(SUITES)}{near_matches(name, known)}"
        )
    group = TASKS[base]
    module, _, table = group.factories.partition(":")
    factory = getattr(import_module(module), table)[base]
    if arguments and "arguments" not in group.options:
        raise InputError(f"task {name!r}: {base} takes no arguments, expected {base!r}; drop the rest")
    given = {"tiers": tiers, "arguments": arguments}
    task: Task = factory(text, **{option: given[option] for option in group.options})
    return task
