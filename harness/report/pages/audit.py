"""The audit: where a paper and its released code differ, and what each difference does to the score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.facts import statistics
from harness.facts.statistics import Comparison
from harness.report.audit import MethodAudit, load_audits
from harness.report.pages.content import Report
from harness.report.pages.declared import Page
from harness.report.runs import RunDetail


@dataclass(frozen=True)
class Effect:
    """STS-B dev of a variant minus that of the preset it is measured against, in points, on one backbone.

    change: difference of the means; interval: with its 95 % interval, None below two seeds a side.
    """

    variant: str
    backbone: str
    change: float
    interval: Comparison | None
    seeds: tuple[int, int]


def measure(
    audit: MethodAudit, variants: Iterable[str], against: str, *, runs: Iterable[RunDetail]
) -> list[Effect]:
    """Returns the effect of each variant on each backbone that has runs of it and of the other preset.

    against: the variant that it is measured against; nothing stands for the method's usual preset.
    """
    own = [run for run in runs if run.about.method == audit.method]
    effects = []
    for variant in variants:
        for backbone in dict.fromkeys(run.about.backbone for run in own):
            changed, usual = (_dev(own, name, backbone) for name in (variant, against or audit.preset))
            if changed and usual:
                change = sum(changed) / len(changed) - sum(usual) / len(usual)
                interval = statistics.compare_seeds(changed, usual)
                effects.append(Effect(variant, backbone, change, interval, (len(changed), len(usual))))
    return effects


def _dev(runs: Sequence[RunDetail], variant: str, backbone: str) -> list[float]:
    """STS-B dev Spearman × 100 of the selected weights, a seed each."""
    return [
        100 * run.result.selection.best_dev
        for run in runs
        if (run.about.variant, run.about.backbone) == (variant, backbone)
    ]


def audit_values(report: Report, audits: Sequence[MethodAudit]) -> dict[str, Any]:
    """Returns what the page shows: the audits, and the function that measures the effects of variants."""
    return {"audits": audits, "measure": partial(measure, runs=list(report.runs.values()))}


def _declared_audits(report: Report) -> dict[str, Any]:
    return audit_values(report, load_audits(report.leaderboards / "audit"))


PAGE = Page("Paper and code", "pages/audit.html", "audit.html.j2", _declared_audits, order=3, group="Methods")
