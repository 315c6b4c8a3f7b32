"""Calls of models, and conversion of their answers to an array or a one-line error."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.errors import InputError

if TYPE_CHECKING:
    import numpy as np

PROGRESS_OPTIONS = ("progress", "show_progress_bar")
"""Options for a progress bar: of this project's encoders, and of sentence-transformers."""

WIDTH_METHODS = ("get_embedding_dimension", "get_sentence_embedding_dimension")
"""Methods that return the width of a model's vectors: of sentence-transformers, now and before."""


def function_of(
    model: Any, name: str, *, progress: bool = False, **options: Any
) -> Callable[[Sequence[str]], np.ndarray]:
    """Returns a model's function from texts to vectors.

    name: of the model, for messages. progress: show a bar if the function has an option for it. options: for
    every call.
    Errors: InputError with the reason if it cannot be called with only a list of texts.
    """
    call: Any = getattr(model, "encode", model)
    if isinstance(model, type):
        raise InputError(f"{name} is a class; pass an object of it")
    if not callable(call):
        instead = ", it has predict, which takes pairs" if hasattr(model, "predict") else ""
        raise InputError(
            f"{name} is not a model{instead}, expected an object with encode, a function from texts to "
            "vectors, or the folder of an encoder"
        )
    if inspect.iscoroutinefunction(call):
        raise InputError(f"{name} is not a model: its function is asynchronous")
    known = _options(call, name, options)
    options |= dict.fromkeys(known[:1], True) if progress else {}
    width = next((getattr(model, method)() for method in WIDTH_METHODS if hasattr(model, method)), None)
    return lambda texts: array_of(call(list(texts), **options), width=width)


def _options(call: Callable[..., Any], name: str, given: Mapping[str, Any]) -> list[str]:
    """Returns the options that show a bar; InputError if a function needs more than a list of texts and the
    given options."""
    try:
        signature = inspect.signature(call)
    except ValueError:  # some functions written in C have no signature
        return []
    try:
        signature.bind([], **given)
    except TypeError:
        needed = [
            parameter.name
            for parameter in signature.parameters.values()
            if parameter.default is parameter.empty
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        ]
        raise InputError(
            f"{name} cannot be called with only a list of texts: it needs "
            f"{', '.join(needed) or 'nothing'}; expected `lambda texts: ...` that gives it the rest"
        ) from None
    return [option for option in PROGRESS_OPTIONS if option in signature.parameters]


def array_of(answer: Any, *, width: int | None = None) -> np.ndarray:
    """Returns vectors of any library as an array: tensors, lists of them, frames, quantised numbers.

    width: of the model's vectors, None if it is not known.
    Errors: InputError, which names the kind of answer, for sparse vectors, several vectors per text, packed
    bits and anything else that is not an array of numbers.
    """
    import numpy as np

    try:
        array = np.asarray(_plain(answer))
        if array.dtype.kind in "VO":  # 16- and 8-bit floats of other libraries; rows as objects
            array = array.astype(np.float32) if array.dtype.kind == "V" else np.asarray(array.tolist())
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001  # libraries raise various errors
        raise InputError(
            f"the model returned {_kind(answer)}, which is not an array "
            f"({' '.join(str(error).split())[:120]}), expected vectors of one width [N, d]"
        ) from None
    if array.dtype.kind not in "fiu":
        raise InputError(f"the model returned {_kind(answer)}, expected an array of numbers [N, d]")
    if array.dtype.itemsize == 1:
        _check_bytes(array, width)
    return array


def _plain(answer: Any) -> Any:
    """Converts tensors, alone or in a list, for NumPy: without graph, device and half precision."""
    import numpy as np

    if hasattr(answer, "detach"):
        return _of_tensor(answer)
    if isinstance(answer, Mapping):
        keys = ", ".join(map(str, answer))
        raise InputError(f"the model returned {_kind(answer)} with {keys}, expected only the vectors")
    if hasattr(answer, "tocoo") or hasattr(answer, "todense"):
        raise InputError(f"the model returned sparse vectors ({_kind(answer)}), expected dense ones [N, d]")
    if isinstance(answer, np.ma.MaskedArray) and np.ma.is_masked(answer):
        raise InputError("the model returned a masked array with masked numbers")
    if inspect.iscoroutine(answer):
        answer.close()
        raise InputError("the model returned a coroutine, expected vectors [N, d]")
    if isinstance(answer, Iterator):
        answer = list(answer)
    if isinstance(answer, list | tuple) and any(hasattr(row, "detach") for row in answer):
        answer = [_of_tensor(row) if hasattr(row, "detach") else np.asarray(row) for row in answer]
    if isinstance(answer, list | tuple) and any(getattr(row, "ndim", 1) > 1 for row in answer):
        raise InputError(
            f"the model returned {_kind(answer)} of arrays, several vectors for a text or several results, "
            "expected one vector for each text [N, d]"
        )
    return answer


def _of_tensor(tensor: Any) -> Any:
    if str(getattr(tensor, "layout", "torch.strided")) != "torch.strided":
        raise InputError(
            f"the model returned a sparse tensor ({tensor.layout}), expected dense [N, d]: `.to_dense()`"
        )
    tensor = tensor.detach().cpu()
    half = tensor.is_floating_point() and tensor.element_size() < 4  # NumPy has no bfloat16
    return (tensor.float() if half else tensor).numpy()


def _kind(answer: Any) -> str:
    return f"{type(answer).__module__}.{type(answer).__name__}".removeprefix("builtins.")


def _check_bytes(vectors: np.ndarray, width: int | None) -> None:
    """Warns that bytes are scored as numbers. width: of the model's vectors, None if it is not known.

    Errors: InputError for bytes of an eighth of the model's width, which are packed bits.
    """
    if vectors.ndim == 2 and 8 * vectors.shape[1] == width:
        how = "(vectors.astype(int) + 128).astype(np.uint8)" if vectors.dtype.kind == "i" else "vectors"
        raise InputError(
            f"the model returned {vectors.shape[1]} bytes for vectors of width {width}: packed bits, which "
            f"have no meaningful cosines; unpack them: np.unpackbits({how}, axis=1)"
        )
    warnings.warn(
        "the model returned 8-bit integers, scored as numbers; bits packed in bytes need np.unpackbits first",
        stacklevel=2,
    )
