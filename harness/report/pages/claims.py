"""The page of claims: what each paper says of its systems, and what our seeds say of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from harness.report.charts.comparisons import claims_of
from harness.report.claims import CLAIMS, OUTCOMES, JudgedClaim, judge_claims, load_claims
from harness.report.pages.content import Report
from harness.report.pages.declared import MAIN, Page


def claims_values(
    ledger: Mapping[str, Sequence[JudgedClaim]],
    pages: Mapping[str, str] | None = None,
    keys: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Returns what the page shows; `ledger` holds the judged claims by the paper's title, `pages` where a
    table stands as seen from the main page, by key, and `keys` those of the papers by title.
    """
    counts = Counter(judged.outcome for claims in ledger.values() for judged in claims)
    outcomes = {outcome: counts[outcome] for outcome in OUTCOMES if counts[outcome]}
    named = {paper: (keys or {}).get(paper, paper) for paper in ledger}
    drawn = {paper: chart for paper, some in ledger.items() if (chart := claims_of(named[paper], some))}
    return {
        "ledger": ledger,
        "outcomes": outcomes,
        "pages": pages or {},
        "drawn": drawn,
        "figures": list(drawn.values()),
    }


def _declared_claims(report: Report) -> dict[str, Any]:
    titles, tables = {paper.key: paper.title for paper in report.papers}, report.all_tables
    declared = load_claims(report.leaderboards / CLAIMS)
    return claims_values(
        {titles[key]: judge_claims(entry.claims, tables) for key, entry in declared.items() if key in titles},
        {table.key: paper.file for paper in report.papers for table in paper.tables}
        | {table.key: MAIN for table in report.tables},
        {title: key for key, title in titles.items()},
    )


PAGE = Page("Claims", "pages/claims.html", "claims.html.j2", _declared_claims, order=2)
