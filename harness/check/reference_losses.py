"""Reference losses: what each run gave in its first steps, with which later code is compared."""

import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import Field

from harness.declarations import Declaration, read_declaration
from harness.disk.files import write_text
from harness.disk.layouts import check_inputs
from harness.disk.records import rounded
from harness.errors import InputError
from harness.paths import ARTEFACTS
from harness.plan.entries import Params
from harness.process import quiet

Numbers = Mapping[str, float]
OF_VECTOR = "of sentence"
"""What appears in the name of each number of a vector."""
REACH = 5.0
"""A number may be this many times as far from the reference as any two ways of computing it were."""
RELATIVE, ABSOLUTE, OF_LOGGED = 3e-4, 1e-5, 1e-10
"""And beyond that by this share of it, and by this much: a number of a vector, and one of the log."""
THREADS = (1, 2)
NUDGES = (2e-6, -2e-6)
"""Shares by which weights are moved in two ways of computing: some units in the last place of fp32."""
HEAD = """\
# What each run gives in its first steps; written by `sentbench check --measure`. Of each number its value and
# how far from it a correct one may be: {reach:g} times the largest difference of its kind between {threads}
# threads, torch's own products for oneDNN's, and weights moved in their last places both ways, and a bit.
"""


class ReferenceLosses(Declaration):
    """The file: run -> what a number is -> the number and its tolerance."""

    runs: dict[str, dict[str, Annotated[list[float], Field(min_length=2, max_length=2)]]] = Field(
        min_length=1
    )


def compared_runs(params: Params) -> list[str]:
    """Returns the runs that are compared: of each system and backbone the one with the highest seed.

    Seed 0 would not show that seeds are ignored.
    """
    last: dict[tuple[str, str], str] = {}
    for key, run in params.runs.items():
        last[run.id, run.backbone_name] = key
    return list(last.values())


def measure_run(
    params: Params, key: str, nudge: float = 0.0, most_rows: int | None = None
) -> dict[str, float]:
    """Returns the first steps of a run. A parent or start that is itself trained is replaced by its backbone.

    So nothing depends on trainings before it. nudge, most_rows: see `harness.check.first_steps.first_steps`.
    Errors: InputError if a folder that the run needs is missing.
    """
    from harness.check.first_steps import ROWS, first_steps
    from harness.compute.rows import read_rows
    from methods.core.networks import Networks

    quiet()
    run = params.run(key)
    start = run
    while Path(start.backbone).parent == ARTEFACTS:
        start = params.run(Path(start.backbone).name)
    backbone = Path(start.backbone)
    check_inputs(start.backbone, run.corpus)
    trained = run.parent_folder is not None and run.parent_folder.parent == ARTEFACTS
    parent = backbone if trained else run.parent_folder
    method, config, settings = run.read_settings()
    rows = read_rows(Path(run.corpus), share=run.corpus_share, seed=run.seed)
    with tempfile.TemporaryDirectory(prefix="sentbench-") as state:
        networks = Networks(backbone, pooling=run.pooling, parent=parent)
        return first_steps(
            method,
            config,
            settings,
            networks,
            rows,
            seed=run.seed,
            state=Path(state),
            nudge=nudge,
            most_rows=most_rows or ROWS,
        )


def measure_runs(params: Params, keys: Sequence[str]) -> dict[str, dict[str, float]]:
    """Returns the first steps of several runs, measured in parallel: a process a core, each with one thread.

    Errors: as `measure_run`.
    """
    if not keys:
        return {}
    # what most runs need is loaded here: a process that is forked has it, and would take seconds for it
    import torch._dynamo
    import transformers.models.bert.modeling_bert  # noqa: F401

    import harness.check.first_steps  # noqa: F401

    with ProcessPoolExecutor(
        os.cpu_count(), get_context("fork"), initializer=torch.set_num_threads, initargs=(1,)
    ) as pool:
        return dict(zip(keys, pool.map(partial(measure_run, params), keys), strict=True))


def read_reference(path: Path) -> dict[str, dict[str, list[float]]]:
    """Returns run -> name of a number -> [value, tolerance]. Errors: InputError if the file is no such."""
    if not path.is_file():
        raise InputError(f"{path}: no such file; write reference losses with `sentbench check --measure`")
    return read_declaration(path, ReferenceLosses).runs


def write_reference(path: Path, found: Mapping[str, Mapping[str, list[float]]]) -> None:
    """Writes the file, one line a number."""
    head = HEAD.format(reach=REACH, threads=", ".join(map(str, THREADS)))
    body = {"runs": rounded(found)}
    write_text(path, head + yaml.safe_dump(body, sort_keys=False, width=200, default_flow_style=None))


def with_tolerances(measure: Callable[[float], Numbers]) -> dict[str, list[float]]:
    """Returns what `measure` gives on one thread, with how far arithmetic alone moves numbers of a kind."""
    tries = []
    for threads in THREADS:
        with arithmetic(threads, onednn=True):
            tries.append(measure(0.0))
    with arithmetic(1, onednn=False):
        tries.append(measure(0.0))
    with arithmetic(1, onednn=True):
        tries += [measure(nudge) for nudge in NUDGES]
    first = tries[0]
    reach: dict[str, float] = {}
    for name, value in first.items():
        largest = max(abs(other[name] - value) for other in tries)
        reach[_kind(name)] = max(REACH * largest, reach.get(_kind(name), 0.0))
    found = {}
    for name, value in first.items():
        absolute = ABSOLUTE if OF_VECTOR in name else OF_LOGGED
        found[name] = [value, reach[_kind(name)] + RELATIVE * abs(value) + absolute]
    return found


def _kind(name: str) -> str:
    """Returns what numbers share that arithmetic may move alike: those of a vector have one tolerance.

    Where a token is drawn, rounding may draw another one, which moves the vectors of any sentence.
    """
    return re.sub(r"\d+", "", name) if OF_VECTOR in name else name


@contextmanager
def arithmetic(threads: int, *, onednn: bool) -> Iterator[None]:
    """Makes torch compute in the block with so many threads, with oneDNN's products or its own."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with warnings.catch_warnings():  # the switch brings up a word about GPUs of another maker
            warnings.filterwarnings("ignore", message="TF32 acceleration")
            with torch.backends.mkldnn.flags(enabled=onednn):
                yield
    finally:
        torch.set_num_threads(before)


def differences(run: str, known: Mapping[str, list[float]], found: Numbers) -> list[str]:
    """Returns one line for each number of a run that is not the reference, is missing or is new."""
    lines = []
    for name in [*known, *(name for name in found if name not in known)]:
        if name not in found:
            lines.append(f"{run}: no {name}, expected {known[name][0]:.6g}")
        elif name not in known:
            lines.append(f"{run}: {name} is {found[name]:.6g}, expected no such number")
        elif not abs(found[name] - known[name][0]) <= known[name][1]:
            value, tolerance = known[name]
            lines.append(f"{run}: {name} is {found[name]:.6g}, expected {value:.6g} ± {tolerance:.1g}")
    return lines
