"""What a seed of a system takes."""

from __future__ import annotations

from typing import NamedTuple


class Price(NamedTuple):
    """What a seed of a system takes, with the runs and teachers that it needs.

    gpu_hours: None if not known; command: what plans its runs, without the number of seeds, empty if no
    recipe declares the system. shared: hours of what all seeds need once, None if not known. corpora: derived
    corpora whose making no hours count.
    """

    gpu_hours: float | None = None
    command: str = ""
    shared: float | None = 0.0
    corpora: str = ""


NO_PRICE = Price()
