"""Arithmetic, threads, memory and device of a process.

The numerical libraries choose kernels by the processor's instruction set, vendor and caches, so the last
digits of results differ between processors. Under the variables of PORTABLE they choose the same kernels on
every x86-64 processor with AVX2 and FMA, and results have the same bits. The variables are read when NumPy
and torch load, so they are set before that. Without them the arithmetic is `native`, the fastest of the
machine.
"""

import ctypes
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from threading import RLock
from typing import Any, Literal

from harness.errors import InputError

_ONE_AT_A_TIME = RLock()
"""Libraries change classes and switches of the process while they read a model."""

Arithmetic = Literal["portable", "native"]

PASSIVE = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0", "KMP_BLOCKTIME": "0"}
"""Idle OpenMP threads sleep instead of spinning, which would slow other processes."""

PORTABLE = {
    "ATEN_CPU_CAPABILITY": "avx2",  # torch's own kernels
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_CBWR": "COMPATIBLE",  # MKL's AVX2 setting still differs between vendors in exp, eigh and svd
    "OPENBLAS_CORETYPE": "Haswell",  # NumPy's and SciPy's products
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "OMP_NUM_THREADS": "1",  # more threads change the order of sums
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
KEEPS_FREED_MEMORY = {-1: 2**30, -3: 2**25}
"""Settings of glibc by their numbers in malloc.h: free bytes kept at the end of the heap, and the size
from which a block gets its own mapping (the largest allowed). By default glibc gives memory back after
each step, and the system clears the pages that the next step gets."""
DECIDED = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES", "LD_PRELOAD")
"""User settings of the allocator; if any is set, ours are not applied."""
TRIMMED_AFTER = 30.0
"""Seconds between two trims of freed memory in a long computation; each trim takes about 0.1 s."""
DEVICES = ("auto", "cpu", "cuda")
DEVICE = {"choices": DEVICES, "default": "auto"}
"""The argument `--device` of a command."""
X86_64 = ("x86_64", "AMD64")
"""Names of the x86-64 architecture."""
REPLACED = "SENTBENCH_NATIVE_VARIABLES"
"""Environment variable with the values that PORTABLE replaced, as JSON."""


class RestartNeeded(Exception):
    """The libraries have loaded with the wrong arithmetic."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """environment: all variables that the new process needs."""
        super().__init__("restart this process with other environment variables")
        self.environment = dict(environment)


def prepare() -> None:
    """Sets defaults of every command: freed memory is kept, waiting threads sleep, arithmetic is portable.

    No variable changes if NumPy or torch has loaded; a user's setting of waiting threads stays.
    """
    keep_freed_memory()
    if loaded():
        return
    if not PASSIVE.keys() & os.environ.keys():
        os.environ.update(PASSIVE)
    set_portable(os.environ)


def keep_freed_memory() -> None:
    """Makes this process keep freed memory, if the allocator is glibc's."""
    set_option = _of_glibc("mallopt")
    if set_option is not None:
        for option, size in KEEPS_FREED_MEMORY.items():
            set_option(option, size)


_trimmed = 0.0


def give_back_freed_memory() -> None:
    """Gives whole free pages back to the system, at most every TRIMMED_AFTER seconds.

    Row lengths differ between batches, so blocks of many different sizes are freed. Without trimming, a
    training of BERT-tiny on a million sentences grew to 3.6 GB in six minutes, while it used 2 GB.
    """
    global _trimmed
    now, trim = time.monotonic(), _of_glibc("malloc_trim")
    if trim is not None and now >= _trimmed + TRIMMED_AFTER:
        trim(0)
        _trimmed = now


def _of_glibc(name: str) -> Any:
    """Returns a function of glibc; None with another C library or with user settings of the allocator."""
    if sys.platform != "linux" or any(variable in os.environ for variable in DECIDED):
        return None
    return getattr(ctypes.CDLL(None), name, None)


def worker_environment(threads: int | str) -> dict[str, str]:
    """Returns the variables of a process that computes one stage of a launch next to others.

    threads: its share of the cores, for native arithmetic.
    """
    return {"OMP_NUM_THREADS": str(threads), **PASSIVE}


def compute_with(arithmetic: Arithmetic) -> None:
    """Makes this process compute with an arithmetic.

    Errors: RestartNeeded if the libraries have loaded with the other arithmetic and `allow_restart` was
    called; InputError if portable arithmetic is needed and was not set. Native arithmetic falls back to
    portable.
    """
    if arithmetic == in_effect():
        return
    change = set_portable if arithmetic == "portable" else set_native
    if not loaded():
        change(os.environ)
    elif _restarts:
        environment = dict(os.environ)
        change(environment)
        raise RestartNeeded(environment)
    elif arithmetic == "portable":
        raise InputError(
            "portable arithmetic must be set before NumPy and torch load; use the `sentbench` command"
        )


_restarts = False


def allow_restart() -> None:
    """Allows this process, which runs one command, to be replaced by a new process."""
    global _restarts
    _restarts = True


def set_portable(environment: MutableMapping[str, str]) -> None:
    """Sets the variables of portable arithmetic and keeps the values that they replace."""
    if any(environment.get(name) != value for name, value in PORTABLE.items()):
        replaced = {name: environment[name] for name in PORTABLE if name in environment}
        environment.update(PORTABLE)
        environment[REPLACED] = json.dumps(replaced)


def set_native(environment: MutableMapping[str, str]) -> None:
    """Undoes `set_portable`; variables that the user set to the values of PORTABLE stay."""
    replaced = environment.pop(REPLACED, None)
    if replaced is not None:
        for name in PORTABLE:
            environment.pop(name, None)
        environment.update(json.loads(replaced))


def in_effect() -> Arithmetic:
    """Returns the arithmetic of this process; computation on a GPU is never portable."""
    pinned = all(os.environ.get(name) == value for name, value in PORTABLE.items())
    return "portable" if pinned else "native"


def loaded() -> bool:
    """Returns whether a library has loaded that reads the variables once."""
    return "numpy" in sys.modules or "torch" in sys.modules


def device_for(arithmetic: Arithmetic, wanted: str) -> str:
    """Returns the device to use; portable arithmetic runs on a CPU. Errors: InputError for CUDA with it."""
    if arithmetic == "native":
        return wanted
    if wanted == "cuda":
        raise InputError(
            "--device cuda: portable arithmetic runs on the CPU; plan with `--arithmetic native`"
        )
    return "cpu"


def compute_on(arithmetic: Arithmetic, wanted: str) -> str:
    """Makes this process compute with an arithmetic, and returns the device: `cpu` or `cuda`.

    Errors: as of `compute_with`, `device_for` and `resolve_device`.
    """
    compute_with(arithmetic)
    return resolve_device(device_for(arithmetic, wanted))


def resolve_device(wanted: str) -> str:
    """Returns `cpu` or `cuda`; InputError for another device, or if CUDA is requested but not available."""
    import torch

    if wanted not in DEVICES:
        raise InputError(f"device {wanted!r} is not known, expected {', '.join(DEVICES)}")
    if wanted == "cpu" or (wanted == "auto" and not torch.cuda.is_available()):
        return "cpu"
    if not torch.cuda.is_available():
        raise InputError("--device cuda: no CUDA device; use --device cpu or auto")
    make_gpu_deterministic()
    return "cuda"


def make_gpu_deterministic() -> None:
    """Makes GPU results bit-identical between runs: deterministic operators, no TF32 products.

    Source: torch's notes on reproducibility. cuBLAS reads its variable when it is first used.
    """
    import torch

    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False


def gpu_versions(device: str) -> dict[str, str]:
    """Returns the GPU's name, compute capability, driver, CUDA and cuDNN; {} on a CPU."""
    if device != "cuda":
        return {}
    import torch

    gpu = torch.cuda.get_device_properties(torch.cuda.current_device())
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        driver = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        driver = "unknown"
    return {
        "gpu": gpu.name,
        "compute capability": f"{gpu.major}.{gpu.minor}",
        "driver": driver.partition("\n")[0].strip(),
        "CUDA": str(torch.version.cuda),
        "cuDNN": str(torch.backends.cudnn.version()),
    }


@contextmanager
def quietly() -> Iterator[None]:
    """Turns off transformers' progress bars and notes in the block, which one thread enters at a time.

    Afterwards the user's settings and the CPU random state are restored.
    """
    check_docstrings()
    import torch
    from transformers.utils import logging

    with _ONE_AT_A_TIME, torch.random.fork_rng(devices=[]):
        level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
        quiet()
        try:
            yield
        finally:
            logging.set_verbosity(level)
            if bars:
                logging.enable_progress_bar()


def check_docstrings() -> None:
    """Raises InputError if Python removes docstrings, which transformers reads when it is imported."""
    if sys.flags.optimize > 1:
        raise InputError("PYTHONOPTIMIZE=2 removes docstrings, which transformers reads; use 0 or 1")


def quiet() -> None:
    """Turns off progress bars and notes of transformers."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()


def limitation() -> str | None:
    """Returns one line on why portable results differ on this machine; None if they do not."""
    machine = platform.machine()
    if machine not in X86_64:
        return f"{machine}: bits differ from x86-64; scores agree with the committed ones to rounding"
    import numpy

    features = numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    if "X86_V3" not in features:
        return "this processor has no AVX2: bits differ from the committed results, scores agree to rounding"
    return None
