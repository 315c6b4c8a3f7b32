"""Loading, encoding and scoring with encoders of any kind; arguments are checked first."""

from __future__ import annotations

import inspect
import os
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import asdict
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from harness.errors import InputError
from sentbench.answers import function_of

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from harness.models.foreign import LibraryEncoder
    from harness.tasks.interface import Encode, Task
    from methods.core.encoder import SentenceEncoder
    from methods.core.words import WordAverageEncoder


class HasEncode(Protocol):
    """An object whose `encode` takes a list of texts and returns one vector for each: [N, d]."""

    def encode(self, texts: Any, /) -> Any: ...


Model: TypeAlias = "HasEncode | Callable[[list[str]], Any] | str | Path"
"""A model: an encoder of this package, a sentence-transformers model or another object with `encode`, a
function from texts to vectors, or the folder or hub name of an encoder."""


Tasks: TypeAlias = "str | Task | Sequence[str | Task]"
"""Names of tasks and suites, comma-separated or as a list, and task objects."""


def load(
    folder: str | Path, *, pooling: str | None = None, device: str = "auto"
) -> SentenceEncoder | WordAverageEncoder | LibraryEncoder:
    """Returns the encoder of a folder: this project's, sentence-transformers', or a plain Hugging Face one.

    It is computed here if that is known to give the same vectors, otherwise by sentence-transformers; a line
    on standard error then names the setting. Thread-safe.

    folder: or NAME/REPOSITORY of the hub if no such folder exists.
    pooling: `cls`, `mean`, `first-last-avg`, `static-last-avg`, `last-two-avg` or `pooler`; required for a
    plain folder, which does not state its pooling. It replaces the pooling that a folder states; word vectors
    have none to replace.
    device: `auto`, `cpu` or `cuda`.
    Shapes: its `encode(texts)` returns [N, d] in fp32.
    Errors: InputError if the folder is not an encoder or cannot be read, or `pooling` would replace a pooling
    that a layer of the folder was trained on.
    """
    from harness.models.hub import model_folder
    from harness.models.read import read_encoder
    from harness.process import quietly, resolve_device

    named = model_folder(at_home(folder)) if isinstance(folder, str) and folder else folder
    path = folder_of(named, "an encoder")
    target = resolve_device(text_of(device, "device"))
    try:
        with quietly():
            encoder = read_encoder(path, pooling=None if pooling is None else text_of(pooling, "pooling"))
    except OSError as error:
        raise InputError(f"{error.filename or path}: {error.strerror or error}") from error
    return encoder.to(target)


def encode(model: Model, texts: Iterable[str], *, progress: bool = False) -> np.ndarray:
    """Returns the vectors of N texts in order, from any model; [N, d].

    progress: show a bar on a terminal if the model's `encode` has one.
    Errors: InputError if it is not a model, `texts` is not a list of texts, or the model does not return a
    finite vector of equal width per text. Exceptions of the model itself are passed on.
    """
    from harness.tasks.evaluation import encode_unique

    wanted = texts_of(texts, "texts")
    encoded = encode_unique(_function_of(model, progress), wanted, "encode", dtype=None)
    return encoded.matrix[encoded.rows(wanted)]


def evaluate(
    model: Model,
    tasks: Tasks = "sts",
    *,
    text: str = "senteval",
    intervals: bool = False,
    averages: bool = False,
    include: str | Path | Sequence[str | Path] = (),
    batch_size: int | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    """Returns the scores of a model, one row per score, in raw units.

    Columns: task, metric, setting (the pairs it covers: `all` pairs, the `mean` of subsets, one subset),
    value, n. With `intervals` also low and high: the 95 % bootstrap interval over the pairs of a test set,
    nan for scores that are not a correlation over all pairs.
    tasks: names and suites, comma-separated or as a list, which may include task objects, such as from
    `pairs`; `sentbench list tasks` prints the names. text: `senteval`, tokenised and lower-cased as the
    papers evaluate, or `raw` as in MTEB. Every text is encoded once.
    averages: also a row of setting `average` for each complete suite, and for two or more task objects: the
    mean of scores rounded to 0.01 points, as in papers; n is the number of tasks. include: folders with your
    tasks, pairs and sources, as for `sentbench --include`. batch_size: for the model's `encode`;
    a function gets at most so many texts a call. progress: as for `encode`.
    Errors: InputError for an unknown task or text form, a model that returns no vectors, or unavailable data.
    """
    import pandas as pd

    from harness.report.assembly.pairs import average_lines, score_lines

    if not isinstance(intervals, int):
        raise InputError(f"intervals is {shown(intervals)}, expected True or False")
    include_folders(include)
    chosen, kept = tasks_of(tasks, text), dict[str, Any]()
    encode = encoded_by(model, chosen, progress, batch_size)
    lines = score_lines(chosen, encode, intervals=intervals, kept=kept)
    if averages:
        lines += average_lines(lines, kept, suites_of(chosen))
    frame = pd.DataFrame([asdict(line) for line in lines]).drop(columns="interval")
    if intervals:
        bounds = [line.interval or (float("nan"), float("nan")) for line in lines]
        frame["low"], frame["high"] = zip(*bounds, strict=True)
    return frame


def pairs(source: str | Path | Iterable[Any], *, name: str | None = None) -> Task:
    """Returns a task of your scored pairs, for the `tasks` of `evaluate` and `compare`.

    source: a file that ends in .tsv, .csv, .jsonl or .json, with columns sentence1, sentence2 and score; or
    rows of two sentences and a score: tuples, dictionaries, objects with two `texts` and a `label`, or a
    table of pandas, polars, pyarrow or datasets. Scores may have any scale; texts stay unchanged. Columns
    that are not read are named on standard error. name: of the task, by default the name of the file.
    Errors: InputError with the line for other files or rows, for two columns that may be the score or the
    same sentence, and for pairs of several splits.
    """
    from harness.tasks.own_pairs import own_pairs_task

    if name == "":
        raise InputError("name is '', expected the name of a task")
    path = Path(at_home(text_of(source, "pairs"))) if isinstance(source, str) else source
    return own_pairs_task(path, None if name is None else text_of(name, "name"))


def include_folders(folders: str | Path | Sequence[str | Path]) -> None:
    """Includes folders like `sentbench --include`. Errors: InputError for a folder without declarations."""
    listed = [folders] if isinstance(folders, str | os.PathLike) else folders
    paths = [str(folder_of(folder, "tasks, pairs or sources")) for folder in listed]
    if paths:
        from harness.include import include_all
        from harness.tasks.registry import reread

        include_all(paths)
        reread()


def tasks_of(tasks: Tasks, text: str) -> list[Task]:
    """Returns the tasks of names, suites and objects, comma-separated or as a list. Errors: as above."""
    from harness.tasks.interface import check_names
    from harness.tasks.registry import tasks_named

    listed: Any = text_of(tasks, "tasks").split(",") if isinstance(tasks, str) else tasks
    if _is_task(listed):
        listed = [listed]
    task_objects: list[Any] = (
        [task for task in listed if _is_task(task)] if isinstance(listed, list | tuple) else []
    )
    names = texts_of([task for task in listed if not _is_task(task)] if task_objects else listed, "tasks")
    form = text_of(text, "text")
    wanted = [name.strip() for name in names if name.strip()]
    named = tasks_named(wanted, text=form) if wanted or not task_objects else []
    check_names([*named, *task_objects])
    return [*named, *task_objects]


def _is_task(value: Any) -> bool:
    return all(hasattr(value, name) for name in ("name", "texts", "evaluate")) and not isinstance(value, type)


def suites_of(tasks: Sequence[Task]) -> dict[str, Sequence[str]]:
    """Returns the suites by name; tasks outside the registry are the suite `pairs`."""
    from harness.tasks.registry import SUITES, TASKS

    others = [task.name for task in tasks if task.name.partition(":")[0] not in TASKS]
    return {**SUITES, "pairs": others}


def encoded_by(
    model: Model, tasks: Sequence[Task], progress: bool = False, batch_size: int | None = None
) -> Encode:
    """Returns the vectors of the tasks' texts from any model; each text is encoded once."""
    from harness.tasks.evaluation import encode_unique, unique_texts

    call = _function_of(model, progress, batch_size)
    encoded = encode_unique(call, unique_texts(tasks), "evaluation", dtype=None)
    return lambda batch: encoded.matrix[encoded.rows(batch)]


def _function_of(
    model: Model, progress: bool, batch_size: int | None = None
) -> Callable[[Sequence[str]], np.ndarray]:
    """Returns a model's function from texts to vectors.

    batch_size: for the model's `encode`; a function without such an option gets so many texts a call.
    Errors: InputError if it is not a positive integer, or as of `function_of`.
    """
    if batch_size is not None and (not isinstance(batch_size, Integral) or batch_size < 1):
        raise InputError(f"batch_size is {shown(batch_size)}, expected an integer from 1")
    if isinstance(model, str | os.PathLike):
        model = load(model)
    if batch_size is None:
        return function_of(model, shown(model), progress=progress)
    batch_size = int(batch_size)
    if _takes_batch_size(getattr(model, "encode", model)):
        return function_of(model, shown(model), progress=progress, batch_size=batch_size)
    return _in_calls(function_of(model, shown(model), progress=progress), batch_size, shown(model))


def _takes_batch_size(call: Any) -> bool:
    try:
        known = inspect.signature(call).parameters
    except (TypeError, ValueError):
        return False
    return "batch_size" in known or any(option.kind is option.VAR_KEYWORD for option in known.values())


def _in_calls(
    function: Callable[[Sequence[str]], np.ndarray], size: int, name: str
) -> Callable[[Sequence[str]], np.ndarray]:
    """Returns a function that passes at most `size` texts a call; InputError for vectors of two widths."""
    import numpy as np

    def vectors_of(texts: Sequence[str]) -> np.ndarray:
        starts = range(0, max(len(texts), 1), size)
        parts = [function(texts[start : start + size]) for start in starts]
        if len({part.shape[1:] for part in parts}) > 1:
            raise InputError(f"{name} returns vectors of different widths: {[part.shape for part in parts]}")
        return np.concatenate(parts)

    return vectors_of


def shown(value: Any) -> str:
    """Returns a value as one short line for a message."""
    return " ".join(reprlib.repr(value).split()).encode("utf-8", "backslashreplace").decode()


def text_of(value: Any, what: str) -> str:
    """Returns a text that can be encoded in UTF-8. Errors: InputError with `what` it is."""
    if not isinstance(value, str):
        raise InputError(f"{what} is {shown(value)}, expected text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what} is {shown(value)}, expected text without lone surrogates") from None
    return value


def texts_of(values: Any, what: str) -> list[str]:
    """Returns the texts of a list or another iterable in order. Errors: InputError for other values."""
    unordered = isinstance(values, str | bytes | bytearray | Mapping | Set)
    try:
        each = iter(() if unordered else values)
    except TypeError:
        unordered = True
    if unordered:
        raise InputError(f"{what} is {shown(values)}, expected a list of texts")
    return [text_of(value, f"{what}[{number}]") for number, value in enumerate(each)]


def at_home(path: str) -> str:
    """Returns a path with the user's folder for a `~` at its beginning, as a shell has it."""
    return os.path.expanduser(path)


def folder_of(value: Any, of: str) -> Path:
    """Returns the path of an existing folder. `of`: its expected content, for the message. Errors:
    InputError.
    """
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str) or not path:
        raise InputError(f"{shown(value)} is not a path, expected the folder of {of}")
    path = at_home(path)
    try:
        if Path(path).is_dir():
            return Path(path)
        file = Path(path).is_file()
    except OSError as error:
        raise InputError(f"{shown(path)}: {error.strerror}, expected the folder of {of}") from None
    if not path.isprintable():
        path = shown(path)
    if file:
        raise InputError(f"{path}: is a file, expected the folder of {of}")
    raise InputError(f"{path}: no such folder, expected the folder of {of}")
