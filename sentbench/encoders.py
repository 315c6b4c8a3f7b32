"""Encoders of any kind: read from a folder, asked for vectors, scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from harness.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from methods.core.encoder import SentenceEncoder
    from methods.core.word_average import WordAverageEncoder


class HasEncode(Protocol):
    """An object whose `encode` takes a list of texts and returns one vector for each: [N, d]."""

    def encode(self, texts: Any, /) -> Any: ...


Model: TypeAlias = "HasEncode | Callable[[list[str]], Any] | str | Path"
"""What can be scored: an encoder of this package, a sentence-transformers model or anything else with
`encode`, a function from texts to vectors, or the folder of an encoder."""


def load(
    folder: str | Path, *, pooling: str | None = None, device: str = "auto"
) -> SentenceEncoder | WordAverageEncoder:
    """Returns the encoder of a folder: this project's, sentence-transformers', or a plain Hugging Face one.

    pooling: `cls`, `mean`, `first-last-avg`, `static-last-avg` or `last-two-avg`; needed for a plain folder,
    which does not say how it pools. device: `auto`, `cpu` or `cuda`.
    Shapes: its `encode(texts)` returns [N, d] in fp32.
    Errors: InputError if the folder is none of these, or a file of it cannot be read.
    """
    from harness.device import quiet, resolve_device
    from harness.stages.encoders import read_encoder

    quiet()
    encoder = read_encoder(Path(folder), pooling=pooling)
    encoder.to(resolve_device(device))
    return encoder


def encode(model: Model, texts: Iterable[str]) -> np.ndarray:
    """Returns the vectors of texts by any model; [N, d], N texts in their order.

    Errors: InputError if it is no model, or does not answer with one finite vector of equal width a text.
    """
    from harness.tasks.vectors import encode_unique

    encoded = encode_unique(_function_of(model), wanted := list(texts), "encode", dtype=None)
    return encoded.matrix[encoded.rows(wanted)]


def evaluate(
    model: Model,
    tasks: str | Sequence[str] = "sts",
    *,
    text: str = "senteval",
    intervals: bool = False,
) -> pd.DataFrame:
    """Returns the scores of a model: one row a score, in raw units.

    Columns: task, metric, setting (what the score is over: `all` pairs, the `mean` of subsets, one subset),
    value, n. With `intervals` also low and high: the 95 % bootstrap interval over the pairs of a test set,
    nan for scores that are no correlation over all pairs.
    tasks: names and suites, comma-separated or as a list; `sentbench list tasks` prints them. text:
    `senteval`, tokenised and lower-cased as the papers evaluate, or `raw` as MTEB has it. Every text is
    encoded once.
    Errors: InputError for an unknown task or text form, a model that gives no vectors, or data not to be had.
    """
    import pandas as pd

    from harness.stages.evaluate import tasks_named
    from harness.stages.pairs import score_lines
    from harness.tasks.evaluation import unique_texts
    from harness.tasks.vectors import encode_unique

    names = tasks.split(",") if isinstance(tasks, str) else list(tasks)
    chosen = tasks_named([name.strip() for name in names if name.strip()], text=text)
    call = _function_of(model)
    encoded = encode_unique(call, unique_texts(chosen), "evaluation", dtype=None)
    lines = score_lines(chosen, lambda some: encoded.matrix[encoded.rows(some)], intervals=intervals)
    frame = pd.DataFrame([line._asdict() for line in lines]).drop(columns="interval")
    if intervals:
        bounds = [line.interval or (float("nan"), float("nan")) for line in lines]
        frame["low"], frame["high"] = zip(*bounds, strict=True)
    return frame


def _function_of(model: Model) -> Callable[[Sequence[str]], np.ndarray]:
    """Returns the function from texts to an array that a model is. Errors: InputError if it is none."""
    if isinstance(model, str | Path):
        model = load(model)
    call = getattr(model, "encode", model)
    if isinstance(model, type) or not callable(call):
        raise InputError(
            f"{model!r} is no model, expected an object with encode, a function from texts to vectors, or "
            "the folder of an encoder; give one of these"
        )
    return lambda texts: _array(call(list(texts)))


def _array(vectors: Any) -> np.ndarray:
    """Returns vectors as a numpy array: a torch tensor of any device and precision, an array, or lists."""
    import numpy as np

    if hasattr(vectors, "detach"):
        vectors = vectors.detach().cpu().float().numpy()
    try:
        return np.asarray(vectors)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the model answers with {type(vectors).__name__} that is no array ({error}), expected vectors "
            "of one width [N, d]; return an array"
        ) from None
