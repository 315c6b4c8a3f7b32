"""Models for tests.regression.pages: each template filled with every part that it has, and with none."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from harness.evidence.comparisons import Pair
from harness.evidence.settling import Plan
from harness.evidence.statistics import WelchComparison
from harness.report.chart import Chart
from harness.report.formats.card import render_card
from harness.report.formats.latex import to_latex
from harness.report.formats.markdown import to_markdown
from harness.report.formats.templates import fill
from harness.report.formats.trial import Ranked, Trial, Worth
from harness.report.pages import audit, compare, evidence, index, small
from harness.report.pages.answers import Answer
from harness.report.pages.audit import CodeDeviation, Effect, MethodAudit
from harness.report.pages.claims import Claim, ClaimedRows, JudgedClaim, JudgedPair
from harness.report.pages.content import RUNS, Page, Paper, Report, Site
from harness.report.pages.paper import pages as pages_of_papers
from harness.report.pages.protocols import PROTOCOLS, ProtocolRow, Reading
from harness.report.pages.render import fill_page, render_trial
from harness.report.pages.sources import SystemSources
from harness.report.runs import RunDetail
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report import comparison_views as compared
from tests.harness.report.distinct_model import CHART, NUMBER, PAPERS, REPORT, STUDY, TABLE
from tests.harness.report.distinct_model import RUNS as DETAILS
from tests.harness.report.made_judged import judged, measured, printed, with_verdict

BARE = Report("a title", "a code", site=Site(documentation="https://example.org/documents"))
OWN = replace(REPORT, own_tables=(TABLE,))
SEVEN = tuple(f"problem {n} of `code`" for n in range(7))
TWO = replace(CHART, key="of-two", drawings=("<wide/>", "<phone/>"), says="")
FOREST = Chart("forest", "a forest", "how to read it", "what it says", ({"a": 1},), CHART.drawings)
LINKS = {
    "Papers": {"TOY": "papers/toy.html", "SOLO": "papers/solo.html"},
    "Runs": {"Runs": RUNS},
    "More": {"Compare": "pages/compare.html"},
}
SECOND = Answer(
    replace(with_verdict(81.5, plan=Plan(seeds=5, more=5, command="a command")), as_one_run="inside"),
    *("a second name", "#here", "", "nothing known", "a cost"), printed="0.815",
)  # fmt: skip
OPEN = Answer(
    judged(printed(75.0), measured({"a source": 73.0})),
    *("an open name", "#there", "e.html", "known", "cost"),
)
FIRST_SCREEN: dict[str, Any] = {
    "answers": [compared.ANSWER, SECOND, OPEN],
    "forest": FOREST,
    "shared": ["a shared sentence", "another one"],
    "telling": ["a telling one"],
    "sources": 3,
}


def shown(page: Page, report: Report, links: Any = None, **values: Any) -> str:
    """Returns a page; `values` replace those of its builder."""
    built = dict(page.build(report) or {}) if page.file != compare.PAGE.file or report.results else {}
    return fill_page(page, report, {**built, **values}, links=links)


def overview(report: Report, **values: Any) -> str:
    return shown(index.PAGE, report, LINKS if values else None, **values)


def pair_of(place: float, **more: Any) -> JudgedPair:
    made = JudgedPair(
        TABLE.rows[0], TABLE.rows[1], ("first-key", "second-key"), ("a-link", "b-link"), (3, 4),
        Pair((1.0,), (2.0,), 0.0), 2.5 + place, "", (), WelchComparison(1.5, 0.5, 2.25, 0.01), "supported",
    )  # fmt: skip
    return replace(made, **more)


def claim_of(says: str, *pairs: JudgedPair) -> JudgedClaim:
    rows = [ClaimedRows(better="row-key", worse=["other-key"])]
    claim = Claim(says=says, source="a section", table="toy/table1", columns=["first-key"], rows=rows,
                  note="a note" if len(pairs) == 1 else "")  # fmt: skip
    return JudgedClaim(claim, pairs, replace(TABLE, scale=100.0, decimals=2))


def paper(made: Paper, report: Report = REPORT, **values: Any) -> str:
    return shown(pages_of_papers(replace(report, papers=(made,)))[0], report, LINKS, **values)


def whole_paper() -> str:
    untested: dict[str, Any] = {"ours": None, "seeds": (0, 4)}
    claims = [
        claim_of("one pair", pair_of(0, claimed="inconclusive")),
        claim_of("same column", pair_of(0, columns=("first-key", "first-key"))),
        claim_of("two pairs", pair_of(0), pair_of(1, claimed="inconclusive", seeds=(5, 9))),
        claim_of("not run", pair_of(0, **untested), pair_of(3, **untested)),
        claim_of("no numbers", *[pair_of(0, **{**untested, "reported": None})] * 2),
        claim_of("no number", pair_of(0, **{**untested, "reported": None})),
        claim_of("no verdict", pair_of(0, **untested, reason="a reason")),
    ]
    made = replace(PAPERS[0], charts={TABLE.key: CHART}, figures=(TWO,))
    counted = {"claims": claims, "outcomes": {"supported": 1, "contradicted": 2}, "claimed": TWO}
    return paper(
        made,
        replace(REPORT, problems=()),
        **FIRST_SCREEN,
        **counted,
        **audits(),
        learning=[CHART],
        runnable=True,
    )


def audits(*, alone: bool = False) -> dict[str, Any]:
    texts = {"paper": "in `the paper`", "code": "in `the code`", "ours": "`here`"}
    first = CodeDeviation(
        about="a topic", **texts, switch="a.switch, b.switch", choices="a | b", variants=["a-variant"],
        against="another", effect="an `effect`", tests=["test_a", "test_b"],
    )  # fmt: skip
    second = CodeDeviation(about="b topic", ours="here too", variants=["b-variant"])
    third = CodeDeviation(about="c topic", ours="here as well")
    made = MethodAudit(
        method="a-m", title="A method", preset="released", opposite="" if alone else "opposite",
        differences=[first, second, third],
    )  # fmt: skip
    known = {
        "a-variant another": {
            ("a-variant", "a-backbone"): Effect(1.25, WelchComparison(1.25, -0.5, 2.75, 0.1), (3, 4)),
            ("a-variant", "b-backbone"): Effect(-1.5, None, (1, 2)),
        }
    }
    return {
        "audits": [made],
        "measure": lambda _, variants, against="": known.get(f"{''.join(variants)} {against}", {}),
    }


def runs() -> str:
    readings = {each.key: Reading(60.0 + n, n / 10 or None) for n, each in enumerate(PROTOCOLS) if n != 4}
    rows = [ProtocolRow(DETAILS["r-seven"].about, readings), ProtocolRow(DETAILS["r-nine"].about, {})]
    poolings = {"a-backbone": {"cls": {"STSB": Reading(50.5, None)}, "mean": {"STSB": Reading(51.5, 0.5)}}}
    values = {"rows": rows, "columns": list(PROTOCOLS), "groups": {"a group": 6, "b group": 2}}
    empty = Table("e/t", "An empty table", TABLE.columns, (TableRow("r", "R", (Cell(), Cell(), Cell())),) * 2)
    untrained = DETAILS["r-nine"].result
    still = untrained.selection.model_copy(update={"last_step": 0})
    still_run = untrained.run.model_copy(update={"key": "r-still", "method": "still"})
    details = {
        **DETAILS,
        "r-still": RunDetail(untrained.model_copy(update={"selection": still, "run": still_run})),
    }
    report = replace(
        REPORT, tables=(TABLE, folded(), empty), runs=details, notes=("a first `note`", "a second")
    )
    return shown(small.pages(report)[0], report, LINKS, **values, poolings=poolings, figures=[CHART, TWO])


def folded() -> Table:
    """A wide table with folded rows, verdicts without ours, equal notes and the protocol of another one."""
    number, other = printed(71.5, table="toy/table2"), with_verdict(72.5, "others", "lower", "outside")
    alone = Cell(number=number, judged=with_verdict(71.5))
    known = Cell(number=other.number, judged=other, best=True)
    bare, setting = (alone, Cell()), Cell(4.0, number=printed(5.0), as_reported=False)
    rows = (
        TableRow("x@b", "a/b_c@d", (known, alone), "A group", note="an equal note"),
        TableRow("y", "Bare row", bare, "A group", note="an equal note"),
        *(TableRow(f"z{n}", f"Bare row {n}", bare, "C group") for n in range(3)),
        TableRow(
            "set",
            "A setting",
            (Cell(3.0, as_reported=True, n=1), setting),
        ),
    )
    columns = (Column("one", "One", average=True), Column("two", "Two", "partial"))
    return Table("toy/table2", "Toy table 2: folded", columns, rows, protocol="a protocol")


def bare_runs() -> str:
    """Tables of 5 and 13 columns, one of settings and one with a folded row of one score; no run."""
    alone = Cell(number=printed(71.5), judged=with_verdict(71.5))
    known = with_verdict(72.5, "others", "lower", "outside")
    tables = [
        Table(f"w/{width}", f"Wide {width}", tuple(Column(f"c{n}", f"C{n}") for n in range(width)),
              (TableRow("r", "R", (Cell(70.0),) * width),))
        for width in (4, 5, 12, 13)
    ]  # fmt: skip
    rows = (TableRow("a", "A", (Cell(number=known.number, judged=known),)), TableRow("b", "B", (alone,)))
    column, setting = (Column("one", "One"),), TableRow("s", "S", (Cell(3.0, as_reported=True),))
    tables += [
        Table("o/one", "One: bare", column, rows),
        Table("s/s", "Settings", column, (setting,), notes=("n",)),
    ]
    report = replace(BARE, tables=tuple(tables), own_tables=(tables[-2],))
    values = {"filled": tables, "figures": []}
    return shown(small.pages(report)[0], report, **values) + shown(small.pages(report)[1], report)


def comparison(*, claiming: bool) -> str:
    without = replace(compared.BOTH, tasks={}, mean=None)
    values = {
        "best": compared.FIRST, "claiming": PAPERS if claiming else (), "conclusion": "a conclusion",
        "tasks": {compared.STS: "STS", compared.SICK: "SICK"},
        "rows": [(compared.SECOND, compared.BOTH), (compared.SECOND, without)],
        "systems": {"one@b": compared.FIRST, "two@b": compared.SECOND}, "outcomes": ("won", "lost"),
        "comparisons": {"b": [1, 2], "a": 3},
    }  # fmt: skip
    return fill_page(compare.PAGE, REPORT, values)


def sources() -> str:
    stated = {**STUDY.model_dump(), "file": "", "differs": "", "kind": "re-run", "settings": {}}
    plain = STUDY.model_validate({**stated, "scores": {"STS12": {"low": 60.0, "high": 61.0}}})
    doubted = STUDY.model_validate({**stated, "source": "arxiv:2001.00001", "doubt": "a doubt"})
    known = judged(NUMBER, measured({"one": 73.0}))
    kinds = [(STUDY, "a kind"), (plain, "b kind"), (doubted, "not counted")]
    system = SystemSources("A system", ["Avg", "STS12"], kinds, known)
    return fill_page(evidence.PAGE, REPORT, {"systems": [system], "conclusion": "a conclusion"})


def trial(*, worth: bool) -> str:
    made = Trial(
        "a-file.py", {"one@b": compared.FIRST, "two@b": compared.SECOND}, [compared.BOTH],
        [Ranked("two@b", 0.61, 8, (1, 2), elsewhere=True), Ranked("one@b", 0.5, 2, (2, 2))], "some settings",
        ["a note"] if worth else [], Worth([0.81, 0.83], {"a control": 0.42}) if worth else None,
    )  # fmt: skip
    return re.sub(
        "(?s)<svg.*?</svg>", "<svg/>", render_trial(made, setting="a setting", laws=["a law", "b law"])
    )


def card(*, full: bool) -> str:
    texts = (
        "header",
        "name",
        "pooling",
        "max_length",
        "commit",
        "plan",
        "origin",
        "origin_licence",
        "corpus",
    )
    values: dict[str, Any] = {name: f"the {name}" for name in (*texts, "corpus_licence", "no_mteb")}
    flags = {"reported": {"STSB": 77.5, "STS12": 70.5}, "mteb": ["one", "two"], "dirty": True, "pooler": True}
    empty: dict[str, Any] = {"reported": {}, "mteb": [], "dirty": False, "pooler": False}
    results = [run.result for run in DETAILS.values()]
    values |= flags if full else empty
    return render_card(results if full else results[:1], settings={"b": "x", "a": 5}, values=values)


def tex(**fields: Any) -> str:
    cited = Table("t/c", "Cited: a title", folded().columns, folded().rows[1:2])
    return "\n".join(map(to_latex, (TABLE, replace(folded(), **fields), cited)))


MODELS: dict[str, Callable[[], str]] = {
    "overview.html": partial(overview, replace(REPORT, problems=SEVEN), **FIRST_SCREEN),
    "overview-bare.html": partial(overview, BARE),
    "paper.html": whole_paper,
    "paper-alone.html": partial(paper, replace(PAPERS[1], short="", code="https://example.org/c")),
    "paper-bare.html": partial(paper, Paper("bare", "A bare paper", "nowhere", ()), BARE),
    "runs.html": runs,
    "runs-bare.html": bare_runs,
    "own.html": lambda: shown(small.pages(OWN)[1], OWN),
    "compare.html": partial(comparison, claiming=True),
    "compare-alone.html": partial(comparison, claiming=False),
    "evidence.html": sources,
    "methods.html": lambda: fill_page(audit.PAGE, REPORT, {**audits(alone=True), "conclusion": "it says"}),
    "trial.html": partial(trial, worth=True),
    "trial-alone.html": partial(trial, worth=False),
    "card.md": partial(card, full=True),
    "card-alone.md": partial(card, full=False),
    "table.md": lambda: "\n".join(map(to_markdown, (TABLE, folded(), replace(TABLE, protocol="", notes=())))),
    "table.tex": tex,
    "model_meta.py": lambda: fill("model_meta.py.j2", {name: f"the_{name}" for name in (
        "variable", "literal", "parameters", "memory", "tokens", "width", "licence", "base", "name")}),
}  # fmt: skip
"""The texts by the names of their files."""
