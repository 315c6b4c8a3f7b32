"""What the HTML report is made of besides its tables: runs with their records, figures, papers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.report.charts.curves import CurvePoint
from harness.report.tables.model import Table
from harness.results.schema import ResultFile, Selection


def slug(text: str) -> str:
    """Returns the text as part of an id: lower-case letters and digits, anything else as one hyphen."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


@dataclass(frozen=True)
class RunDetail:
    """One run: what it is, what its numbers depend on, and the command that makes them again.

    seconds: wall time of training and evaluation, None if no log has it. curve: its evaluations, if any.
    """

    key: str
    method: str
    variant: str
    backbone: str
    seed: int
    command: str
    git_commit: str
    device: str
    precision: str
    data_sha256: Mapping[str, str]
    git_dirty: bool = False
    identity: str = ""
    encoder_sha256: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    selection: Selection | None = None
    seconds: float | None = None
    curve: tuple[CurvePoint, ...] = ()

    @property
    def system(self) -> str:
        """What its seeds have in common: method, variant and backbone."""
        return " · ".join(part for part in (self.method, self.variant, self.backbone) if part)

    @property
    def anchor(self) -> str:
        """The id of its system's section on a page."""
        return f"system-{slug(self.system)}"

    @classmethod
    def from_result(
        cls,
        result: ResultFile,
        *,
        command: str,
        seconds: float | None = None,
        curve: tuple[CurvePoint, ...] = (),
    ) -> RunDetail:
        """Returns the detail of a result file; what the file does not hold is given beside it."""
        run, provenance = result.run, result.provenance
        return cls(
            key=run.key,
            method=run.method,
            variant=run.variant,
            backbone=run.backbone,
            seed=run.seed,
            command=command,
            git_commit=provenance.git_commit,
            git_dirty=provenance.git_dirty,
            device=provenance.device,
            precision=provenance.precision,
            data_sha256=provenance.data_sha256,
            identity=run.identity,
            encoder_sha256=provenance.encoder_sha256,
            versions=provenance.versions,
            selection=result.selection,
            seconds=seconds,
            curve=curve,
        )


@dataclass(frozen=True)
class Figure:
    """A chart: `svg` as `harness.report.charts.figures` returns it, and the caption that explains it."""

    key: str
    title: str
    svg: str
    caption: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper's tables and figures beside ours.

    figures: charts of the paper as a whole. charts: the chart of a table; commands: what runs a table;
    unfilled: why no declared run fills a table; all three by the table's key. short: what its method is
    called. page: address of its own page, if it has one.
    """

    key: str
    title: str
    citation: str
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    page: str = ""
    short: str = ""
    charts: Mapping[str, Figure] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    unfilled: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """The whole report.

    commit: the commit it was generated from. plan: the plan that was run. curves: the dev curve of a system
    as SVG, by `RunDetail.system`. protocol: one statement each. notes: what a reader must know before the
    numbers. pages: address of each further page by its name, as seen from the main page. problems: what is
    wrong with the scores; an empty tuple if nothing is.
    """

    title: str
    commit: str
    plan: str = "small"
    tables: tuple[Table, ...] = ()
    papers: tuple[Paper, ...] = ()
    figures: tuple[Figure, ...] = ()
    runs: Mapping[str, RunDetail] = field(default_factory=dict)
    curves: Mapping[str, str] = field(default_factory=dict)
    protocol: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    pages: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @property
    def systems(self) -> dict[str, list[RunDetail]]:
        """The runs by system, systems in the order of their first run, runs by seed."""
        found: dict[str, list[RunDetail]] = {}
        for run in self.runs.values():
            found.setdefault(run.system, []).append(run)
        return {system: sorted(runs, key=lambda run: run.seed) for system, runs in found.items()}

    def unrecorded(self, tables: tuple[Table, ...]) -> list[str]:
        """Returns the runs that cells of `tables` name and the report has no detail of, sorted."""
        named = {key for table in tables for row in table.rows for cell in row.cells for key in cell.runs}
        return sorted(named - set(self.runs))
