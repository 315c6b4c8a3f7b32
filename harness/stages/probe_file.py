"""The file of known probes: how it is measured, read, and held against what the code does now."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import yaml
from pydantic import Field

from harness.declarations import Declaration, read_declaration
from harness.disk.files import write_text
from harness.disk.records import rounded
from harness.errors import InputError
from harness.stages.probes import OF_VECTOR

Numbers = Mapping[str, float]
REACH = 5.0
"""A number may be this many times as far from the known one as any two ways of computing it were."""
RELATIVE, ABSOLUTE, OF_LOGGED = 3e-4, 1e-5, 1e-10
"""And beyond that by this share of it, and by this much: a number of a vector, and one of the log."""
WIDE = 1e-7
"""The share for numbers that are computed in float64, with no weights in them."""
THREADS = (1, 2)
NUDGES = (2e-6, -2e-6)
"""Shares by which weights are moved in two ways of computing: some units in the last place of fp32."""
HEAD = """\
# What each run does in its first steps, and what tasks and statistics give for made input; written by
# `sentbench check --measure`. Of each number its value and how far from it a correct one may be: {reach:g}
# times the largest difference of its kind between {threads} threads, torch's own products for oneDNN's,
# and weights moved in their last places both ways, and a bit.
"""


class Probes(Declaration):
    """The file: probe -> what a number is -> the number and its tolerance."""

    probes: dict[str, dict[str, list[float]]] = Field(min_length=1)


def read_probes(path: Path) -> dict[str, dict[str, list[float]]]:
    """Returns probe -> name of a number -> [value, tolerance]. Errors: InputError if the file is no such."""
    if not path.is_file():
        raise InputError(
            f"{path}: no such file, expected probes; write them with `sentbench check --measure`"
        )
    found = read_declaration(path, Probes).probes
    for probe, numbers in found.items():
        for name, pair in numbers.items():
            if len(pair) != 2 or pair[1] < 0:
                raise InputError(
                    f"{path}: {probe}: {name} is {pair}, expected a value and its tolerance; measure it again"
                )
    return found


def write_probes(path: Path, found: Mapping[str, Mapping[str, list[float]]]) -> None:
    """Writes the file, one line a number."""
    head = HEAD.format(reach=REACH, threads=", ".join(map(str, THREADS)))
    body = {"probes": rounded(found)}
    write_text(path, head + yaml.safe_dump(body, sort_keys=False, width=200, default_flow_style=None))


def with_tolerances(measure: Callable[[float], Numbers], *, wide: bool) -> dict[str, list[float]]:
    """Returns the numbers that `measure` gives on one thread, with how far arithmetic alone moves their kind.

    wide: they are computed in float64.
    """
    tries = []
    for threads in THREADS:
        with arithmetic(threads, onednn=True):
            tries.append(measure(0.0))
    with arithmetic(1, onednn=False):
        tries.append(measure(0.0))
    with arithmetic(1, onednn=True):
        tries += [measure(nudge) for nudge in NUDGES]
    first = tries[0]
    spreads: dict[str, float] = {}
    for name, value in first.items():
        spread = max(abs(other[name] - value) for other in tries)
        spreads[_kind(name)] = max(spread, spreads.get(_kind(name), 0.0))
    found = {}
    for name, value in first.items():
        absolute = ABSOLUTE if OF_VECTOR in name else OF_LOGGED
        least = WIDE * (abs(value) + 1) if wide else RELATIVE * abs(value) + absolute
        found[name] = [value, REACH * spreads[_kind(name)] + least]
    return found


def _kind(name: str) -> str:
    """Returns what numbers share that arithmetic may move alike: those of a vector have one tolerance.

    Where a token is drawn, rounding may draw another one, which moves the vectors of any sentence.
    """
    return re.sub(r"\d+", "", name) if OF_VECTOR in name else name


@contextmanager
def _unwarned() -> Iterator[None]:
    """Keeps torch from a word about GPUs of another maker, which its switch for oneDNN brings up."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="TF32 acceleration")
        yield


@contextmanager
def arithmetic(threads: int, *, onednn: bool) -> Iterator[None]:
    """Makes torch compute in the block with so many threads, with oneDNN's products or its own."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with _unwarned(), torch.backends.mkldnn.flags(enabled=onednn):
            yield
    finally:
        torch.set_num_threads(before)


def differences(probe: str, known: Mapping[str, list[float]], found: Numbers) -> list[str]:
    """Returns one line for each number of a probe that is not the known one, is missing or is new."""
    lines = []
    for name in [*known, *(name for name in found if name not in known)]:
        if name not in found:
            lines.append(f"{probe}: no {name}, expected {known[name][0]:.6g}")
        elif name not in known:
            lines.append(f"{probe}: {name} is {found[name]:.6g}, expected no such number")
        elif not abs(found[name] - known[name][0]) <= known[name][1]:
            value, tolerance = known[name]
            lines.append(f"{probe}: {name} is {found[name]:.6g}, expected {value:.6g} ± {tolerance:.1g}")
    return lines
