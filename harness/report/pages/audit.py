"""The audit: where a paper and its released code differ, and what each difference does to the score."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from harness.report.audit import MethodAudit, load_audits
from harness.report.pages.ablations import Effect
from harness.report.pages.content import Report
from harness.report.pages.declared import Page
from harness.report.runs import RunDetail


def measure(
    audit: MethodAudit, variants: Iterable[str], against: str, *, runs: Iterable[RunDetail]
) -> dict[tuple[str, str], Effect]:
    """Returns the effect on STS-B dev of each variant on each backbone that has runs of it and of the preset.

    against: the variant that it is measured against; nothing stands for the method's usual preset.
    """
    dev: dict[tuple[str, str], list[float]] = {}
    for run in runs:
        if run.about.method == audit.method:
            score = 100 * run.result.selection.best_dev
            dev.setdefault((run.about.variant, run.about.backbone), []).append(score)
    backbones = dict.fromkeys(backbone for _, backbone in dev)
    return {
        (variant, backbone): Effect(dev[variant, backbone], dev[against or audit.preset, backbone])
        for variant in variants
        for backbone in backbones
        if (variant, backbone) in dev and (against or audit.preset, backbone) in dev
    }


def audit_values(report: Report) -> dict[str, Any]:
    """Returns what the page shows: the audits, and the function that measures the effects of variants."""
    audits = load_audits(report.leaderboards / "audit")
    return {"audits": audits, "measure": partial(measure, runs=list(report.runs.values()))}


PAGE = Page("Paper and code", "pages/audit.html", "audit.html.j2", audit_values, order=3, group="Methods")
