"""The page of claims: what each paper says of its systems, and what our seeds say of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from harness.report.charts.comparisons import claims_of
from harness.report.claims import CLAIMS, OUTCOMES, judge_claims, load_claims
from harness.report.pages.content import Report
from harness.report.pages.declared import MAIN, Page


def claims_values(report: Report) -> dict[str, Any]:
    """Returns what the page shows: the judged claims by the paper's title, and where each table stands."""
    declared, tables = load_claims(report.leaderboards / CLAIMS), report.all_tables
    ledger, drawn = {}, {}
    titles = {paper.key: paper.title for paper in report.papers}
    for key, title in ((key, titles[key]) for key in declared if key in titles):
        ledger[title] = judge_claims(declared[key].claims, tables)
        chart = claims_of(key, ledger[title])
        if chart:
            drawn[title] = chart
    counts = Counter(judged.outcome for claims in ledger.values() for judged in claims)
    return {
        "ledger": ledger,
        "outcomes": {outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome]},
        "pages": {table.key: paper.file for paper in report.papers for table in paper.tables}
        | {table.key: MAIN for table in report.tables},
        "drawn": drawn,
        "figures": list(drawn.values()),
    }


PAGE = Page("Claims", "pages/claims.html", "claims.html.j2", claims_values, order=2)
