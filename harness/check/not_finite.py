"""The first operation of a loss or a gradient that is nan or infinite, with its line of the method's file."""

import math
import re
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

SILENT = ("empty", "new_empty", "where", "masked_fill", "_scaled_dot", "full", "_to_copy", "detach")
"""Beginnings of operations whose results are filled later, or in which infinity is a mask."""


class _First(TorchDispatchMode):
    """Keeps the first operation whose result is not finite although what it reads is."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file, self.found = file, ""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if not self.found and not name.startswith(SILENT):
            bad = [tensor for tensor in _floats(result) if not _is_finite(tensor)]
            read = [*_floats((args, kwargs or {}))]
            if bad and read and all(map(_is_finite, read)):
                ranges = " and ".join(
                    f"{tensor.min().item():.4g} to {tensor.max().item():.4g}"
                    for tensor in read
                    if tensor.numel()
                )
                value = "nan" if bad[0].isnan().any() else "inf"
                self.found = f"{self._place()}{name} of values from {ranges} is {value}"
        return result

    def _place(self) -> str:
        lines = [frame.lineno for frame in traceback.extract_stack() if Path(frame.filename) == self.file]
        return f"{self.file.name}:{lines[-1]}: " if lines else ""


def first_not_finite(loss: Callable[[], object], file: Path) -> str:
    """Returns `: ` and the first operation of a loss whose result is not finite, with the line of the
    method's file and the range of what it reads; empty if each such operation reads such values.
    """
    with _First(file) as mode:
        loss()
    return mode.found and f": {mode.found}"


def gradient_not_finite(loss: Callable[[], torch.Tensor], file: Path) -> str:
    """Returns `: ` and the first operation of a finite loss whose gradient is not finite, with the line of
    the method's file; empty if there is none.
    """
    found: list[str] = []

    def note(node: Any, given: Sequence[Any], received: Sequence[Any]) -> None:
        bad = [tensor for tensor in _floats(given) if not _is_finite(tensor)]
        if bad and not found and all(map(_is_finite, _floats(received))):
            frames = "".join(node.metadata.get("traceback_", ()))
            lines = re.findall(rf'File "{re.escape(str(file))}", line (\d+)', frames)
            place = f"{file.name}:{lines[-1]}: " if lines else ""
            value = "nan" if bad[0].isnan().any() else "inf"
            found.append(f": {place}the gradient of {_snake(node.name())} is {value}")

    with warnings.catch_warnings(), torch.autograd.set_detect_anomaly(True, check_nan=False):
        warnings.simplefilter("ignore")  # that this mode is slow
        total = loss()
        nodes, left = set[Any](), [total.grad_fn]
        while left:
            node = left.pop()
            if node is not None and node not in nodes:
                nodes.add(node)
                node.register_hook(partial(note, node))
                left += [earlier for earlier, _ in node.next_functions]
        total.backward()
    return "".join(found)


def _snake(name: str) -> str:
    """Returns the operation of a node: `matrix_norm` of `MatrixNormBackward0`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", re.sub(r"Backward\d*$", "", name)).lower()


def _floats(values: Any) -> Iterator[torch.Tensor]:
    for leaf in tree_leaves(values):
        if isinstance(leaf, torch.Tensor) and leaf.is_floating_point():
            yield leaf
        elif isinstance(leaf, float) and not math.isfinite(leaf):
            yield torch.tensor(leaf)


def _is_finite(tensor: torch.Tensor) -> bool:
    return bool(torch.isfinite(tensor).all())
