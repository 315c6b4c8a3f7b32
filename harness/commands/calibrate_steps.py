"""Seconds of a training step on this machine with all its cores at work, for the estimates of a plan."""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from harness.plan.entries import Run
from harness.plan.step_times import Shape
from harness.process import quiet
from methods.core.fast.choices import Library, training_products, use_for_training
from methods.core.networks import Networks
from methods.core.trainer import Trainer
from methods.core.types import Row
from methods.core.words import SPECIAL, WordAverageEncoder, word_transformer

SHORTEST, LONGEST = 22, 32
"""Word pieces of the sentences: a sixth of the padded places is padding, as in SimCSE's corpus."""
SECONDS = 4.0
"""How long the steps of one backbone are repeated."""
FEWEST, MOST = 3, 100
"""Steps that are measured after the first one."""


Sized = tuple[Shape, int]
"""The sizes of a backbone, and the sentences of a batch."""


class Enough(Exception):
    """Ends a training of which enough steps were measured."""


def seconds_of_steps(run: Run, backbones: Mapping[str, Sized], processes: int) -> dict[str, float]:
    """Returns the seconds of a run's step by backbone, with so many processes of one thread at once.

    Each is the mean of the processes: runs that share a machine wait for each other's memory.
    """
    measured = partial(_measured, run, dict(backbones), training_products())
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        taken = list(pool.map(measured, range(processes)))
    return {name: statistics.fmean(one[name] for one in taken) for name in backbones}


def _measured(run: Run, backbones: Mapping[str, Sized], products: Library, _: int) -> dict[str, float]:
    torch.set_num_threads(1)
    use_for_training(products)
    quiet()
    return {name: seconds_of_a_step(run, *sized) for name, sized in backbones.items()}


def seconds_of_a_step(run: Run, shape: Shape, batch: int, seconds: float = SECONDS) -> float:
    """Returns the median seconds between the ends of two steps of a run, on random weights and words."""
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
    draw = np.random.default_rng(0)
    lengths = draw.integers(SHORTEST - 2, LONGEST - 2, size=number, endpoint=True)
    texts = (" ".join(map("w{}".format, draw.integers(vocabulary - len(SPECIAL), size=n))) for n in lengths)
    return [Row(index, text) for index, text in enumerate(texts)]


def write_backbone(folder: Path, shape: Shape) -> None:
    """Writes a BERT of these sizes over random vectors of whole words."""
    words = [f"w{number}" for number in range(shape.vocabulary - len(SPECIAL))]
    vectors = torch.randn(len(words), shape.width, generator=torch.Generator().manual_seed(0))
    word_transformer(
        WordAverageEncoder(vectors, words),
        vocabulary=len(words),
        layers=shape.layers,
        heads=max(1, shape.width // 64),
        inner=shape.inner,
        positions=shape.positions,
        dropout=0.1,
        seed=0,
    ).save(folder)
