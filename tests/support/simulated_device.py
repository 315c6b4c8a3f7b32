"""A simulated GPU: tensors that report another device, compute on the CPU, and count the host's waits.

The reported device is `meta`: a CPU build of torch can switch to it, which it cannot for `cuda`. Inside of
`simulated_device` factories, copies and operators behave as on a GPU: tensors of two devices in one operator
are an error, and each wait of the host for the GPU is counted with the line that caused it.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, ClassVar
from unittest import mock

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

DEVICE, ATTENTION = "meta", "scaled_dot_product_attention"

READS = {
    *("aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select", "aten::equal", "aten::bincount"),
    *("aten::_unique2", "aten::unique_dim", "aten::unique_consecutive", "aten::repeat_interleave"),
    *("aten::_linalg_eigh", "aten::_linalg_svd", "aten::_linalg_check_errors"),
}
"""Operators whose result, or its size, the host must know before it goes on."""

INDEXING = {"aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_"}
"""Operators that take an index from the host too: it is copied, and the host waits."""


class TwoDevicesError(RuntimeError):
    """An operator got tensors of two devices."""


@dataclass
class Gpu:
    """Record of the simulated GPU: waits by line of code, and operators that read real numbers."""

    waits: Counter[str] = field(default_factory=Counter)
    operators: set[str] = field(default_factory=set)

    def wait(self, reason: str) -> None:
        """Counts a wait of the host."""
        self.waits[f"{reason} at {_line()}"] += 1


class OnGpu(torch.Tensor):
    """A tensor on the simulated GPU; `held` is the tensor that it computes with."""

    held: torch.Tensor
    gpu: Gpu

    @staticmethod
    def __new__(cls, held: torch.Tensor, gpu: Gpu) -> OnGpu:
        made: OnGpu = torch.Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=DEVICE,
        )
        made.held, made.gpu = held, gpu
        return made

    def tolist(self) -> Any:
        self.gpu.wait("tolist")
        return self.held.detach().tolist()

    def numpy(self, *, force: bool = False) -> np.ndarray:
        raise TypeError("a tensor on a GPU is no NumPy array; copy it to the host first")

    def new_tensor(self, data: Any, **settings: Any) -> torch.Tensor:  # type: ignore[override]
        return torch.tensor(data, **{"dtype": self.dtype, "device": DEVICE, **settings})

    @classmethod
    def __torch_dispatch__(cls, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        first = next(value for value in tree_leaves((args, kwargs)) if isinstance(value, OnGpu))
        return _run(first.gpu, operator, args, kwargs or {})


class _Everywhere(TorchDispatchMode):
    """Sees the operators without a tensor of the GPU too: factories and copies to it."""

    def __init__(self, gpu: Gpu) -> None:
        super().__init__()
        self.gpu = gpu

    def __torch_dispatch__(self, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(self.gpu, operator, args, kwargs or {})


class _HalfPrecision(TorchFunctionMode):
    """Autocast to bf16 on the GPU, by torch's lists for CUDA for the operators of this project."""

    half: ClassVar = {"linear", "matmul", "__matmul__", "mm", "bmm", "addmm", "baddbmm", "einsum", ATTENTION}
    full: ClassVar = {
        *("softmax", "log_softmax", "logsumexp", "cross_entropy", "nll_loss", "kl_div", "mse_loss"),
        *("layer_norm", "norm", "exp", "log", "pow", "sum", "prod", "cumsum", "cosine_similarity"),
    }

    def __init__(self, switch: list[bool]) -> None:
        super().__init__()
        self.switch = switch

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(function, "__name__", "")
        wanted = torch.bfloat16 if name in self.half else torch.float32

        def cast(value: torch.Tensor) -> torch.Tensor:
            casts = isinstance(value, OnGpu) and value.is_floating_point() and value.dtype != wanted
            return value.to(wanted) if casts else value

        if self.switch[0] and name in self.half | self.full:
            args, kwargs = tree_map_only(torch.Tensor, cast, (args, kwargs or {}))
        return function(*args, **(kwargs or {}))


@contextmanager
def simulated_device() -> Iterator[Gpu]:
    """Simulates a GPU as `device="meta"` inside the context, and yields its record."""
    gpu = Gpu()
    autocast, enabled, dtype = torch.autocast, torch.is_autocast_enabled, torch.get_autocast_dtype
    half = [False]

    @contextmanager
    def autocast_here(on: bool) -> Iterator[None]:
        before, half[0] = half[0], on
        try:
            with _HalfPrecision(half) if on else nullcontext():
                yield
        finally:
            half[0] = before

    def autocast_of(device_type: str, *args: Any, enabled: bool = True, **settings: Any) -> Any:
        if device_type != DEVICE:
            return autocast(device_type, *args, enabled=enabled, **settings)
        return autocast_here(enabled) if enabled != half[0] else nullcontext()

    swapped = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        with (
            mock.patch("torch.autocast", autocast_of),
            mock.patch("torch.amp.autocast", autocast_of),
            mock.patch("torch.amp.is_autocast_available", return_value=True),
            mock.patch(
                "torch.is_autocast_enabled", lambda *kind: half[0] if kind == (DEVICE,) else enabled(*kind)
            ),
            mock.patch("torch.get_autocast_dtype", lambda kind: dtype("cpu" if kind == DEVICE else kind)),
            mock.patch(
                "torch.optim.optimizer._get_fused_kernels_supported_devices", return_value=["cpu", DEVICE]
            ),
            mock.patch("torch.tensor", _from_data(gpu, torch.tensor)),
            mock.patch("torch.as_tensor", _from_data(gpu, torch.as_tensor)),
            _Everywhere(gpu),
        ):
            yield gpu
    finally:
        torch.__future__.set_swap_module_params_on_conversion(swapped)


def _from_data(gpu: Gpu, made_by: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Returns torch's function that makes a tensor of numbers: a GPU gets a copy, with a wait."""

    def made(data: Any, *, device: Any = None, **settings: Any) -> torch.Tensor:
        if device is None or torch.device(device).type != DEVICE:
            return made_by(data, device=device, **settings)
        return made_by(data, **settings).to(DEVICE)

    return made


def on_host(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the CPU tensor that one on the simulated GPU computes with; others as they are."""
    return tensor.held if isinstance(tensor, OnGpu) else tensor


def _run(gpu: Gpu, operator: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    name = operator._schema.name
    on_gpu: list[OnGpu] = []
    on_cpu: list[torch.Tensor] = []

    def noted(value: torch.Tensor) -> torch.Tensor:
        on_gpu.append(value) if isinstance(value, OnGpu) else on_cpu.append(value)
        return on_host(value)

    given, kwargs = tree_map_only(torch.Tensor, noted, (args, kwargs))
    wanted = kwargs.get("device")
    result_there = bool(on_gpu) if wanted is None else torch.device(wanted).type == DEVICE
    if any(value.is_floating_point() for value in on_gpu):
        gpu.operators.add(name)
    if name == "aten::_to_copy":
        if bool(on_gpu) != result_there and not kwargs.get("non_blocking"):
            gpu.wait("copy")
        kwargs = {key: value for key, value in kwargs.items() if key not in ("device", "pin_memory")}
    elif name == "aten::copy_":
        if isinstance(args[0], OnGpu) != isinstance(args[1], OnGpu) and not (args[2:] or (False,))[0]:
            gpu.wait("copy")
    elif wanted is not None:
        kwargs = {**kwargs, "device": torch.device("cpu")}
    elif on_gpu:
        _check_one_device(gpu, name, on_gpu, on_cpu)
    if on_gpu and name in READS:
        gpu.wait(name)
    if on_gpu and name in INDEXING and any(_is_mask(value) for value in args[1]):
        gpu.wait("boolean index")
    made = operator(*given, **kwargs)
    if not result_there and name != "aten::copy_":
        return made
    known = {id(value.held): value for value in on_gpu} | {id(value): value for value in on_cpu}

    def wrapped(value: torch.Tensor) -> torch.Tensor:
        return known[id(value)] if id(value) in known else OnGpu(value, gpu)

    return tree_map_only(torch.Tensor, wrapped, made)


def _check_one_device(gpu: Gpu, name: str, on_gpu: list[OnGpu], on_cpu: list[torch.Tensor]) -> None:
    """Refuses tensors of two devices, but for single numbers, which torch passes by value, and indices."""
    stray = [value for value in on_cpu if value.dim() > 0 or name in ("aten::cat", "aten::stack")]
    if stray and name not in INDEXING:
        raise TwoDevicesError(f"{name} at {_line()} got tensors of two devices")
    if stray:
        gpu.wait("index from the host")


def _is_mask(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype in (torch.bool, torch.uint8)


def _line() -> str:
    """Returns the innermost line of this project's code that led here, as `module.py:line`."""
    for frame, number in traceback.walk_stack(None):
        name = frame.f_code.co_filename
        for room in ("/methods/", "/harness/"):
            if room in name and "/tests/" not in name:
                return f"{room[1:]}{name.rpartition(room)[2]}:{number}"
    return "torch"
