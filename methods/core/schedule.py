"""How many steps a run has, and the learning rate at each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from methods.core.errors import InputError


class StepPlan(NamedTuple):
    """Which rows form the batch of which step. Steps count from 0 over all epochs."""

    rows: int
    batch_size: int
    drop_last: bool
    total: int

    @property
    def per_epoch(self) -> int:
        """Steps of one epoch; the last one may be smaller unless `drop_last`."""
        whole = self.rows // self.batch_size
        return whole if self.drop_last else math.ceil(self.rows / self.batch_size)

    def position(self, step: int) -> tuple[int, slice]:
        """Returns the epoch of a step and the slice of that epoch's row order that forms its batch."""
        epoch, inside = divmod(step, self.per_epoch)
        return epoch, slice(inside * self.batch_size, min((inside + 1) * self.batch_size, self.rows))

    def inside_epoch(self, done: int) -> int:
        """Returns how many of `done` finished steps, at least one, are of the last one's epoch."""
        return (done - 1) % self.per_epoch + 1

    def ends_epoch(self, done: int) -> bool:
        """Returns whether `done` finished steps complete an epoch."""
        return done > 0 and done % self.per_epoch == 0


def plan_steps(
    *, rows: int, batch_size: int, drop_last: bool, steps: int | None, epochs: int | None
) -> StepPlan:
    """Returns the plan of a run that states its steps or its epochs.

    Errors: InputError if the corpus has fewer rows than one batch and incomplete batches are dropped.
    """
    plan = StepPlan(rows, batch_size, drop_last, 0)
    wanted = steps if steps is not None else plan.per_epoch * int(epochs or 0)
    if wanted and not plan.per_epoch:
        raise InputError(
            f"{rows} rows make no batch of {batch_size} with drop_last; expected at least one batch; "
            "take a larger corpus or a smaller batch"
        )
    return plan._replace(total=wanted)


def rate_factor(
    schedule: str, *, step: int, warmup: int, total: int, drops: Sequence[tuple[int, float]] = ()
) -> float:
    """Returns the share of the peak learning rate at a step, counted from 0.

    `linear` falls to 0 at `total`, `cosine` along half a cosine, `constant` stays, `piecewise` stays between
    its drops: (s, share) says that the share holds after step s, which still has the one before. Before that
    all rise linearly from 0 over `warmup` steps.
    """
    if step < warmup:
        return step / warmup
    if schedule == "constant":
        return 1.0
    if schedule == "piecewise":
        return next((share for after, share in reversed(drops) if step > after), 1.0)
    done = (step - warmup) / max(1, total - warmup)
    return 1.0 - done if schedule == "linear" else 0.5 * (1.0 + math.cos(math.pi * done))
