"""The known hours: step times measured here, hours that authors state, and one guess for a GPU.

The cost of a method's step is the cost of SimCSE's step times the measured ratio of the two. SimCSE's step is
counted in floating-point operations, so one measured backbone covers all shapes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from harness.errors import InputError
from harness.io.declarations import DeclaredModel, Link, read_declaration
from harness.paths import HOURS, MODULES, declared
from harness.plan.entries import Run
from harness.plan.recipes import Precision
from methods.registry import METHODS

BASELINE = "simcse"
"""The baseline method, and its measured run."""
TRAINING_LENGTH = 32
"""Assumed tokens of a training sentence: the maximum length of the recipes."""
EVALUATED_TOKENS = 16
"""Assumed tokens of an evaluation sentence."""
DEV_SENTENCES = 3000
"""Sentences of STS-B dev, encoded at each selection."""
LINE_BYTES = 150
"""Assumed bytes of a line of text."""
BACKWARD = 3
"""Cost of a forward and a backward pass, in forward passes."""

Device = Literal["cpu", "cuda"]


class BackboneShape(DeclaredModel):
    """The sizes of a transformer; word vectors have only their vocabulary and no layers."""

    layers: int = Field(ge=0)
    width: int = Field(ge=1)
    inner: int = Field(ge=0, description="width of the feed-forward layer")
    vocabulary: int = Field(ge=1)
    positions: int = Field(ge=0, description="rows of the position table, 0 for word vectors")

    @property
    def parameters(self) -> int:
        """Weights, biases and layer norms; of two token types; no pooler."""
        embeddings = (self.vocabulary + self.positions) * self.width + (4 * self.width if self.layers else 0)
        attention = 4 * (self.width**2 + self.width)
        feed_forward = 2 * self.width * self.inner + self.inner + self.width
        return embeddings + self.layers * (attention + feed_forward + 4 * self.width)

    def forward(self, sentences: float, length: int) -> float:
        """Returns the operations of encoding sentences of equal length: products of matrices only."""
        weights = 4 * self.width**2 + 2 * self.width * self.inner
        attention = 2 * length * self.width  # queries with keys, and their weights with values
        return 2.0 * sentences * length * self.layers * (weights + attention)


class ComparedPrecisions(DeclaredModel):
    """Seconds of the same training steps on a GPU in each precision."""

    steps: str
    machine: str
    seconds: dict[Precision, float]


class GuessedGpu(DeclaredModel):
    """The guess for a GPU while none was measured: its peak rate in fp32, the share that steps reach, and the
    page that states the rate. compared: why another precision counts as fp32.
    """

    name: str
    operations_per_second: float = Field(gt=0)
    share: float = Field(gt=0, le=1)
    source: Link | Literal[""] = ""
    compared: ComparedPrecisions | None = None

    def rate(self, precision: Precision) -> Rate:
        """Returns the guessed rate, the same in every precision, with its basis in words."""
        words = f"a guess, {self.share:.0%} of the {self.operations_per_second / 1e12:g} TFLOP/s in fp32 "
        words += f"of one {self.name}" + (f", as {self.source} states" if self.source else "")
        if precision != "fp32" and self.compared is not None:
            took = " and ".join(f"{took:g} s in {name}" for name, took in self.compared.seconds.items())
            words += f"; {precision} counts like fp32: {self.compared.steps} took {took} on one "
            words += self.compared.machine
        return Rate(self.operations_per_second * self.share, words)


class StepTime(DeclaredModel):
    """One measurement: seconds of one training step of a system, the mean of a few."""

    device: Device
    machine: str
    threads: int = Field(ge=1)
    system: str
    method: str
    backbone: str
    batch: int = Field(ge=1)
    length: int = Field(ge=1)
    precision: Precision
    seconds: float = Field(gt=0)
    command: str

    @property
    def setting(self) -> tuple[object, ...]:
        """Key that comparable measurements share."""
        where = (self.device, self.machine, self.threads)
        return (*where, self.backbone, self.batch, self.length, self.precision)


class StatedTime(DeclaredModel):
    """GPU hours of one seed of a system that its authors state.

    note: the reason if our estimate differs by more than a factor of two.
    """

    system: str
    backbone: str
    gpu_hours: float = Field(gt=0)
    hardware: str
    source: str
    note: str = ""

    def compared_with(self, estimated: float, precision: Precision) -> str:
        """Returns a line with both times; estimated: our GPU hours of one seed in this precision."""
        stated = f"{self.gpu_hours:g} stated by {self.source} ({self.hardware})"
        reason = f": {self.note}" if self.note else ""
        seed = f"a seed of {self.system} on {self.backbone}"
        return f"{seed}: {estimated:.3g} GPU hours estimated in {precision}, {stated}{reason}"


class Rate(NamedTuple):
    """Operations per second of a device, and the basis of that number."""

    operations: float
    source: str


class Cost(NamedTuple):
    """Cost in hours and disk space."""

    gpu_hours: float = 0.0
    cpu_hours: float = 0.0
    disk: float = 0.0

    @staticmethod
    def total(costs: Iterable[Cost]) -> Cost:
        """Returns the sum of costs."""
        return Cost(*map(sum, zip(Cost(), *costs, strict=True)))


class KnownHours(DeclaredModel):
    """The file hours.yaml."""

    shapes: dict[str, BackboneShape]
    gpu: GuessedGpu
    stated: list[StatedTime] = Field(default_factory=list)
    measured: list[StepTime]

    @property
    def gpu_name(self) -> str:
        """The GPU of the hours: the first that was measured, otherwise the one of the guess."""
        measured = [row.machine for row in self.measured if row.device == "cuda" and row.system == BASELINE]
        return measured[0] if measured else self.gpu.name

    def gpu_of(self, precision: Precision) -> str:
        """Returns the GPU of the hours of runs in this precision without its maker: `A100 in fp32`."""
        return f"{self.gpu_name.removeprefix('NVIDIA ')} in {precision}"

    def relative(self, run: Run, device: Device) -> float | None:
        """Returns the cost of a run's step in SimCSE steps; None if its method was never measured, 1 if it is
        from outside the repository. A measurement of the system takes precedence over its method, the device
        over other devices.
        """
        baselines = {row.setting: row.seconds for row in self.measured if row.system == BASELINE}
        rows = [row for row in self.measured if row.method == run.method and row.setting in baselines]
        if not rows:
            return 1.0 if run.method == BASELINE or is_included(run.method) else None
        row = max(rows, key=lambda row: (row.system == run.id, row.device == device))
        return row.seconds / baselines[row.setting]

    def rate(self, device: Device, shape: BackboneShape, precision: Precision) -> Rate:
        """Returns a device's rate: of the measured backbone nearest in size, otherwise the guess for a GPU.

        Errors: InputError if no CPU was measured.
        """
        rows = [row for row in self.measured if row.device == device and row.system == BASELINE]
        rows = [row for row in rows if row.precision == precision] or (rows if device == "cpu" else [])
        if not rows and device == "cuda":
            return self.gpu.rate(precision)
        if not rows:
            raise InputError(
                f"{HOURS}: no step of {BASELINE} measured on a CPU; run `python -m benchmarks.steps --write`"
            )

        def unlike(row: StepTime) -> float:
            return abs(math.log(self.shapes[row.backbone].parameters / shape.parameters))

        row = min(rows, key=unlike)
        step = BACKWARD * self.shapes[row.backbone].forward(2 * row.batch, row.length)
        measured = f"as measured in {row.precision} on {row.machine}, threads: {row.threads}"
        return Rate(step / row.seconds, measured)


def is_included(method: str) -> bool:
    """Returns whether a method is from outside the repository, so that its step cannot have been measured."""
    package, _, module = METHODS.get(method, "").partition(".")
    return package in MODULES or f"{package}.{module.partition('.')[0]}" in MODULES


def read_hours(path: Path = HOURS) -> KnownHours:
    """Returns the known hours. Errors: InputError."""
    return read_declaration(declared(path), KnownHours)
