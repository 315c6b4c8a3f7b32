"""Sanity checks of a trial: the method against its controls, by STS-B dev scores of training."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

from harness.io.artefacts import read_artefact
from harness.plan.recipes import System
from harness.report.formats.trial import Worth
from methods.core.controls import Control, has_views
from methods.core.method import Method

SAID: dict[Control, str] = {
    "negated": "its loss negated",
    "permuted": "the positives of other sentences",
}


def controls_of(tried: System, method: type[Method]) -> tuple[dict[str, System], list[str]]:
    """Returns the controls of a method by name, with the first seed, and notes on missing controls."""
    controls, lacking = {}, []
    for control in get_args(Control):
        if control == "permuted" and not has_views(method):
            lacking.append(
                f"no control with {SAID[control]}: {tried.id} has no `vectors(batch)` of two views"
            )
            continue
        controls[SAID[control]] = tried.model_copy(
            update={
                "id": f"{tried.id}-{control}",
                "seeds": tried.seeds[:1],
                "config": {**tried.config, "control": control},
            }
        )
    return controls, lacking


def worth_of(trained: Sequence[Path], controls: Mapping[str, Path]) -> Worth:
    """Returns the dev scores of a method, its controls and the untrained encoder."""
    selections = [read_artefact(folder)["selection"] for folder in trained]
    scores = {said: read_artefact(folder)["selection"]["best_dev"] for said, folder in controls.items()}
    return Worth(
        own=[float(selection["best_dev"]) for selection in selections],
        controls={**scores, "the untrained encoder": float(selections[0]["initial_dev"])},
    )
