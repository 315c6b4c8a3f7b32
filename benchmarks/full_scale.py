"""Trainings of full size: how soon they start on a million lines, and what saving takes of the time.

Every start is a process of its own, from the command to the first evaluation, which comes before the first
step: imports, hash of the corpus, its rows, its word pieces, network and optimiser. The second start finds
the pieces of the first. Evaluation on dev is left out, because its time is that of the device.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import material
from benchmarks.measurement import Result, Spread, seconds
from benchmarks.processes import answer_of
from benchmarks.steps import write_backbone
from benchmarks.una import scaled
from harness.compute.rows import read_rows
from harness.disk.files import sha256_of
from harness.plan.step_times import Shape
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.trainer import Trainer
from methods.core.types import Encoder, Row
from methods.registry import load_method
from tests.methods.simcse.sample import SAMPLES
from tests.support import tiny

LINES, TERMS = 1_000_000, 450_000
START_LIMIT = 10.0
"""Seconds to the first evaluation where the pieces are kept."""

BATCH, EVAL_EVERY, SHARE_LIMIT = 64, 125, 1.0
"""The share is in percent of the time between two evaluations."""

BASE = Shape(layers=12, width=768, inner=3072, vocabulary=30_522, positions=512)
SMALL = Shape(layers=2, width=64, inner=128, vocabulary=200, positions=512)


class Started(Exception):
    """Training has come to its first evaluation."""


def measure(rounds: int, short: bool) -> list[Result]:
    """Returns the seconds of a first and a second start, and the share of the time that saving takes."""
    return [*starts(rounds, short), saving(rounds, short)]


def starts(rounds: int, short: bool) -> list[Result]:
    """Returns the first start, measured once, and the second, measured in every round."""
    lines, terms = (500, 100) if short else (LINES, TERMS)
    with TemporaryDirectory() as place:
        folder = Path(place)
        texts = scaled(material.sentences(400 if short else 20_000, short), lines, terms)
        with (folder / "corpus.txt").open("w", encoding="utf-8") as file:
            file.writelines(f"{text}\n" for text in texts)
        first, *again = (started(folder, short) for _ in range(1 + rounds))
        made = len(list((folder / "pieces").glob("*.npy")))
    about = f"start of a training on {lines} lines"
    parts = ", ".join(f"{name} {again[-1][name]:.1f}" for name in again[-1] if name != "wall")
    limit = None if short else START_LIMIT
    return [
        Result(f"first {about}", "s", Spread.of([first["wall"]]), note=f"{made} file of word pieces written"),
        Result(
            f"second {about}",
            "s",
            Spread.of([found["wall"] for found in again]),
            limit=limit,
            note=f"seconds of a processor: {parts}",
        ),
    ]


def started(folder: Path, short: bool) -> dict[str, float]:
    """Returns the seconds of the clock until training starts, `wall`, and those of a processor by part."""
    begun = time.time()
    found = answer_of("benchmarks.full_scale", str(folder), *(["--short"] if short else []))
    wall = found.pop("at") - begun
    return {"wall": wall, **found}


def start(folder: Path, short: bool) -> dict[str, float]:
    """Starts a training and returns when, and the processor's seconds of each part; in a fresh process."""
    used = time.process_time()
    found = {"imports": used}

    def note(part: str) -> None:
        nonlocal used
        found[part], used = time.process_time() - used, time.process_time()

    sha256_of(folder / "corpus.txt")
    note("hash")
    rows = read_rows(folder / "corpus.txt")
    note("rows")
    method = simcse(Networks(material.backbone(short), pooling="cls", pieces=folder / "pieces"))
    note("network")

    def reached(encoder: Encoder) -> dict[str, float]:
        note("pieces")
        raise Started

    with TemporaryDirectory() as place:
        try:
            trainer(method, Path(place), reached).fit(rows)
        except Started:
            found["at"] = time.time()
    return found


def simcse(networks: Networks) -> Method:
    """Returns SimCSE as most trainings here have it."""
    sample = SAMPLES[0]
    method = load_method(sample.method)
    return method(method.Config.model_validate(sample.config), networks)


def trainer(method: Method, folder: Path, evaluate: Callable[[Encoder], dict[str, float]]) -> Trainer:
    """Returns a trainer in that folder which does what `evaluate` says at its first evaluation."""
    made = tiny.trainer(
        method, folder, batch_size=BATCH, steps=4, eval_every=EVAL_EVERY, save_every=EVAL_EVERY
    )
    made.evaluate = evaluate
    return made


def saving(rounds: int, short: bool) -> Result:
    """Returns the percentage of the time between two evaluations for which training waits for its files.

    The dearest case: every evaluation finds better weights, and a resume point is due at each. The state is
    written beside training, so that training waits for its copy alone, and for the best encoder.
    """
    waited, steps, copies, bests, beside = [], [], [], [], []
    for _ in range(rounds):
        with TemporaryDirectory() as place:
            found = saved(Path(place), SMALL if short else BASE)
        steps.append(found["step"])
        copies.append(found["copy"])
        bests.append(found["best"])
        beside.append(found["written"])
        apart = found["copy"] + found["best"]
        waited.append(100 * apart / (EVAL_EVERY * found["step"] + apart))
    step, copy, best, written = (Spread.of(times).median for times in (steps, copies, bests, beside))
    fastest = (copy + best) * (100 / SHARE_LIMIT - 1) / EVAL_EVERY
    size = "two layers" if short else "the size of BERT-base"
    return Result(
        f"saving at every {EVAL_EVERY} steps, {size}, batch {BATCH}",
        "% of the time",
        Spread.of(waited),
        limit=None if short else SHARE_LIMIT,
        note=f"a step {step:.2f} s; training waits {copy:.2f} s for the copy of a state and {best:.2f} s for "
        f"the best encoder; the state is on disk {written:.2f} s later; {SHARE_LIMIT:g} % or less where a "
        f"step takes at least {fastest:.2f} s; resume points are {Trainer.seconds_between:.0f} s apart",
    )


def saved(folder: Path, shape: Shape) -> dict[str, float]:
    """Returns the seconds of a step and of its files; training runs four steps and is then saved as it is."""
    method = simcse(Networks(write_backbone(folder / "backbone", shape), pooling="cls"))
    rows = [Row(index, " ".join(tiny.WORDS[:30])) for index in range(4 * BATCH)]
    marks: list[float] = []

    def mark(encoder: Encoder) -> dict[str, float]:
        marks.append(time.perf_counter())
        return {"score": float(len(marks))}

    made = trainer(method, folder / "training", mark)
    made.seconds_between = float("inf")
    made.fit(rows)
    copy = seconds(made._commit)
    written = seconds(lambda: made.folder.settle(wait=True))
    best = seconds(lambda: made.folder.keep_best(method.exported(), made.plan.total + 1))
    return {"step": (marks[-1] - marks[0]) / made.plan.total, "copy": copy, "written": written, "best": best}


if __name__ == "__main__":
    answer: dict[str, Any] = start(Path(sys.argv[1]), "--short" in sys.argv)
    print(json.dumps(answer))
