"""Encoders of any kind: read from a folder, encode texts, score. Arguments are checked before any work."""

from __future__ import annotations

import inspect
import os
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from harness.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from harness.tasks.interface import Encode, Task
    from methods.core.encoder import SentenceEncoder
    from methods.core.words import WordAverageEncoder


PROGRESS = ("progress", "show_progress_bar")
"""What the option is called that shows a bar: by this project's encoders, and by sentence-transformers."""


class HasEncode(Protocol):
    """An object whose `encode` takes a list of texts and returns one vector for each: [N, d]."""

    def encode(self, texts: Any, /) -> Any: ...


Model: TypeAlias = "HasEncode | Callable[[list[str]], Any] | str | Path"
"""What can be scored: an encoder of this package, a sentence-transformers model or anything else with
`encode`, a function from texts to vectors, or the folder or the hub's name of an encoder."""


def load(
    folder: str | Path, *, pooling: str | None = None, device: str = "auto"
) -> SentenceEncoder | WordAverageEncoder:
    """Returns the encoder of a folder: this project's, sentence-transformers', or a plain Hugging Face one.

    folder: also NAME/REPOSITORY of the hub, where no such folder is here.
    pooling: `cls`, `mean`, `first-last-avg`, `static-last-avg` or `last-two-avg`; needed for a plain folder,
    which does not state its pooling. device: `auto`, `cpu` or `cuda`.
    Shapes: its `encode(texts)` returns [N, d] in fp32.
    Errors: InputError if the folder is none of these, or a file of it cannot be read.
    """
    from harness.compute.encoders import read_encoder
    from harness.data.hub_models import model_folder
    from harness.process import quiet, resolve_device

    path = folder_of(model_folder(folder) if isinstance(folder, str) else folder, "an encoder")
    place = resolve_device(text_of(device, "device"))
    quiet()
    try:
        encoder = read_encoder(path, pooling=None if pooling is None else text_of(pooling, "pooling"))
    except OSError as error:
        raise InputError(f"{error.filename or path}: {error.strerror or error}") from error
    return encoder.to(place)


def encode(model: Model, texts: Iterable[str], *, progress: bool = False) -> np.ndarray:
    """Returns the vectors of texts by any model; [N, d], N texts in their order.

    progress: show a bar on a terminal, where the model's `encode` can.
    Errors: InputError if it is not a model, `texts` is not a list of texts, or the model does not return one
    finite vector of equal width per text. Exceptions of the model itself are passed on.
    """
    from harness.tasks.evaluation import encode_unique

    wanted = texts_of(texts, "texts")
    encoded = encode_unique(_function_of(model, progress), wanted, "encode", dtype=None)
    return encoded.matrix[encoded.rows(wanted)]


def evaluate(
    model: Model,
    tasks: str | Sequence[str] = "sts",
    *,
    text: str = "senteval",
    intervals: bool = False,
    progress: bool = False,
) -> pd.DataFrame:
    """Returns the scores of a model: one row per score, in raw units.

    Columns: task, metric, setting (the pairs it covers: `all` pairs, the `mean` of subsets, one subset),
    value, n. With `intervals` also low and high: the 95 % bootstrap interval over the pairs of a test set,
    nan for scores that are not a correlation over all pairs.
    tasks: names and suites, comma-separated or as a list; `sentbench list tasks` prints them. text:
    `senteval`, tokenised and lower-cased as the papers evaluate, or `raw` as in MTEB. Every text is
    encoded once. progress: as of `encode`.
    Errors: InputError for an unknown task or text form, a model that returns no vectors, or unavailable data.
    """
    import pandas as pd

    from harness.assembly.pairs import score_lines

    if not isinstance(intervals, int):
        raise InputError(f"intervals is {shown(intervals)}, expected True or False")
    chosen = tasks_of(tasks, text)
    lines = score_lines(chosen, encoded_by(model, chosen, progress), intervals=intervals)
    frame = pd.DataFrame([asdict(line) for line in lines]).drop(columns="interval")
    if intervals:
        bounds = [line.interval or (float("nan"), float("nan")) for line in lines]
        frame["low"], frame["high"] = zip(*bounds, strict=True)
    return frame


def tasks_of(tasks: str | Sequence[str], text: str) -> list[Task]:
    """Returns the tasks of names and suites, comma-separated or as a list. Errors: InputError, as above."""
    from harness.stages.evaluate import tasks_named

    names = text_of(tasks, "tasks").split(",") if isinstance(tasks, str) else texts_of(tasks, "tasks")
    form = text_of(text, "text")
    return tasks_named([name.strip() for name in names if name.strip()], text=form)


def encoded_by(model: Model, tasks: Sequence[Task], progress: bool = False) -> Encode:
    """Returns the vectors of the tasks' texts by any model, each text encoded once."""
    from harness.tasks.evaluation import encode_unique, unique_texts

    call = _function_of(model, progress)
    encoded = encode_unique(call, unique_texts(tasks), "evaluation", dtype=None)
    return lambda some: encoded.matrix[encoded.rows(some)]


def _function_of(model: Model, progress: bool) -> Callable[[Sequence[str]], np.ndarray]:
    if isinstance(model, str | os.PathLike):
        model = load(model)
    call: Any = getattr(model, "encode", model)
    is_function = callable(call) and not isinstance(model, type)
    known = list[str]()
    try:
        signature = inspect.signature(call) if is_function else inspect.Signature()
        signature.bind([])
        known = [name for name in PROGRESS if name in signature.parameters]
    except ValueError:  # no signature is known of some functions written in C
        pass
    except TypeError:
        raise InputError(
            f"{shown(model)} is not a model, expected an object with encode, a function from texts to "
            "vectors, or the folder of an encoder"
        ) from None
    options = dict.fromkeys(known[:1], True) if progress else {}
    return lambda texts: _array(call(list(texts), **options))


def _array(vectors: Any) -> np.ndarray:
    import numpy as np

    try:
        if hasattr(vectors, "detach"):
            vectors = vectors.detach().cpu()
            vectors = (vectors.float() if vectors.is_floating_point() else vectors).numpy()
        return np.asarray(vectors)
    except (AttributeError, RuntimeError, TypeError, ValueError) as error:
        raise InputError(
            f"the model returned {type(vectors).__name__}, which is not an array ({shown(str(error))}), "
            "expected vectors of one width [N, d]"
        ) from None


def shown(value: Any) -> str:
    """Returns a value as one short line for a message."""
    return " ".join(reprlib.repr(value).split()).encode("utf-8", "backslashreplace").decode()


def text_of(value: Any, what: str) -> str:
    """Returns a text that UTF-8 can express. Errors: InputError, which says `what` it is, for others."""
    if not isinstance(value, str):
        raise InputError(f"{what} is {shown(value)}, expected text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what} is {shown(value)}, expected text without lone surrogates") from None
    return value


def texts_of(values: Any, what: str) -> list[str]:
    """Returns the texts of a list or another iterable in order. Errors: InputError for anything else."""
    unordered = isinstance(values, str | bytes | bytearray | Mapping | Set)
    try:
        each = iter(() if unordered else values)
    except TypeError:
        unordered = True
    if unordered:
        raise InputError(f"{what} is {shown(values)}, expected a list of texts")
    return [text_of(value, f"{what}[{number}]") for number, value in enumerate(each)]


def folder_of(value: Any, of: str) -> Path:
    """Returns the path of an existing folder. Errors: InputError, which says what it is a folder `of`."""
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str) or not path:
        raise InputError(f"{shown(value)} is not a path, expected the folder of {of}")
    try:
        if Path(path).is_dir():
            return Path(path)
    except OSError as error:
        raise InputError(f"{shown(path)}: {error.strerror}, expected the folder of {of}") from None
    if not path.isprintable():
        path = shown(path)
    raise InputError(f"{path}: no such folder, expected one of {of}; check the path")
