"""Calls of models and their answers: an answer becomes one array, or an error of one line."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.errors import InputError

if TYPE_CHECKING:
    import numpy as np

PROGRESS = ("progress", "show_progress_bar")
"""What the option is called that shows a bar: by this project's encoders, and by sentence-transformers."""

MOST_ROWS, FEWEST_BYTES = 512, 1000
"""Rows that are looked at for packed bits, and the pairs of bytes that it takes to tell them."""

LEAST_SPREAD, FEWEST_KINDS = 24, 128
"""Standard deviation of a column, and different bytes, from which the last bits of numbers are even."""

FLIPPED = 0.4
"""Share of differing last bits below which bytes are packed bits; of numbers it is a half."""


def function_of(model: Any, name: str, *, progress: bool = False) -> Callable[[Sequence[str]], np.ndarray]:
    """Returns a model's function from texts to vectors.

    name: of the model, for messages. progress: ask for a bar, where the function has an option for it.
    Errors: InputError, which says what is in the way, if it cannot be called with a list of texts alone.
    """
    call: Any = getattr(model, "encode", model)
    if isinstance(model, type):
        raise InputError(f"{name} is a class and no model, expected an object of it")
    if not callable(call):
        instead = ", it has predict, which takes pairs" if hasattr(model, "predict") else ""
        raise InputError(
            f"{name} is not a model{instead}, expected an object with encode, a function from texts to "
            "vectors, or the folder of an encoder"
        )
    if inspect.iscoroutinefunction(call):
        raise InputError(f"{name} is not a model: its function is asynchronous, expected one with vectors")
    known = _options(call, name)
    options = dict.fromkeys(known[:1], True) if progress else {}
    return lambda texts: array_of(call(list(texts), **options))


def _options(call: Callable[..., Any], name: str) -> list[str]:
    """Returns the options of a function that show a bar; InputError if it takes more than a list of texts."""
    try:
        signature = inspect.signature(call)
    except ValueError:  # no signature is known of some functions written in C
        return []
    try:
        signature.bind([])
    except TypeError:
        needed = [
            parameter.name
            for parameter in signature.parameters.values()
            if parameter.default is parameter.empty
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        ]
        raise InputError(
            f"{name} is not a model that takes a list of texts alone: its function needs "
            f"{', '.join(needed) or 'nothing'}; expected `lambda texts: ...` that gives it the rest"
        ) from None
    return [option for option in PROGRESS if option in signature.parameters]


def array_of(answer: Any) -> np.ndarray:
    """Returns vectors of any library as an array: tensors, lists of them, frames, quantised numbers.

    Errors: InputError, which names the kind of answer, for sparse vectors, several vectors a text, packed
    bits and what else is not one array of numbers.
    """
    import numpy as np

    try:
        found = np.asarray(_plain(answer))
        if found.dtype.kind in "VO":  # 16- and 8-bit floats of other libraries; rows as objects
            found = found.astype(np.float32) if found.dtype.kind == "V" else np.asarray(found.tolist())
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001  # libraries have errors of their own
        raise InputError(
            f"the model returned {_kind(answer)}, which is not an array "
            f"({' '.join(str(error).split())[:120]}), expected vectors of one width [N, d]"
        ) from None
    if found.dtype.kind not in "fiu":
        raise InputError(
            f"the model returned {_kind(answer)}, which is no array of numbers, expected vectors [N, d]"
        )
    if found.dtype.itemsize == 1:
        _check_bits(found)
    return found


def _plain(answer: Any) -> Any:
    """Returns what NumPy can read: tensors without graph, device and half precision, alone or in a list."""
    import numpy as np

    if hasattr(answer, "detach"):
        return _of_tensor(answer)
    if isinstance(answer, Mapping):
        keys = ", ".join(map(str, answer))
        raise InputError(f"the model returned {_kind(answer)} with {keys}, expected the vectors alone")
    if hasattr(answer, "tocoo") or hasattr(answer, "todense"):
        raise InputError(f"the model returned sparse vectors ({_kind(answer)}), expected dense ones [N, d]")
    if isinstance(answer, np.ma.MaskedArray) and np.ma.is_masked(answer):
        raise InputError("the model returned a masked array with masked numbers, expected all numbers")
    if inspect.iscoroutine(answer):
        answer.close()
        raise InputError("the model returned a coroutine, expected vectors [N, d]")
    if isinstance(answer, Iterator):
        answer = list(answer)
    if isinstance(answer, list | tuple) and any(hasattr(row, "detach") for row in answer):
        answer = [_of_tensor(row) if hasattr(row, "detach") else np.asarray(row) for row in answer]
    if isinstance(answer, list | tuple) and any(getattr(row, "ndim", 1) != 1 for row in answer):
        raise InputError("the model returned several vectors for a text, expected one for each [N, d]")
    return answer


def _of_tensor(tensor: Any) -> Any:
    if str(getattr(tensor, "layout", "torch.strided")) != "torch.strided":
        raise InputError(
            f"the model returned a sparse tensor ({tensor.layout}), expected dense [N, d]: `.to_dense()`"
        )
    tensor = tensor.detach().cpu()
    return (tensor.float() if tensor.is_floating_point() else tensor).numpy()


def _kind(answer: Any) -> str:
    return f"{type(answer).__module__}.{type(answer).__name__}".removeprefix("builtins.")


def _check_bits(vectors: np.ndarray) -> None:
    """Warns that bytes are scored as numbers. Errors: InputError if they can only be packed bits."""
    name, how = "precision `ubinary`", "vectors"
    if vectors.dtype.kind == "i":
        name, how = "precision `binary`", "(vectors.astype(int) + 128).astype(np.uint8)"
    if vectors.ndim == 2 and are_packed_bits(vectors):
        raise InputError(
            f"the model returned bytes that look like packed bits ({name}), whose cosines mean nothing; "
            f"expected numbers: np.unpackbits({how}, axis=1)"
        )
    warnings.warn(
        "the model returned 8-bit integers, scored as numbers; bits packed in bytes need np.unpackbits first",
        stacklevel=2,
    )


def are_packed_bits(vectors: np.ndarray) -> bool:
    """Returns whether bytes [N, d] can only be eight dimensions each, and no quantised numbers.

    Each row is compared with the row most like it in all but the last bits. Where two numbers of a wide
    column differ at all, their last bits differ half the time. The last of packed bits is a dimension like
    the others, so it mostly agrees in rows that are alike. Numbers of few kinds, or with little spread, are
    told by that. Where rows are too few, or none are alike, the answer is False.
    """
    import numpy as np

    some = np.ascontiguousarray(vectors[:MOST_ROWS])
    wide = some.std(axis=0) > LEAST_SPREAD if len(some) else np.zeros(0, dtype=bool)
    if wide.mean() < 0.5 or len(np.unique(some)) < FEWEST_KINDS:
        return False
    found = some.view(np.uint8)[:, wide]
    signs = np.unpackbits(found & np.uint8(0xFE), axis=1).astype(np.float32) * 2 - 1
    alike = signs @ signs.T
    alike[alike == signs.shape[1]] = -np.inf  # the row itself, and its copies
    others = found[alike.argmax(axis=1)]
    compared = found >> 1 != others >> 1
    flipped = ((found ^ others) & 1)[compared]
    has_last_bits = 0 < (found & 1).mean() < 1
    return bool(has_last_bits and len(flipped) >= FEWEST_BYTES and flipped.mean() < FLIPPED)
