"""How a page is declared, and what pages are built of: tables, papers, runs, what the plan wants.

A page is one module of this package, which ends in its declaration `PAGE`, and one template. Several pages
of one kind, as those of papers, are made by a function `pages` of their module.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata

from harness.declarations import LEADERBOARDS, Declaration, Link
from harness.report.chart import Chart
from harness.report.runs import RunDetail
from harness.report.tables.model import Table
from harness.results.contributed import Contributed
from harness.results.kept_models import KeptModel
from harness.results.schema import ResultFile

MAIN = "index.html"
OPEN = ("CC-", "CC0", "PDDL", "MIT", "Apache")
"""How the licences start under which a page may print a sentence."""


@dataclass(frozen=True)
class Paper:
    """A paper's tables and figures next to ours.

    figures: charts of the paper as a whole. charts: the chart of a table, by its key. short: what its method
    is called. link, code: where the paper and its authors' code are; bibtex: its entry. bibliography: those
    of the works that its cells quote, by key.
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
    bibliography: Mapping[str, str] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """Its page, as seen from the main page."""
        return f"papers/{self.key}.html"


@dataclass(frozen=True)
class Ablation:
    """The steps of one declared system on one backbone, each with the choice that it changes, in words.

    runs: the keys of its declared runs.
    """

    system: str
    backbone: str
    steps: Mapping[str, str]
    runs: tuple[str, ...] = ()


class Site(Declaration):
    """The file site.yaml: public addresses of the project, empty where it has none."""

    repository: Link | Literal[""] = ""
    documentation: Link | Literal[""] = ""


@dataclass(frozen=True)
class Stamp:
    """Which results a report shows: the sha256 of the scores, and the commit and day that they are of."""

    results: str = ""
    commit: str = ""
    date: str = ""


@dataclass(frozen=True)
class PairSet:
    """The pairs of one test set with what each system makes of them.

    Cosines and gold scores have no common unit, and a rank correlation asks for ranks alone. So pages show
    ranks: the share of the set's other pairs that appear below, ties in the middle, from 0 to 1.

    subsets: the subset of each pair, subset after subset; words: mean length of the two sentences; gold:
    human scores; texts: the sentences, in the text form that was encoded. cosines: by system, the mean over
    its runs.
    """

    task: str
    licence: str
    subsets: tuple[str, ...]
    gold: tuple[float, ...]
    words: tuple[float, ...]
    texts: tuple[tuple[str, str], ...]
    cosines: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def shows_texts(self) -> bool:
        """Whether the licence of the set allows its sentences on a page."""
        return self.licence.startswith(OPEN)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """What each pair is called: its subset and its number there, from 1."""
        counts = Counter(self.subsets)
        return tuple(f"{name} {number}" for name in counts for number in range(1, counts[name] + 1))

    @cached_property
    def gold_ranks(self) -> np.ndarray:
        """The ranks [N] of the gold scores."""
        return _ranks(self.gold)

    @cached_property
    def ranks(self) -> dict[str, np.ndarray]:
        """The ranks [N] of every system's cosines."""
        return {system: _ranks(values) for system, values in self.cosines.items()}


def _ranks(values: Sequence[float]) -> np.ndarray:
    return np.asarray((rankdata(values) - 1) / max(1, len(values) - 1))


@dataclass(frozen=True)
class Report:
    """The whole report.

    code: the sha256 of the code that generated it. plan: the names of the plan that was run. tables: those
    of the main page; own_tables: those of folders of one's own that belong to no paper; own_models: models
    kept there; suites: tasks that papers average, by name.
    results: the score files of the plan; runs: the details of these runs by key.
    contributed: what others ran, which no table has.
    ablations: those of the plan's systems. notes: what a reader must know before the numbers. problems: what
    is wrong with the scores, nothing if nothing is. leaderboards: folder of the declared claims and audits.
    measurements: what the benchmarks wrote, None for a report without it. stamp, site: for the footer.
    """

    title: str
    code: str
    plan: str = "small"
    tables: tuple[Table, ...] = ()
    small_tables: tuple[Table, ...] = ()
    own_tables: tuple[Table, ...] = ()
    own_models: tuple[KeptModel, ...] = ()
    suites: Mapping[str, Sequence[str]] = field(default_factory=dict)
    papers: tuple[Paper, ...] = ()
    pairs: tuple[PairSet, ...] = ()
    results: tuple[ResultFile, ...] = ()
    contributed: tuple[Contributed, ...] = ()
    runs: Mapping[str, RunDetail] = field(default_factory=dict)
    ablations: tuple[Ablation, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    leaderboards: Path = LEADERBOARDS
    measurements: Path | None = None
    stamp: Stamp = Stamp()
    site: Site = field(default_factory=Site)

    @property
    def systems(self) -> dict[str, list[RunDetail]]:
        """The runs by system, systems in the order of their first run, runs by seed."""
        found: dict[str, list[RunDetail]] = {}
        for run in self.runs.values():
            found.setdefault(run.system, []).append(run)
        return {system: sorted(runs, key=lambda run: run.about.seed) for system, runs in found.items()}

    @property
    def all_tables(self) -> dict[str, Table]:
        """The tables of all pages by key, those of the main page first."""
        papers = [table for paper in self.papers for table in paper.tables]
        return {table.key: table for table in (*self.tables, *self.small_tables, *self.own_tables, *papers)}


@dataclass(frozen=True)
class Page:
    """One page. title: its name in the navigation. file: where it is, as seen from the main page.

    build: returns the values that the template shows besides the report, None if there is nothing to show:
    then there is neither page nor link. order: pages are in their menu by it. group: the menu, one of
    `render.GROUPS`.
    """

    title: str
    file: str
    template: str
    build: Callable[[Report], Mapping[str, Any] | None]
    order: int
    group: str = "Numbers"

    @property
    def root(self) -> str:
        """The way from this page to the folder of the main page."""
        return "../" * self.file.count("/")
