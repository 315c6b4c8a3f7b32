"""Trainings of full size: how soon they start on a million lines, and what saving takes of the time.

Every start is a process of its own, from the command to the first evaluation, which comes before the first
step: imports, hash of the corpus, its rows, its tokens, network and optimiser. The second start finds the
tokens of the first. Evaluation on dev is left out, because its time is that of the device.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks import inputs
from benchmarks.runner import figure, fresh, timed
from benchmarks.steps import write_backbone
from harness.compute.rows import read_rows
from harness.disk.files import sha256_of
from harness.plan.step_times import Shape
from harness.report.measurements import BenchmarkResult
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.trainer import Trainer
from methods.core.types import Encoder, Row
from methods.registry import load_method
from tests.methods.simcse.sample import SAMPLES
from tests.support import tiny

LINES = 1_000_000
START_LIMIT = 10.0
"""Seconds to the first evaluation where the tokens are kept."""
BATCH, EVAL_EVERY, SHARE_LIMIT = 64, 125, 1.0
"""The share is in percent of the time between two evaluations."""
BASE = Shape(layers=12, width=768, inner=3072, vocabulary=30_522, positions=512)
SMALL = Shape(layers=2, width=64, inner=128, vocabulary=200, positions=512)


class Started(Exception):
    """Training has come to its first evaluation."""


def measure(rounds: int, short: bool) -> list[BenchmarkResult]:
    """Returns the seconds of a first and a second start, and the share of the time that saving takes."""
    return [*starts(rounds, short), saving(rounds, short)]


def starts(rounds: int, short: bool) -> list[BenchmarkResult]:
    """Returns the first start, measured once, and the second, measured in every round."""
    lines = 500 if short else LINES
    with TemporaryDirectory() as place:
        folder = Path(place)
        texts = inputs.sentences(400 if short else 20_000, short)
        with (folder / "corpus.txt").open("w", encoding="utf-8") as file:  # no line twice
            file.writelines(f"{texts[line % len(texts)]} {line // len(texts)}\n" for line in range(lines))
        first, *again = (-time.time() + fresh(started, folder, short) for _ in range(1 + rounds))
        made = len(list((folder / "pieces").glob("*.npy")))
    about, limit = f"start of a training on {lines} lines", None if short else START_LIMIT
    return [
        figure(f"first {about}", "s", [first], note=f"{made} file of tokens written"),
        figure(f"second {about}", "s", again, limit=limit),
    ]


def started(folder: Path, short: bool) -> float:
    """Starts a training and returns the time of the clock at which it did; in a fresh process."""
    sha256_of(folder / "corpus.txt")
    rows = read_rows(folder / "corpus.txt")
    method = simcse(Networks(inputs.backbone(short), pooling="cls", pieces=folder / "pieces"))

    def reached(encoder: Encoder) -> dict[str, float]:
        raise Started

    with TemporaryDirectory() as place:
        try:
            trainer(method, Path(place), reached).fit(rows)
        except Started:
            return time.time()
    raise AssertionError("training ended without an evaluation")


def simcse(networks: Networks) -> Method:
    """Returns SimCSE as most trainings here have it."""
    method = load_method(SAMPLES[0].method)
    return method(method.Config.model_validate(SAMPLES[0].config), networks)


def trainer(method: Method, folder: Path, evaluate: Callable[[Encoder], dict[str, float]]) -> Trainer:
    """Returns a trainer in that folder which does what `evaluate` says at its first evaluation."""
    often = {"eval_every": EVAL_EVERY, "save_every": EVAL_EVERY}
    made = tiny.trainer(method, folder, batch_size=BATCH, steps=4, **often)
    made.evaluate = evaluate
    return made


def saving(rounds: int, short: bool) -> BenchmarkResult:
    """Returns the percentage of the time between two evaluations for which training waits for its files.

    The dearest case: every evaluation finds better weights, and a resume point is due at each. The state is
    written next to training, so that training waits for its copy alone, and for the best encoder.
    """
    found = []
    for _ in range(rounds):
        with TemporaryDirectory() as place:
            found.append(saved(Path(place), SMALL if short else BASE))
    waited = [100 * (copy + best) / (EVAL_EVERY * step + copy + best) for step, copy, best in found]
    step, copy, best = map(median, zip(*found, strict=True))
    size = "two layers" if short else "the size of BERT-base"
    return figure(
        f"saving at every {EVAL_EVERY} steps, {size}, batch {BATCH}",
        "% of the time",
        waited,
        limit=None if short else SHARE_LIMIT,
        note=f"a step {step:.2f} s; training waits {copy:.2f} s for the copy of a state and {best:.2f} s for "
        f"the best encoder; resume points are {Trainer.seconds_between:.0f} s apart",
    )


def saved(folder: Path, shape: Shape) -> tuple[float, float, float]:
    """Returns the seconds of a step, of the copy of its state and of its best encoder, after four steps."""
    method = simcse(Networks(write_backbone(folder / "backbone", shape), pooling="cls"))
    rows = [Row(index, " ".join(tiny.WORDS[:30])) for index in range(4 * BATCH)]
    marks: list[float] = []

    def mark(encoder: Encoder) -> dict[str, float]:
        marks.append(time.perf_counter())
        return {"score": float(len(marks))}

    made = trainer(method, folder / "training", mark)
    made.seconds_between = float("inf")
    made.fit(rows)
    copy, _ = timed(made._commit)
    made.folder.settle(wait=True)
    best, _ = timed(lambda: made.folder.keep_best(method.exported(), made.plan.total + 1))
    return (marks[-1] - marks[0]) / made.plan.total, copy, best
