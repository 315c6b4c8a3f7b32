"""What decides which weights of a run are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.tasks import build_tasks, evaluate_tasks

TASKS = ("STSB-dev", "geometry-dev")


def dev_evaluation(text: str) -> Callable[[Any], Mapping[str, float]]:
    """Returns what selection measures: STS-B dev Spearman as `score`, alignment and uniformity beside it."""
    tasks = build_tasks(TASKS, text=text)

    def evaluate(encoder: Any) -> dict[str, float]:
        scores = {(s.task, s.metric, s.setting): s.value for s in evaluate_tasks(tasks, encoder.encode)}
        return {
            "score": scores["STSB-dev", "spearman", "all"],
            "alignment": next(v for (_, metric, _), v in scores.items() if metric == "alignment"),
            "uniformity": next(v for (_, metric, _), v in scores.items() if metric == "uniformity"),
        }

    return evaluate
