"""What a run does in its first steps, as a few numbers: a changed meaning shows there within seconds.

The run is trained on the first rows of its corpus, for STEPS small batches. Eight fixed sentences are
encoded in place of its evaluations, of which the last is not the best. Its schedule is that of a whole
training, in STEPS steps.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from methods.core.folders import load_encoder
from methods.core.method import Method
from methods.core.networks import Networks
from methods.core.resume import LOG
from methods.core.streams import INITIALISE, torch_seed
from methods.core.train_config import TrainConfig
from methods.core.trainer import Trainer
from methods.core.types import Row

STEPS, BATCH = 3, 16
SCORES = (0.0, 1.0, 3.0, 2.0)
"""What the evaluation after each number of steps says: the weights before the last step are the best."""
ROWS = 640
"""Rows of the corpus that are read at most."""
QUEUE = 512
"""Keys that a queue holds at most, so that rows are left to train on where it is filled first."""

SENTENCES = (
    "A man is playing a guitar.",
    "Two dogs run across the wet grass near an old stone bridge.",
    "no",
    "The committee did not approve the budget for 1998, although three members had asked for it.",
    "Café owners in São Paulo raised their prices by 12.5 percent (again).",
    "is the the and of",
    "Why would anyone, after so long a winter, leave the mountains before the first flowers open?",
    "Photosynthesis turns light into sugar; respiration turns sugar into carbon dioxide.",
)
FIRST = 3
"""Numbers of each vector that are kept."""
LOGGED = ("step", "evaluation")
"""Entries of a log that are no measurement."""


def first_steps(
    method: type[Method],
    config: Any,
    settings: TrainConfig,
    networks: Networks,
    rows: Sequence[Row],
    *,
    seed: int,
    state: Path,
    nudge: float = 0.0,
    most_rows: int = ROWS,
) -> dict[str, float]:
    """Returns what each number is -> the number: parts of the loss at each step, and of vectors.

    Of each sentence's vector: its length, its first numbers and its cosine with the next sentence's; before
    training from the method's own encoder, after it from the folder that was kept as the best.
    networks: where the method's networks come from. state: an empty folder for what training writes. nudge:
    every weight is moved by about this share of it, to see what rounding alone does to the numbers.
    most_rows: of the corpus that are read.
    """
    steps = 0 if settings.steps == 0 else STEPS
    every = {"eval_every": 1, "eval_within": "run", "save_every": STEPS, "patience": None}
    size = min(settings.batch_size, BATCH)
    short = settings.model_copy(update={"steps": steps, "epochs": None, "batch_size": size, **every})
    most = {"sentences": most_rows, "queue_size": min(QUEUE, most_rows - STEPS * BATCH)}
    fitted = {
        name: min(getattr(config, name), limit) for name, limit in most.items() if hasattr(config, name)
    }
    config = config.model_copy(update=fitted)
    found: dict[str, float] = {}

    def evaluate(encoder: Any) -> Mapping[str, float]:
        if trainer.record.step == 0:
            found.update(_numbers_of(encoder.encode(SENTENCES), "before training"))
        return {"score": SCORES[trainer.record.step]}

    torch.manual_seed(torch_seed(seed, INITIALISE))
    built = method(config, networks)
    if nudge:
        with torch.no_grad():
            for weights in built.parameters():
                weights.mul_(1 + nudge * torch.randn_like(weights))
    trainer = Trainer(built, short, seed, evaluate, state)
    trainer.fit(rows[:most_rows])
    for line in (state / LOG).read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if "evaluation" not in entry:
            place = f"at step {entry['step'] + 1}"
            found |= {f"{name} {place}": value for name, value in entry.items() if name not in LOGGED}
    saved = load_encoder(trainer.best_folder)
    found.update(_numbers_of(saved.encode(SENTENCES), "as kept"))
    return found


def _numbers_of(vectors: np.ndarray, when: str) -> dict[str, float]:
    """Returns the numbers that are kept of vectors [8, d]."""
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1)
    following = np.roll(np.arange(len(wide)), -1)
    unit = wide / np.maximum(lengths, np.finfo(np.float64).tiny)[:, None]
    cosines = (unit * unit[following]).sum(axis=1)
    numbers: dict[str, float] = {}
    for index in range(len(wide)):
        named = f"of sentence {index + 1} {when}"
        numbers[f"length {named}"] = float(lengths[index])
        numbers[f"cosine with the next {named}"] = float(cosines[index])
        for place in range(FIRST):
            numbers[f"number {place + 1} {named}"] = float(wide[index, place])
    return numbers
