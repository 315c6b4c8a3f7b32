"""The committed plan with complete runs, which tests shorten and change."""

from pathlib import Path
from typing import Any

from harness.plan.params_file import read_params

ROOT = Path(__file__).parents[2]


def small_plan() -> dict[str, Any]:
    """Returns the values of params.yaml, with complete runs; a new copy each time."""
    return read_params(ROOT / "params.yaml").model_dump()
