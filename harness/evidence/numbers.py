"""Published numbers, each made once from its declaration, in points."""

from dataclasses import dataclass
from typing import Literal

from harness.evidence.number_tests import Origin, origin_of

RowSource = Literal["this-paper", "re-run", "cited"]
"""Source of a row: the paper's own system, another system run by its authors, or a quoted work."""


@dataclass(frozen=True)
class Misprint:
    """A reported number that contradicts the rest of its row, in points; kind as of a declared erratum."""

    kind: Literal["cell", "average"]
    reported: float
    recomputed: float
    reason: str


@dataclass(frozen=True)
class PublishedNumber:
    """One published number in points; a setting or a count as printed.

    table: `paper/table`; row: `system/variant@backbone`. value: as printed, or corrected for a misprinted
    cell. rounding: half a printed digit. seeds: number of averaged runs, picked: number of runs it was chosen
    from, None if not stated. origin: as of its row; work: key of the quoted work. source: the paper, or the
    quoted work, in words. averaged: of a mean, the columns of its parts; quantity: the metric and the parts,
    in words. measurable: whether a study can have measured the same quantity. False for another metric, or if
    `Avg` is not the mean of the seven sets.
    """

    table: str
    row: str
    column: str
    value: float
    rounding: float
    seeds: int | None = None
    picked: int | None = None
    origin: RowSource = "this-paper"
    work: str | None = None
    source: str = ""
    metric: str = ""
    quantity: str = ""
    averaged: tuple[str, ...] = ()
    measurable: bool = True
    misprints: tuple[Misprint, ...] = ()

    @property
    def parts(self) -> int:
        """The number of parts of a mean, 0 of another number."""
        return len(self.averaged)

    @property
    def paper(self) -> str:
        """The key of the paper that prints it."""
        return self.table.partition("/")[0]

    @property
    def backbone(self) -> str:
        """The backbone of its row, empty if it has none."""
        return self.row.partition("@")[2]

    @property
    def printed(self) -> float:
        """The value as printed, in points."""
        misprinted = [misprint.reported for misprint in self.misprints if misprint.kind == "cell"]
        return misprinted[0] if misprinted else self.value

    @property
    def drawn(self) -> Origin:
        """Numbers among which it is plausible, for the prediction interval."""
        return origin_of(self.seeds, self.picked)
