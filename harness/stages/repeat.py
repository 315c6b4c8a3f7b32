"""A training that another repeats: one run from its recipe, in a folder of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from harness import paths
from harness.errors import InputError
from harness.plan.entries import Params
from harness.plan.resolve import write_params
from harness.results.schema import ResultFile
from harness.results.store import read_result

INPUTS = (
    paths.RECIPES,
    paths.LEADERBOARDS,
    paths.DATA,
    paths.BACKBONES,
    paths.CORPORA,
    paths.TEACHERS,
    paths.ARTEFACTS,
)
"""What is read from the project while a run is repeated."""


def repeat_run(params: Params, key: str, *, device: str) -> ResultFile:
    """Returns the result of training and evaluating a run here; nothing of the project is changed.

    Errors: InputError if a folder that the run needs is not here.
    """
    from harness.stages.evaluate import evaluate_run
    from harness.stages.train import train

    run = params.run(key)
    for needed in dict.fromkeys((run.backbone, run.corpus, run.parent)):
        if not Path(needed).is_dir():
            raise InputError(
                f"{needed}: no such folder, {key} needs it; make it with `dvc repro` of its plan"
            )
    os.environ["SENTBENCH_PROVIDERS"] = ",".join(params.providers)
    with project_of_links(params):
        folder = train(params, key, Path("repeated") / key, device=device, resume=False)
        return read_result(evaluate_run(params, key, folder, device=device))


@contextmanager
def project_of_links(params: Params) -> Iterator[None]:
    """Makes a project the current folder whose inputs are links to those here; its outputs are removed."""
    here = Path.cwd()
    with TemporaryDirectory(prefix="sentbench-") as folder:
        for name in INPUTS:
            if (here / name).exists():
                (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                os.symlink(here / name, Path(folder) / name)
        with chdir(folder):
            write_params(params)
            yield
