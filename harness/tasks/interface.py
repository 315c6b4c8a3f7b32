"""The interface of evaluation tasks, which receive a function from texts to vectors instead of a model."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from harness.errors import InputError

if TYPE_CHECKING:
    import numpy as np

Encode = Callable[[Sequence[str]], "np.ndarray"]
"""N texts to an array [N, d]; fp32 or fp16. Similarities are always computed in float64."""


class Score(NamedTuple):
    """One measured number in raw units: a correlation in [-1, 1], an accuracy or MAP in [0, 1].

    `setting` names what the number is computed over, for example `all`, `mean`, `wmean`, `all/protocol`.
    """

    task: str
    metric: str
    setting: str
    value: float
    n: int


class Task(Protocol):
    """One evaluation data set under one protocol."""

    name: str
    source: str  # key of harness/data/sources.yaml

    def texts(self) -> Iterable[str]:
        """Yields the texts of the task, so all tasks can be encoded in one pass."""
        ...

    def evaluate(self, encode: Encode) -> list[Score]: ...


def check_names(tasks: Iterable[Task]) -> None:
    """Raises InputError if two tasks have the same name."""
    names = [task.name for task in tasks]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two tasks are called {twice!r}; rename one")


@dataclass(frozen=True)
class Declaration:
    """Declaration of a task, before its data or code is loaded.

    `factory` makes the task from text form and source, with the `arguments` of the name, if it takes any.
    `source` is a key of harness/data/sources.yaml, or a function of text form and providers that returns one.
    `suite` is its group of tasks, None for a task that runs only by its name.
    `arguments`: the name takes arguments, as in `NAME:key=number`, which the factory receives.
    """

    name: str
    source: str | Callable[[str, Sequence[str] | None], str]
    factory: Callable[..., Task]
    suite: str | None = None
    arguments: bool = False

    def source_for(self, text: str, providers: Sequence[str] | None) -> str:
        """Returns the source that the task reads in this text form, with data from these providers."""
        return self.source if isinstance(self.source, str) else self.source(text, providers)
