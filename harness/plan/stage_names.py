"""The stages of a plan by their names in dvc.yaml, which ranges over the entries of params.yaml."""

from collections.abc import Iterable, Mapping

from harness.plan.entries import Params

ONCE = ("entries", "fingerprint", "report")
"""The stages that every plan has."""


def stage_names(params: Params) -> list[str]:
    """Returns the name of every stage that dvc.yaml makes of a plan."""
    ranged: Mapping[str, Iterable[str]] = {
        "data": params.sources,
        "backbone": params.backbones,
        "fingerprint-data": params.reads,
        "corpus": params.corpora,
        "teacher": params.teachers,
        "train": params.runs,
        "evaluate": params.runs,
        "further": params.further,
    }
    return [*ONCE, *(f"{stage}@{key}" for stage, keys in ranged.items() for key in keys)]
