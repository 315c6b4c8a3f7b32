"""Declaration of pages, and their content: tables, papers, runs and the plan.

A page is one module of this package, which ends in its declaration `PAGE`, and one template. A function
`pages` of a module makes several pages of one kind, such as papers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from harness.evidence.schema import ResultFile
from harness.io.declarations import LEADERBOARDS, DeclaredModel, Link
from harness.report.chart import Chart
from harness.report.gpu_time import GpuPlan
from harness.report.runs import RunDetail
from harness.report.tables.model import Table

MAIN = "index.html"
RUNS = "pages/small.html"
"""The page of the small plan, with the tables and the records of its runs."""


@dataclass(frozen=True)
class Paper:
    """A paper's tables and figures next to ours.

    figures: charts of the paper as a whole. charts: the chart of a table, by its key. short: name of its
    method. link, code: addresses of the paper and its authors' code; bibtex: its entry.
    """

    key: str
    title: str
    citation: str
    tables: tuple[Table, ...]
    figures: tuple[Chart, ...] = ()
    notes: tuple[str, ...] = ()
    short: str = ""
    charts: Mapping[str, Chart] = field(default_factory=dict)
    link: str = ""
    code: str = ""
    bibtex: str = ""

    @property
    def file(self) -> str:
        """Path of its page, relative to the main page."""
        return f"papers/{self.key}.html"


class Site(DeclaredModel):
    """The file site.yaml: public addresses of the project, empty if it has none."""

    repository: Link | Literal[""] = ""
    documentation: Link | Literal[""] = ""

    def document(self, name: str, root: str) -> str:
        """Returns the address of a page of the documentation; without a public address, of its text in the
        checkout. root: path from the linking page to the main page."""
        if self.documentation:
            return f"{self.documentation.rstrip('/')}/{name}.html"
        return f"{root}../docs/{name}.md"


@dataclass(frozen=True)
class Report:
    """The whole report.

    code: the sha256 of the code that generated it. plan: the names of the plan. tables: of its runs;
    own_tables: of included folders, without a paper.
    results: the score files of the plan; runs: the details of these runs by key.
    notes: information for the reader before the numbers. problems: of the
    scores. leaderboards: folder of the declared claims and audits. weekend: the plan for one GPU; None
    without papers.
    results_digest: the beginning of the sha256 of `results`; only the overview states it, so that a changed
    result changes no page that does not show it. site: for the footer.
    """

    title: str
    code: str
    plan: str = "small"
    tables: tuple[Table, ...] = ()
    own_tables: tuple[Table, ...] = ()
    papers: tuple[Paper, ...] = ()
    results: tuple[ResultFile, ...] = ()
    runs: Mapping[str, RunDetail] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    leaderboards: Path = LEADERBOARDS
    weekend: GpuPlan | None = None
    results_digest: str = ""
    site: Site = field(default_factory=Site)

    @property
    def systems(self) -> dict[str, list[RunDetail]]:
        """The runs by system, systems in the order of their first run, runs by seed."""
        by_system: dict[str, list[RunDetail]] = {}
        for run in self.runs.values():
            by_system.setdefault(run.system, []).append(run)
        return {system: sorted(runs, key=lambda run: run.about.seed) for system, runs in by_system.items()}

    @property
    def all_tables(self) -> dict[str, Table]:
        """The tables of all pages by key, those of the runs first."""
        papers = [table for paper in self.papers for table in paper.tables]
        return {table.key: table for table in (*self.tables, *self.own_tables, *papers)}


@dataclass(frozen=True)
class Page:
    """One page. title: its name in the navigation. file: path relative to the main page. build: returns
    the template's values in addition to the report, None to omit page and link. order: of the links.
    group: the menu of its link, empty for a top-level link.
    """

    title: str
    file: str
    template: str
    build: Callable[[Report], Mapping[str, Any] | None]
    order: int
    group: str = ""

    @property
    def root(self) -> str:
        """Relative path from this page to the folder of the main page."""
        return "../" * self.file.count("/")
