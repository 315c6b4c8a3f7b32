"""Sizes of the small setting: SimCSE's dev score, its spread over seeds and its controls."""

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.small_controls import CONTROLS, SIMCSE, filled
from benchmarks.small_trainings import Trainings, of_system
from harness.evidence.statistics import mean, sample_sd
from harness.plan.entries import Params

SIZES = (
    (30, 64, 2e-3),
    (60, 64, 1e-3),
    (30, 128, 1e-3),
    (30, 256, 1e-3),
    (60, 128, 5e-4),
    (48, 128, 1e-3),
    (40, 128, 1.5e-3),
    (60, 256, 5e-4),
)
"""Steps, batch size and learning rate."""
SEEDS, CONTROL_SEEDS = 10, 4
COMPARED = ("uniformity", "permuted", "negated")


class Size(NamedTuple):
    """A size with SimCSE's dev score by seed, and the mean dev score of each control."""

    steps: int
    batch_size: int
    learning_rate: float
    simcse: Sequence[float]
    controls: Sequence[float]

    @property
    def cost(self) -> float:
        """The variance over seeds times the sentences of a training, in thousands."""
        return (sample_sd(self.simcse) or 0.0) ** 2 * self.steps * self.batch_size / 1e3


def measure_sizes(trainings: Trainings, params: Params) -> list[Size]:
    """Returns every size with its dev scores; reads no test set."""
    systems = [(SIMCSE, SEEDS), *((CONTROLS[name], CONTROL_SEEDS) for name in COMPARED)]
    runs = [
        of_system(
            params,
            system,
            seed,
            train={"steps": steps, "batch_size": batch, "learning_rate": rate}
            | {"eval_every": steps // 2, "save_every": steps},
        )
        for steps, batch, rate in SIZES
        for system, seeds in systems
        for seed in range(seeds)
    ]
    scores = iter(trainings.all_dev(runs))
    sizes = []
    for size in SIZES:
        simcse, *controls = [[next(scores) for _ in range(seeds)] for _, seeds in systems]
        sizes.append(Size(*size, simcse, [mean(control) for control in controls]))
    return sizes


def to_sizes(sizes: Sequence[Size], chosen: tuple[int, int, float], command: str) -> str:
    """Returns the section on sizes; chosen: the recipe's."""
    lines = []
    for size in sizes:
        bold = "**" if size[:3] == chosen else ""
        spread = sample_sd(size.simcse) or 0.0
        controls = " | ".join(f"{control:.1f}" for control in size.controls)
        lines.append(
            f"| {bold}{size.steps} of {size.batch_size}, {size.learning_rate:g}{bold} | "
            f"{mean(size.simcse):.1f} | {spread:.2f} | {size.cost:.1f} | {controls} |"
        )
    intro = (
        f"STS-B dev, Spearman x 100: SimCSE with {SEEDS} seeds, its controls with {CONTROL_SEEDS}; two "
        f"evaluations. Variance times sentences (in thousands) is what a comparison of equal precision costs "
        f"in training. The size of the recipe is in bold. `{command}` writes this table."
    )
    return "\n".join(
        [
            "## Sizes",
            "",
            filled(intro),
            "",
            f"| steps of batch, rate | SimCSE | sd | variance x sentences | {' | '.join(COMPARED)} |",
            f"| --- | --: | --: | --: | {' | '.join('--:' for _ in COMPARED)} |",
            *lines,
            "",
        ]
    )
