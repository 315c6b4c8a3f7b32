"""How the threads of a computation wait for each other; set before torch is imported, which reads it once."""

from __future__ import annotations

import os
import sys

PASSIVE = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0", "KMP_BLOCKTIME": "0"}
"""Threads of OpenMP that have nothing to do sleep: they would spin in the time of another process."""


def wait_asleep() -> None:
    """Makes threads of this process sleep while they wait, unless the environment says how they wait.

    Where torch has been imported nothing is changed, for it would have no effect any more.
    """
    if "torch" not in sys.modules and not PASSIVE.keys() & os.environ.keys():
        os.environ.update(PASSIVE)
