"""The cost of a plan: hours and disk of runs, teachers' vectors and data."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from harness.data.sources import SOURCES
from harness.paths import BACKBONES, COSTS
from harness.plan.entries import Params, Run
from harness.plan.hours import (
    BACKWARD,
    DEV_SENTENCES,
    EVALUATED_TOKENS,
    LINE_BYTES,
    TRAINING_LENGTH,
    BackboneShape,
    Cost,
    Device,
    KnownHours,
)
from harness.plan.recipes import Precision
from harness.tasks.registry import sources_of

FLOAT_BYTES, STORED_BYTES = 4, 2
"""Bytes of a number in weights and teacher vectors, and in stored vectors of evaluation sentences."""
HOUR = 3600.0
DEVICES: tuple[Device, ...] = ("cuda", "cpu")
USABLE = 0.9
"""Share of a GPU's memory that concurrent runs may fill."""
CONTEXT = 600 * 2**20
"""GPU memory in bytes of each process in addition to its allocations: an assumption, not measured."""


@dataclass(frozen=True)
class Estimate:
    """Cost of the parts of a plan, with the sentence lengths of `harness.plan.hours`."""

    params: Params
    times: KnownHours

    def shape(self, path: str) -> BackboneShape | None:
        """Returns the sizes of backbones/NAME, None if hours.yaml does not list them."""
        backbone = self.params.backbones.get(Path(path).name)
        origin = backbone.origin if backbone else path
        shape = self.times.shapes.get(Path(origin).name)
        if shape is not None and backbone is not None and backbone.shape is not None:
            built = backbone.shape.model_dump(include={"layers", "inner", "vocabulary", "positions"})
            return shape.model_copy(update={**built, "width": shape.width * backbone.shape.copies})
        if shape is None or backbone is None or backbone.layers is None:
            return shape
        return shape.model_copy(update={"layers": backbone.layers})

    def rows(self, corpus: str) -> int:
        """Returns the number of sentences of a corpus, from the sources table or its origin."""
        derived = self.params.corpora.get(Path(corpus).name)
        if derived is None:
            return lines_of(Path(corpus).name)
        every = self.rows(derived.origin)
        return every if derived.rows is None else min(derived.rows, every)

    def texts(self, corpus: str) -> int:
        """Returns the number of texts in a row of a corpus: its sentence and its views."""
        name = Path(corpus).name
        if name in self.params.corpora:
            return 1 + len(self.params.corpora[name].views)
        return 2 if any(file.endswith(".tsv") for file in SOURCES[name].files) else 1

    def steps(self, run: Run) -> int:
        """Returns the number of training steps of a run; if it states them, the corpus size may be
        unknown."""
        from methods.core.train_config import StepPlan

        train = run.train
        if train["steps"] is not None:
            return int(train["steps"])
        plan = StepPlan(
            rows=round(self.rows(run.corpus) * run.corpus_share),
            batch_size=train["batch_size"],
            drop_last=train["drop_last"],
            steps=None,
            epochs=train["epochs"],
        )
        return plan.per_epoch * int(train["epochs"])

    def run(self, run: Run) -> Cost | None:
        """Returns the cost of training and evaluating a run, None if its backbone or method is not known."""
        shape, steps = self.shape(run.backbone_name), self.steps(run)
        ratios = {device: self.times.relative(run, device) if steps else 0.0 for device in DEVICES}
        if shape is None or None in ratios.values():
            return None
        step = BACKWARD * shape.forward(2 * run.train["batch_size"], TRAINING_LENGTH)
        sources = sources_of(run.tasks, text=run.text, providers=self.params.providers)
        encoded = 2 * sum(lines_of(source) for source in sources)  # two per line, repeated ones included
        copies = 2 if steps and run.weights == "both" else 1
        selections = steps // run.train["eval_every"] + 1
        scored = shape.forward(selections * DEV_SENTENCES + copies * encoded, EVALUATED_TOKENS)
        work = {device: steps * (ratio or 0.0) * step + scored for device, ratio in ratios.items()}
        disk = copies * shape.parameters * FLOAT_BYTES + encoded * shape.width * STORED_BYTES
        return self._cost(work, shape, run.train["precision"], disk)

    def teachers(self) -> Cost | None:
        """Returns the cost of all teachers' vectors, None if a teacher's sizes are not known."""
        costs = [self.teacher(name) for name in self.params.teachers]
        known = [cost for cost in costs if cost is not None]
        return Cost.total(known) if len(known) == len(costs) else None

    def teacher(self, name: str) -> Cost | None:
        """Returns the cost of one teacher's vectors of its corpus, None if its sizes are not known."""
        teacher = self.params.teachers[name]
        shape = self.shape(teacher.encoder)
        if shape is None:
            return None
        texts = self.rows(teacher.corpus) * self.texts(teacher.corpus)
        work = dict.fromkeys(DEVICES, shape.forward(texts, TRAINING_LENGTH))
        return self._cost(work, shape, "fp32", texts * shape.width * FLOAT_BYTES)

    def data(self) -> Cost:
        """Returns the disk space of sources and backbones."""
        shapes = [self.times.shapes.get(name) for name in self.params.sources]
        shapes += [self.shape(f"{BACKBONES}/{name}") for name in self.params.backbones]
        weights = sum(shape.parameters * FLOAT_BYTES for shape in shapes if shape)
        lines = sum(lines_of(name) for name in self.params.sources)
        return Cost(disk=float(weights + lines * LINE_BYTES))

    def corpora(self) -> Cost:
        """Returns the disk space of derived corpora; their hours have not been measured."""
        texts = sum(self.rows(name) * self.texts(name) for name in self.params.corpora)
        return Cost(disk=float(texts * LINE_BYTES))

    def bases(self) -> dict[tuple[Device, Precision], list[str]]:
        """Returns the basis of each device's hours, by the precision of the runs."""
        notes: dict[tuple[Device, Precision], dict[str, None]] = {}
        for run in self.params.runs.values():
            shape = self.shape(run.backbone_name)
            if shape is None:
                continue
            precision = run.train["precision"]
            for device in DEVICES:
                basis = self.times.rate(device, shape, precision).source
                notes.setdefault((device, precision), {})[basis] = None
        return {key: list(notes[key]) for key in sorted(notes, key=lambda key: DEVICES.index(key[0]))}

    def _cost(
        self, work: Mapping[Device, float], shape: BackboneShape, precision: Precision, disk: float
    ) -> Cost:
        hours = {
            device: operations / self.times.rate(device, shape, precision).operations / HOUR
            for device, operations in work.items()
        }
        return Cost(hours["cuda"], hours["cpu"], float(disk))


def lines_of(source: str) -> int:
    """Returns the number of lines of a source's text files; files of unknown length count 0."""
    return sum(lines or 0 for lines in SOURCES[source].rows.values())


def packing(keys: Iterable[str], folder: Path = COSTS) -> list[str]:
    """Returns a line with the number of largest runs that fit together on the GPU they were trained on, if
    `sentbench stage train` recorded the peak memory; otherwise an empty list.
    """
    fitting = []
    for key in keys:
        path = folder / f"{key}.train.json"
        cost = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        if "peak_memory" in cost:
            fitting.append(int(USABLE * cost["card_memory"] / (cost["peak_memory"] + CONTEXT)))
    if not fitting:
        return []
    number = max(1, min(fitting))
    # rounded down to the fewest digits that leave no room for one more
    steps = next(10**digits for digits in count(2) if 10**digits // number * (number + 1) > 10**digits)
    share = steps // number / steps
    return [f"runs a GPU: {number}, by the largest peak of memory measured; --gpus-per-run {share:g}"]


def cores_here() -> int:
    """Returns the number of cores of this process, which is the number of parallel runs with one thread."""
    return len(os.sched_getaffinity(0))


def hours_at_once(hours: Sequence[float], slots: int) -> float:
    """Returns a lower bound of the hours of these jobs in `slots` parallel slots."""
    return max(max(hours), sum(hours) / slots) if hours else 0.0


def duration(seconds: float) -> str:
    """Formats a duration: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
