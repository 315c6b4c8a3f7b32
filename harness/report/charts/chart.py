"""A chart as the pages show it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Chart:
    """A drawing with its words: `svg` as `harness.report.charts` draws it, the caption that explains it."""

    key: str
    title: str
    svg: str
    caption: str = ""
