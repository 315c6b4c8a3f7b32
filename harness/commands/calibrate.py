"""`sentbench calibrate`: measure this machine for a minute: the faster library, and what a step takes.

Native training multiplies by that library; `plan`, `launch` and `verify` estimate hours by the steps. On a
GPU, `--gpu` chooses how layers are computed; `sentbench gpu-check` measures each way.

Example: `sentbench calibrate`
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, get_args

from harness.disk.files import write_record
from harness.identity import kept_products
from harness.paths import CALIBRATION, need_checkout
from harness.plan.entries import Run
from harness.plan.estimate import cores_here
from harness.plan.step_times import BASELINE, Shape, StepTime, calibration, committed_step_times
from harness.process import compute_with, quiet
from methods.core.fast.choices import GpuLayers, Library, training_products, use_for_training

if TYPE_CHECKING:
    from methods.core.types import Row

BATCHES = {"bert-tiny": 64, "bert-mini": 64, "bert-small": 32, "bert-base-uncased": 8}
"""Backbones whose step is measured, with the sentences of a batch, so that each takes a second or less."""
SHORTEST, LONGEST = 22, 32
"""Word pieces of the sentences: a sixth of the padded places is padding, as in SimCSE's corpus."""
SECONDS = 4.0
"""How long the steps of one backbone are repeated."""
FEWEST, MOST = 3, 100
"""Steps that are measured after the first one."""
ARGUMENTS = {
    "--again": {"action": "store_true", "help": "replace the choice that is kept; native runs may change"},
    "--gpu": {
        "choices": get_args(GpuLayers),
        "help": (
            "how a GPU trains layers from now on: attention in padded rows, in rows of their own lengths, "
            "or layers compiled by torch; runs on a GPU may change"
        ),
    },
}


def execute(arguments: argparse.Namespace) -> None:
    """Prints the measurements and writes them with the choice; keeps earlier ones unless `--again`."""
    need_checkout("calibrating")
    known = {} if arguments.again else calibration()
    if arguments.gpu:
        write_record(CALIBRATION, {**known, "gpu_layers": arguments.gpu})
        print(f"training on a GPU computes layers {arguments.gpu} from now on ({CALIBRATION})")
        return
    if {"training_products", "steps"} <= known.keys():
        print(f"{CALIBRATION}: native training multiplies by {kept_products()}; measure again with --again")
        return
    compute_with("native")
    from harness.compute.products import training_rates

    if "training_products" not in known:
        rates = training_rates()
        chosen = max(rates, key=lambda library: rates[library])
        known |= {"training_products": chosen, "gflops": rates}
        told = ", ".join(f"{library} {rate:.0f}" for library, rate in rates.items())
        print(f"{told} GFLOP/s; native training multiplies by {chosen} from now on")
    use_for_training(known["training_products"])
    steps = own_steps()
    write_record(CALIBRATION, {**known, "steps": [row.model_dump() for row in steps]})
    told = ", ".join(f"{row.backbone} {row.seconds:.3g} s (batch {row.batch})" for row in steps)
    print(f"a step of SimCSE with every core at work: {told}")
    print(f"kept in {CALIBRATION}; `plan`, `launch` and `verify` estimate hours on this machine by it")


def own_steps() -> list[StepTime]:
    """Returns SimCSE's step on this machine by backbone, each with one run of one thread on every core."""
    from harness.plan.recipes import load_recipes
    from harness.plan.resolve import resolve

    (run,) = resolve(load_recipes(), [f"baselines/{BASELINE}"], seeds=1).runs.values()
    shapes, cores = committed_step_times().shapes, cores_here()
    found = seconds_of_steps(run, {name: (shapes[name], batch) for name, batch in BATCHES.items()}, cores)
    return [
        StepTime(
            device="cpu",
            machine=f"this machine, {cores} runs at once",
            threads=1,
            system=BASELINE,
            method=BASELINE,
            backbone=name,
            batch=BATCHES[name],
            length=LONGEST,
            precision="fp32",
            seconds=float(f"{seconds:.4g}"),
            command="sentbench calibrate",
        )
        for name, seconds in found.items()
    ]


class Enough(Exception):
    """Ends a training of which enough steps were measured."""


def seconds_of_steps(
    run: Run, backbones: Mapping[str, tuple[Shape, int]], processes: int
) -> dict[str, float]:
    """Returns the seconds of a run's step by backbone, with so many processes of one thread at once.

    Each is the mean of the processes: runs that share a machine wait for each other's memory.
    """
    wanted = run, dict(backbones), training_products()
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        taken = [pool.submit(_measured, *wanted) for _ in range(processes)]
    return {name: statistics.fmean(one.result()[name] for one in taken) for name in backbones}


def _measured(run: Run, backbones: Mapping[str, tuple[Shape, int]], products: Library) -> dict[str, float]:
    import torch

    torch.set_num_threads(1)
    use_for_training(products)
    quiet()
    return {name: seconds_of_a_step(run, *sized) for name, sized in backbones.items()}


def seconds_of_a_step(run: Run, shape: Shape, batch: int, seconds: float = SECONDS) -> float:
    """Returns the median seconds between the ends of two steps of a run, on random weights and words."""
    from methods.core.networks import Networks
    from methods.core.trainer import Trainer

    marks: list[float] = []
    method, config, settings = run.read_settings()

    class Marked(method):  # type: ignore[misc, valid-type]
        def after_step(self, step: int) -> None:
            super().after_step(step)
            marks.append(time.perf_counter())
            if len(marks) > FEWEST and marks[-1] - marks[0] > seconds:
                raise Enough

    changes = {"steps": MOST + 1, "epochs": None, "batch_size": batch}
    with TemporaryDirectory() as place, suppress(Enough):
        backbone = Path(place) / "backbone"
        write_backbone(backbone, shape)
        trainer = Trainer(
            Marked(config, Networks(backbone, pooling=run.pooling)),
            settings.model_copy(update=changes),
            run.seed,
            lambda encoder: {"score": 0.0},
            Path(place) / "training",
            device="cpu",
        )
        trainer.fit(sentences((MOST + 1) * batch, shape.vocabulary))
    return statistics.median(later - sooner for sooner, later in pairwise(marks))


def sentences(number: int, vocabulary: int) -> list[Row]:
    """Returns sentences of SHORTEST to LONGEST word pieces, with the two at their ends, of random words."""
    import numpy as np

    from methods.core.types import Row
    from methods.core.words import SPECIAL

    draw = np.random.default_rng(0)
    lengths = draw.integers(SHORTEST - 2, LONGEST - 2, size=number, endpoint=True)
    texts = (" ".join(map("w{}".format, draw.integers(vocabulary - len(SPECIAL), size=n))) for n in lengths)
    return [Row(index, text) for index, text in enumerate(texts)]


def write_backbone(folder: Path, shape: Shape) -> None:
    """Writes a BERT of these sizes over random vectors of whole words."""
    import torch

    from methods.core.words import SPECIAL, WordAverageEncoder, word_transformer

    words = [f"w{number}" for number in range(shape.vocabulary - len(SPECIAL))]
    vectors = torch.randn(len(words), shape.width, generator=torch.Generator().manual_seed(0))
    word_transformer(
        WordAverageEncoder(vectors, words),
        vocabulary=len(words),
        copies=1,
        layers=shape.layers,
        heads=max(1, shape.width // 64),
        inner=shape.inner,
        positions=shape.positions,
        dropout=0.1,
        start="identity",
        pooling="mean",
        seed=0,
    ).save(folder)
