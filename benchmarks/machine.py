"""What figures are measured on: the machine and the packages."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from harness.report.runs import slug

CPU_LIST = Path("/proc/cpuinfo")
LIBRARIES = ("torch", "transformers", "sentence-transformers", "mteb", "numpy", "scikit-learn", "accelerate")


def machine(device: str) -> dict[str, Any]:
    """Returns what tells this machine from others; `id` is made of all the rest."""
    on_cpu = device == "cpu"
    told = {
        "processor": processor() if on_cpu else torch.cuda.get_device_name(),
        "model": _model() if on_cpu else "",
        "cores": len(os.sched_getaffinity(0)),
        "device": device,
    }
    return {"id": machine_id(**told), **told}


def machine_id(processor: str, model: str, cores: int, device: str) -> str:
    """Returns the name of a machine in the record."""
    parts = [processor, model, f"{cores} cores", "" if device == "cpu" else device]
    return slug(" ".join(parts))


def processor() -> str:
    """Returns the processor's own name, that of its kind where it has none."""
    return _first("model name") or platform.processor() or platform.machine()


def _model() -> str:
    family, model = _first("cpu family"), _first("model")
    return f"family {family}, model {model}" if family and model else ""


def _first(key: str) -> str:
    """Returns what the system says of the first processor under a key; empty where it says nothing."""
    text = CPU_LIST.read_text(encoding="utf-8") if CPU_LIST.is_file() else ""
    found = re.search(rf"^{key}\s*:\s*(.*?)\s*$", text, flags=re.MULTILINE)
    return found[1] if found else ""


def software() -> dict[str, Any]:
    """Returns the versions of Python and of the packages that figures depend on."""
    found: dict[str, str] = {}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = "not installed"
    return {"python": platform.python_version(), "versions": found}
