"""The audit: differences between a paper and its released code, our choice, and the measured effect."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field

from harness.evidence import statistics
from harness.evidence.settling import counted
from harness.evidence.statistics import WelchComparison
from harness.io.declarations import DeclaredModel, list_declarations, read_declaration
from harness.report.pages.content import Page, Report
from harness.report.runs import RunDetail

SILENT = "not recorded"
"""For a field that this audit does not fill; what a source leaves open is written there."""


class CodeDeviation(DeclaredModel):
    """One difference between paper, code and this project; texts may have code between backticks.

    switch: names of its settings, joined by commas; choices: their values. variants: runs that differ only in
    this point from the preset `against`, by default `MethodAudit.preset`. effect: known effect without a run;
    tests: the tests that prove it.
    """

    about: str
    paper: str = SILENT
    code: str = SILENT
    ours: str
    switch: str = ""
    choices: str = ""
    variants: list[str] = Field(default_factory=list)
    against: str = ""
    effect: str = ""
    tests: list[str] = Field(default_factory=list)

    @property
    def switches(self) -> list[str]:
        """The settings of the difference, each with its values if they are listed."""
        names = [name.strip() for name in self.switch.split(",") if name.strip()]
        return [f"{name}: {self.choices}" if self.choices else name for name in names[:1]] + names[1:]


class MethodAudit(DeclaredModel):
    """The differences of one method, numbered from 1 in the order of the file.

    Recipes and code name a difference by its number, so new differences are appended. preset: the reference
    variant; opposite: the variant with the other preset of every difference, if the method has one.
    """

    method: str
    title: str
    preset: str
    opposite: str = ""
    differences: list[CodeDeviation] = Field(min_length=1)


class Effect(NamedTuple):
    """Effect of a change on a score, in points, and the seeds with it and without it.

    change: difference of the means. interval: the difference with its 95 % interval, None below two seeds per
    side.
    """

    change: float
    interval: WelchComparison | None
    seeds: tuple[int, int]


def effect_of(changed: Sequence[float], usual: Sequence[float]) -> Effect:
    """Returns the effect of a change on the scores of runs with it and without it, at least one on each
    side."""
    change = statistics.mean(changed) - statistics.mean(usual)
    return Effect(change, statistics.compare_seeds(changed, usual), (len(changed), len(usual)))


def load_audits(folder: Path) -> list[MethodAudit]:
    """Returns the audits by file name. Errors: InputError if a file is wrong."""
    return [read_declaration(path, MethodAudit) for path in list_declarations(folder)]


def measure(
    audit: MethodAudit, variants: Iterable[str], against: str, *, runs: Iterable[RunDetail]
) -> dict[tuple[str, str], Effect]:
    """Returns the effect on STS-B dev of each variant on each backbone with runs of it and of the preset.
    against: the reference variant; empty means the method's default preset.
    """
    dev: dict[tuple[str, str], list[float]] = {}
    for run in runs:
        if run.about.method == audit.method:
            score = 100 * run.result.selection.best_dev
            dev.setdefault((run.about.variant, run.about.backbone), []).append(score)
    preset = against or audit.preset
    usual = {backbone: scores for (name, backbone), scores in dev.items() if name == preset}
    return {
        (variant, backbone): effect_of(dev[variant, backbone], scores)
        for variant in variants
        for backbone, scores in usual.items()
        if (variant, backbone) in dev
    }


def audit_values(report: Report, paper: str = "") -> dict[str, Any]:
    """Returns the content of a page: the audits of a paper's method or of all, and measured effects."""
    audits = load_audits(report.leaderboards / "audit")
    audits_of_paper = [audit for audit in audits if paper in ("", audit.method.replace("-", ""))]
    return {"audits": audits_of_paper, "measure": partial(measure, runs=list(report.runs.values()))}


def methods_values(report: Report) -> dict[str, Any]:
    """Returns the content of the page of all methods, with its conclusion."""
    values = audit_values(report)
    return {**values, "conclusion": audit_conclusion(values["audits"], list(report.runs.values()))}


def audit_conclusion(audits: Sequence[MethodAudit], runs: Sequence[RunDetail]) -> str:
    """Returns the numbers of methods and of those with runs, and of differences, measured and tested ones."""
    methods = {run.about.method for run in runs} & {audit.method for audit in audits}
    differences = [(audit, difference) for audit in audits for difference in audit.differences]
    measured = sum(
        bool(measure(audit, difference.variants, difference.against, runs=runs))
        for audit, difference in differences
    )
    tested = sum(bool(difference.tests) for _, difference in differences)
    return (
        f"{len(methods)} of {counted(len(audits), 'method')} have runs here. "
        f"Their papers and released code differ, or leave a setting open, in "
        f"{counted(len(differences), 'point')}: runs here measure the effect of {measured}, "
        f"and tests prove {tested}."
    )


PAGE = Page("Methods", "pages/methods.html", "methods.html.j2", methods_values, order=5)
