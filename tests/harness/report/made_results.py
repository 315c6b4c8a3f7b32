"""Result files made in memory."""

from __future__ import annotations

from collections.abc import Mapping

from harness.results.schema import Provenance, ResultFile, RunRecord, ScoreRecord, Selection


def result(
    system: str,
    seed: int,
    scores: Mapping[tuple[str, str], float],
    *,
    method: str = "m",
    variant: str = "v",
    backbone: str = "b",
    recipe: str = "r",
    items: int = 1379,
    metric: str = "spearman",
    dev: float = 0.5,
    last_step: int = 1,
    device: str = "cpu",
    commit: str = "c",
    key: str = "",
) -> ResultFile:
    """Returns the file of one run; `scores` has raw values by task and setting."""
    return ResultFile(
        schema=1,
        run=RunRecord(
            key=key or f"{system}__{backbone}__s{seed}", id=system, method=method, variant=variant,
            backbone=backbone, seed=seed, recipe=recipe, identity="i",
        ),
        scores=[
            ScoreRecord(
                task=task, metric=metric, setting=setting, selection="best-dev", value=value, n=items
            )
            for (task, setting), value in scores.items()
        ],
        selection=Selection(best_step=1, best_dev=dev, last_step=last_step, last_dev=0.5, initial_dev=0.5),
        provenance=Provenance(
            git_commit=commit, git_dirty=False, encoder_sha256="e", data_sha256={}, versions={},
            device=device, precision="fp32", text="senteval",
        ),
    )  # fmt: skip
