"""Requirements of a plan on a machine other than `data fetch`: packages, folders, disk, a GPU."""

import os
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from harness.data.augmentation.views import SENTENCE_PIECES
from harness.data.sources import INCLUDED, SOURCES, Source
from harness.paths import SOURCE_RECORD, data_roots
from harness.plan.entries import Params
from harness.plan.estimate import FLOAT_BYTES, Estimate, cores_here
from harness.plan.step_times import Cost

SENTENCE_PIECE_FILES = (".spm", "spiece.model")
"""The vocabularies of translators and paraphrasers (Marian, PEGASUS)."""
COPIES_OF_A_RESUME_POINT = 6
"""Copies of the weights on disk during training: best, last, one being written, and parameters with two
moments."""
PATIENCE_HOURS = 7 * 24.0
"""A plan that takes longer than a week on all cores of this machine needs a GPU."""
GIGABYTE = 1e9


class Need(NamedTuple):
    """A requirement of a plan: whether it is met, its present state, and how to provide it."""

    what: str
    met: bool
    state: str
    provide: str

    @property
    def line(self) -> str:
        """The requirement in one line, with the way to provide it if it is not met."""
        return f"{self.what}: {self.state}" + ("" if self.met else f"; {self.provide}")


def needs_of(params: Params, estimate: Estimate) -> list[Need]:
    """Returns the requirements of a plan, without fetching or querying the hub."""
    return [
        *_packages(params),
        *_folders(params),
        _disk(params, estimate),
        *_gpu(params, estimate),
    ]


def _packages(params: Params) -> Iterator[Need]:
    augmenters = [
        name
        for name in params.sources
        if any(file.endswith(SENTENCE_PIECE_FILES) for file in SOURCES[name].files)
    ]
    if augmenters:
        for package in SENTENCE_PIECES:
            yield _package(package, f"the tokenizers of {', '.join(augmenters)}", f"pip install {package}")


def _package(name: str, use: str, provide: str) -> Need:
    try:
        return Need(f"{name} for {use}", True, version(name), provide)
    except PackageNotFoundError:
        return Need(f"{name} for {use}", False, "not installed", provide)


def _folders(params: Params) -> Iterator[Need]:
    for name in params.sources:
        source = SOURCES[name]
        providers = {provider for provider in source.providers if provider in params.providers}
        if not providers & {"embedded", "hub"} and INCLUDED not in source.providers:
            folder = _place_of(source)
            ways = [
                f"apt-get install {by.package}" if by.package else by.obtain
                for by in source.providers.values()
            ]
            provide = "; or ".join(filter(None, ways))
            yield Need(f"{name}, not on the hub", folder is not None, folder or "not found", provide)


def _place_of(source: Source) -> str | None:
    """Returns the folder that has all files of a source: fetched, of the system, or of the mirror."""
    folders = [root / source.name for root in data_roots() if (root / source.name / SOURCE_RECORD).is_file()]
    if "system" in source.providers:
        folders.append(Path(source.providers["system"].folder))
    mirror = os.environ.get("SENTBENCH_MIRROR")
    if mirror and "mirror" in source.providers:
        folders.append(Path(mirror) / source.providers["mirror"].folder)
    return next(
        (str(folder) for folder in folders if all((folder / f).is_file() for f in source.files)), None
    )


def _disk(params: Params, estimate: Estimate) -> Need:
    shapes = [estimate.shape(run.backbone_name) for run in params.runs.values()]
    largest = max((shape.parameters for shape in shapes if shape), default=0)
    costs = [estimate.run(run) for run in params.runs.values()]
    total = [cost.disk for cost in (*costs, estimate.teachers(), estimate.data(), estimate.corpora()) if cost]
    wanted = sum(total) + COPIES_OF_A_RESUME_POINT * FLOAT_BYTES * largest
    free = shutil.disk_usage(Path()).free
    state = f"{free / GIGABYTE:,.0f} GB free, {wanted / GIGABYTE:,.0f} GB estimated"
    return Need("disk", free >= wanted, state, "free space, or plan fewer runs with --seeds or --backbone")


def hours_on_cores(params: Params, estimate: Estimate) -> float:
    """Returns the hours of a plan's runs on all cores of this machine; runs without an estimate count 0."""
    return Cost.total(estimate.run(run) or Cost() for run in params.runs.values()).cpu_hours / cores_here()


def _gpu(params: Params, estimate: Estimate) -> Iterator[Need]:
    hours = hours_on_cores(params, estimate)
    if hours < PATIENCE_HOURS:
        return
    import torch

    if not torch.cuda.is_available():
        state = f"no CUDA device, about {hours:,.0f} hours on this machine's cores without one"
        provide = "run the plan on a machine with a GPU, or fewer of its systems with --backbone"
        yield Need("gpu", False, state, provide)
        return
    yield Need("gpu", True, torch.cuda.get_device_name(), "")
