"""Models of one's own whose scores `sentbench evaluate --keep` wrote to a folder of one's own."""

import json
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from harness.declarations import Declaration, first_problem
from harness.disk.records import read_object
from harness.errors import InputError
from harness.paths import own_files

ROOM = "models"
"""Folder of the files in a folder of one's own."""
LONGEST_NAME = 80
AGAIN = "evaluate the model again, or delete the file"


class KeptScore(Declaration):
    """One score in raw units over n items; interval: its 95 % bootstrap interval over pairs, if computed."""

    task: str
    metric: str
    setting: str
    value: float
    n: int
    interval: tuple[float, float] | None = None


class KeptModel(Declaration):
    """The scores of a model. model: the folder or the hub's name that was evaluated."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    model: str
    text: Literal["senteval", "raw"]
    scores: tuple[KeptScore, ...]


def kept_models() -> list[KeptModel]:
    """Returns the models in the folders of one's own, by folder and file. Errors: InputError."""
    return [read_kept_model(path) for path in own_files(ROOM, "*.json")]


def read_kept_model(path: Path) -> KeptModel:
    """Returns what a file keeps. Errors: InputError if it is damaged, or keeps no model."""
    found = read_object(path, *KeptModel.model_fields, again=AGAIN)
    try:
        return KeptModel.model_validate_json(json.dumps(found))
    except ValidationError as error:
        raise InputError(f"{path}: {first_problem(error)}; {AGAIN}") from None
