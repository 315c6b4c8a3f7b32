"""Commands of `sentbench`, one file a command, named as it.

The first line of a command's docstring is its help, `declare(parser)` adds its arguments, and
`execute(arguments)` runs it and returns an exit code, or None for 0. Only the command called is imported.
A command that goes on after Ctrl-C says in AFTER_INTERRUPTION how.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import InputError

if TYPE_CHECKING:
    from harness.plan.entries import Params


def read_plan() -> Params:
    """Returns the plan; from here on data come from the plan's tiers and no other."""
    from harness.plan.entries import read_params

    params = read_params()
    os.environ["SENTBENCH_TIERS"] = ",".join(params.tiers)
    return params


def check_encoder_folder(folder: Path) -> None:
    """Raises InputError, before anything heavy is imported, if there is no such folder."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder, expected an encoder folder; check the path")
