"""Result files made in memory."""

from collections.abc import Mapping
from typing import Any

from harness.evidence.schema import ResultFile
from tests.support.results import NAME, raw_result


def result(
    system: str,
    seed: int,
    scores: Mapping[tuple[str, str], float],
    *,
    metric: str = "spearman",
    dev: float = 0.5,
    last_step: int = 1,
    key: str = "",
    commit: str = "c",
    **fields: Any,
) -> ResultFile:
    """Returns the file of one run; `scores` has raw values by task and setting, `fields` the others."""
    fields = {"method": "m", "variant": "v", "backbone": "b", "git_commit": commit, **fields}
    made = [
        {**NAME, "task": task, "setting": setting, "metric": metric, "value": value, "n": 1379}
        for (task, setting), value in scores.items()
    ]
    raw = raw_result(key or f"{system}__{fields['backbone']}__s{seed}", made, id=system, seed=seed, **fields)
    raw["selection"] |= {"best_step": min(1, last_step), "best_dev": dev, "last_step": last_step}
    return ResultFile.model_validate(raw)
