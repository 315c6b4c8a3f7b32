"""What `sentbench calibrate` measured or chose on this machine."""

from __future__ import annotations

from typing import Any

from harness.disk.records import read_object
from harness.paths import CALIBRATION

AGAIN = "run `sentbench calibrate --again`"
"""What to do with a damaged file."""


def calibration() -> dict[str, Any]:
    """Returns what this machine keeps of `sentbench calibrate`; {} before it ran. Errors: InputError."""
    return read_object(CALIBRATION, again=AGAIN) if CALIBRATION.is_file() else {}
