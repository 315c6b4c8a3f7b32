"""Measures during training: the STS-B dev score, which selects the weights, and geometry."""

from collections.abc import Callable, Mapping
from typing import Any

from harness.tasks.evaluation import evaluate_tasks
from harness.tasks.geometry import GeometryTask
from harness.tasks.interface import Task
from harness.tasks.sts_sets import sts_task
from harness.tasks.text_forms import stsb_source


def dev_evaluation(text: str) -> Callable[[Any], Mapping[str, float]]:
    """Returns the evaluation for selection: STS-B dev Spearman as `score`, with alignment and uniformity."""
    source = stsb_source(text, None)
    tasks: list[Task] = [
        sts_task("STSB-dev", text, source),
        GeometryTask("geometry-dev", ("dev",), text, source),
    ]

    def evaluate(encoder: Any) -> dict[str, float]:
        scores = {(s.metric, s.setting): s.value for s in evaluate_tasks(tasks, encoder.encode)}
        return {
            "score": scores["spearman", "all"],
            "alignment": scores["alignment", "all"],
            "uniformity": scores["uniformity", "all"],
        }

    return evaluate
