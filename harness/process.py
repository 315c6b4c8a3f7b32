"""The environment of a process that computes: its arithmetic and how its threads wait.

The numerical libraries choose kernels by the processor's instruction set, vendor and caches, so the same
program gives other last digits on another processor. Under the variables of PORTABLE they choose the same
kernels on every x86-64 processor with AVX2 and FMA, and results have the same bits. The variables are read
when NumPy and torch load, so they are set before that. Without them the arithmetic is `native`: the fastest
of the machine.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping, MutableMapping
from typing import Literal

from harness.errors import InputError

Arithmetic = Literal["portable", "native"]

PASSIVE = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0", "KMP_BLOCKTIME": "0"}
"""Idle OpenMP threads sleep instead of spinning in the time of another process."""

PORTABLE = {
    "ATEN_CPU_CAPABILITY": "avx2",  # torch's own kernels
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_CBWR": "COMPATIBLE",  # MKL's AVX2 setting still differs between vendors in exp, eigh and svd
    "OPENBLAS_CORETYPE": "Haswell",  # NumPy's and SciPy's products
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "OMP_NUM_THREADS": "1",  # more threads take sums in another order
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
X86_64 = ("x86_64", "AMD64")
"""Names of the one architecture, as systems give them."""
REPLACED = "SENTBENCH_NATIVE_VARIABLES"
"""Variable that keeps, as JSON, the values that those of PORTABLE replaced."""


class RestartNeeded(Exception):
    """The libraries have loaded under another arithmetic than the one that is needed."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """environment: all variables that the new process needs."""
        super().__init__("this process has to be started again with other variables")
        self.environment = dict(environment)


def prepare() -> None:
    """Sets what holds for every command: threads sleep while they wait, and arithmetic is portable.

    Changes nothing where NumPy or torch has loaded. An environment that says how threads wait keeps that.
    """
    if loaded():
        return
    if not PASSIVE.keys() & os.environ.keys():
        os.environ.update(PASSIVE)
    set_portable(os.environ)


def compute_with(arithmetic: Arithmetic, *, restarts: bool | None = None) -> None:
    """Makes this process compute with an arithmetic.

    restarts: whether this process can be started again; by default what `allow_restart` said.
    Errors: RestartNeeded if the libraries have loaded with the other arithmetic and the process can be
    started again; else InputError where portable arithmetic is needed. Where native arithmetic is needed,
    portable arithmetic does too.
    """
    if arithmetic == in_effect():
        return
    change = set_portable if arithmetic == "portable" else set_native
    if not loaded():
        change(os.environ)
    elif _restarts if restarts is None else restarts:
        environment = dict(os.environ)
        change(environment)
        raise RestartNeeded(environment)
    elif arithmetic == "portable":
        raise InputError(
            "portable arithmetic has to be set before NumPy and torch load; use the `sentbench` command"
        )


_restarts = False


def allow_restart() -> None:
    """Declares that this process does one command and may be replaced by a new one for it."""
    global _restarts
    _restarts = True


def set_portable(environment: MutableMapping[str, str]) -> None:
    """Changes variables to those of portable arithmetic and keeps the values that they replace."""
    if any(environment.get(name) != value for name, value in PORTABLE.items()):
        replaced = {name: environment[name] for name in PORTABLE if name in environment}
        environment.update(PORTABLE)
        environment[REPLACED] = json.dumps(replaced)


def set_native(environment: MutableMapping[str, str]) -> None:
    """Undoes `set_portable`; variables that a person set to the values of PORTABLE stay."""
    replaced = environment.pop(REPLACED, None)
    if replaced is not None:
        for name in PORTABLE:
            environment.pop(name, None)
        environment.update(json.loads(replaced))


def in_effect() -> Arithmetic:
    """Returns the arithmetic of this process; that of a GPU is never portable, whatever this says."""
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


def limitation() -> str | None:
    """Returns one line on why portable results differ here from other machines'; None if they do not."""
    machine = platform.machine()
    if machine not in X86_64:
        return (
            f"{machine}: bits differ from those of x86-64; scores agree with the committed ones to rounding"
        )
    import numpy

    found = numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    if "X86_V3" not in found:
        return "this processor has no AVX2: bits differ from the committed results, scores agree to rounding"
    return None
