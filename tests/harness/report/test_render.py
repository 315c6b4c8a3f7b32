"""The HTML pages as text: cells, links, and no external requests."""

import json
import re
from dataclasses import replace

import pytest

import sentbench
from harness.evidence.settling import Plan
from harness.report.chart import Chart
from harness.report.formats.number import Format
from harness.report.formats.text import describe_seeds, row_seeds
from harness.report.pages.cells import cell_facts, verdict_counts
from harness.report.pages.content import MAIN, Paper, Report, Site
from harness.report.pages.paper import LogEntry, log_entries
from harness.report.pages.render import render_pages
from harness.report.pages.search import search_file
from harness.report.runs import RunDetail
from harness.report.tables.model import Cell, Column, Table, TableRow, reading_order
from tests.harness.report.example_report import make_report
from tests.harness.report.made_judged import printed, with_verdict
from tests.harness.report.made_results import result
from tests.harness.report.shown import ParsedPage, facts_of, show_index, show_paper, show_small

COLUMN = Column("stsb", "STSB")
CELL = Cell(
    75.107, 0.84, 3, printed(76.25),
    with_verdict(76.25, "ours", values=(74.3, 75.1, 75.92), plan=Plan(seeds=14, more=11)),
    runs=("a-s0", "a-s1", "a-s2"), ranks=(1, 2), note="reported twice", best_by_dev=75.9,
    values=(74.3, 75.1, 75.92),
)  # fmt: skip


def make_run(seed: int) -> RunDetail:
    return RunDetail(result("a", seed, {}, method="a", variant="released", backbone="bert", commit="c0ffee"))


RUNS = {f"a-s{seed}": make_run(seed) for seed in range(3)}


def table_of(*cells: Cell, **fields: object) -> Table:
    columns = tuple(Column(f"c{i}", f"Column {i}") for i in range(len(cells)))
    return Table("t", "A table", columns, (TableRow("r", "A row", cells, "group"),), **fields)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def report() -> Report:
    return make_report(wide=False)


@pytest.fixture(scope="module")
def index(report: Report) -> str:
    return show_index(report)


@pytest.fixture(scope="module")
def small(report: Report) -> str:
    return show_small(report)


def shown_cells(*cells: Cell) -> list[str]:
    """Returns the cells of a page with one row."""
    return re.findall(r"<td id=.*?</td>", show_small(Report("T", "abc", tables=(table_of(*cells),))))


def test_a_cell_without_a_run_shows_the_published_value_or_a_dash() -> None:
    number = printed(61.3)
    missing, cited, both, empty = shown_cells(
        Cell(number=number), Cell(number=number, wanted=False), Cell(value=60.1, number=number), Cell()
    )
    for text in (missing, cited):
        assert '<span class="published">61.30</span>' in text
        assert 'class="ours' not in text
        assert "href" not in text
    assert 'data-order="61.3"' in missing
    assert 'data-order="60.1"' in both, "ours sorts the column"
    assert dict(cell_facts(table_of(), COLUMN, Cell(number=number), {}))["Ours"] == "not run"
    assert (missing.count("–"), empty.count("–")) == (0, 1)


def test_a_tally_counts_reported_scores_once_and_no_settings() -> None:
    unrun = Cell(number=printed(72.56), judged=with_verdict(72.56))
    setting = Cell(65536.0, number=printed(65536.0), as_reported=True)
    row = TableRow("r", "SCT", (setting, unrun, CELL, Cell(1.0)))
    columns = (Column("queue", "queue", plain=True), *(Column(key, key) for key in "abc"))
    table = Table("t", "A table", columns, (row,))

    def counts(table: Table) -> list[tuple[str, str, int]]:
        return [(word.text, word.sign, count) for word, count in verdict_counts(table)]

    assert counts(table) == [("not settled", "?", 1), ("no independent result", "", 1)]
    ours = replace(CELL, judged=with_verdict(72.56, "ours", values=(72.0,)))
    assert counts(table_of(unrun, ours, unrun)) == [("not settled", "?", 1)], "by our seeds if there are any"
    settings = replace(table, columns=columns[:1], rows=(replace(row, cells=(setting,)),))
    assert describe_seeds(settings) == "Ours: what the recipes declare."
    assert row_seeds(settings.rows[0]) == ""


def test_a_number_takes_the_scale_of_its_table_where_it_is_shown() -> None:
    """Printed as 76.25 or as 0.7625; a count and a learning rate have no scale."""
    for form, number, shown, difference in (
        (Format(100.0, 2), 76.25, "76.25", "−76.25"),
        (Format(1.0, 4), 0.7625, "0.7625", "−0.7625"),
        (Format(1.0, 4, plain=True), 76.25, "76.25", "−76.25"),
    ):
        assert (form.number(76.25), form.show(76.25), form.signed(-76.25)) == (number, shown, difference)
    assert Format(1.0, 0, plain=True).show(131072.0) == "131072"
    assert Format(1.0, 6, plain=True).show(0.00005) == "5e-05"


def test_a_papers_tables_precede_its_figures_and_main_tables_the_appendix() -> None:
    keys = ["p/fig1", "p/table-a1", "p/table2", "p/table1"]
    made = [replace(table_of(), key=key, kind="figure" if "fig" in key else "table") for key in keys]
    assert sorted(made, key=reading_order) == made[::-1]


def test_a_cell_links_to_its_runs_and_carries_its_facts() -> None:
    text = show_small(Report("T", "abc", tables=(table_of(CELL),), runs=RUNS))
    page = ParsedPage(text)
    (cell,) = [attributes for tag, attributes in page.tags if attributes.get("class") == "cell"]
    assert cell["href"] == "#system-a-released-bert"
    (row,) = [attributes for _, attributes in page.tags if "data-row" in attributes]
    assert (row["data-runs"], row["id"]) == ("a-s|0 1 2", "t--a-row")
    assert "t--a-row--c0" in page.all("id")
    assert facts_of(text, cell["data-facts"] or "") == [
        ["Ours", "75.11 ± 0.84, n = 3 seeds"],
        ["Published", "76.25"],
        ["Difference", "−1.14"],
        ["Verdict", "not settled: 11 more seeds up to the advised look"],
        ["Cite", "as reported (one run)"],
        ["Rank", "1 to 2"],
        ["Level", "not known whether our mean is within half a point (-1.14)"],
        ["Draw", "not known whether inside the range of single runs"],
        ["Next look", "14 seeds in all, 11 more; 11 seeds"],
        ["Each seed", "0: 74.30, 1: 75.10, 2: 75.92"],
        ["Best on dev", "75.90"],
        ["Note", "reported twice"],
    ]
    assert "system-a-released-bert" in page.all("id")


def test_each_run_shows_its_command_commit_data_and_device(small: str, report: Report) -> None:
    assert len(report.runs) == 18
    for run in report.runs.values():
        assert small.count(f'<tr><th scope="row">{run.about.key}</th>') == 1
        assert run.result.provenance.encoder_sha256[:16] in small
        assert all(digest[:16] in small for digest in run.result.provenance.data_sha256.values())
    assert "<code>dvc repro evaluate@RUN</code>" in small
    assert "code commit 3f9d1c7ab2." in small
    assert small.count("Not trained.") == 3


def test_a_page_closes_its_tags_and_has_each_id_once_and_every_link_a_target(index: str, small: str) -> None:
    for text, many in ((index, 10), (small, 50)):
        page = ParsedPage(text)
        assert page.open == []
        ids = page.all("id")
        assert len(ids) == len(set(ids)) > many
        inner = {address[1:] for address in page.all("href") if address.startswith("#")}
        assert len(inner) > many / 10
        assert inner <= set(ids)


def test_the_footer_states_the_fingerprints_and_the_public_addresses_that_are_set() -> None:
    site = Site(repository="https://example.org/code")
    text = show_index(Report("T", "abc", results_digest="d1", site=site))
    footer = text[text.index("<footer") :]
    assert f"Report of version {sentbench.__version__}, results d1, code abc" in footer
    assert '<a href="https://example.org/code">repository</a>' in footer
    assert sentbench.__version__ in footer


def test_a_page_has_only_addresses_of_other_files_and_loads_none(index: str) -> None:
    page = ParsedPage(index)
    assert page.all("src") == []
    files = {address.partition("/")[0] for address in page.all("href") if not address.startswith("#")}
    assert files == {"data:,", "papers", "tables", "pages", ".."}
    style = index[index.index("<style>") : index.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert re.findall(r"https?://[^\"' ]+", index.replace("http://www.w3.org/2000/svg", "")) == []
    assert "default-src 'none'" in index


def test_the_list_that_is_searched_has_every_paper_table_row_and_number_of_the_report() -> None:
    table = table_of(CELL, Cell(), Cell(61.34))
    paper = Paper("p", "A paper", "ACL", (replace(table, key="p/t", title="P table 1: x"),))
    report = Report("T", "abc", tables=(table,), papers=(paper,))
    text = search_file(report)
    listed = json.loads(text.removeprefix("searchFound(").removesuffix(");\n"))
    assert listed["places"] == [
        ["paper", "A paper", "papers/p.html"],
    ]
    columns = [["c0", "Column 0", False], ["c1", "Column 1", False], ["c2", "Column 2", False]]
    first, second = listed["tables"]
    assert first == {
        "kind": "table", "title": "A table", "page": "pages/small.html", "id": "table-t", "columns": columns,
        "rows": [["A row (group)", "t--a-row", "76.25", "", "61.34"]],
    }  # fmt: skip
    assert (second["page"], second["id"]) == ("papers/p.html", "table-p-t")
    assert second["rows"] == [["A row (group)", "p-t--a-row", "76.25", "", "61.34"]]


def test_a_system_is_searched_by_the_id_that_commands_take() -> None:
    places = json.loads(search_file(Report("T", "abc", runs=RUNS))[len("searchFound(") : -3])["places"]
    first = next(iter(RUNS.values()))
    assert ["system", f"{first.about.id}: {first.system}", f"pages/small.html#{first.anchor}"] in places


def test_a_paper_page_has_charts_next_to_their_tables_and_the_command_of_each() -> None:
    table = table_of(CELL, kind="figure")
    paper = Paper(
        "p", "A paper", "ACL", (table,),
        charts={"t": Chart("chart-t", "A chart", "Diamonds.", "", (), ("<svg></svg>",) * 3)},
    )  # fmt: skip
    text = show_paper(Report("T", "abc", runs=RUNS), paper)
    assert "To run it: <code>sentbench plan t &amp;&amp; sentbench launch</code>" in text
    assert text.index('id="table-t"') < text.index('id="figure-chart-t"')
    unrun = show_paper(Report("T", "abc"), replace(paper, tables=(table_of(Cell(wanted=False)),)))
    assert "No recipe has a run for this table" in unrun


def test_the_log_of_a_paper_has_an_entry_for_the_runs_of_a_system_from_one_commit_on_one_device() -> None:
    runs = {
        "a-s0": RunDetail(result("a", 0, {}, method="a", commit="1" * 40)),
        "a-s1": RunDetail(result("a", 1, {}, method="a", device="cuda", commit="2" * 40)),
        "z-s0": RunDetail(result("z", 0, {}, method="a")),
    }
    table = table_of(
        Cell(70.0, judged=with_verdict(70.0, "ours", "within half a point"), runs=("a-s0", "a-s1")),
        Cell(70.0, judged=with_verdict(72.0, "ours"), runs=("a-s0",)),
        Cell(70.0, runs=("a-s0",)),
    )
    assert log_entries([table], runs) == [
        LogEntry("commit " + "1" * 10, "cpu", "a · v · b", (0,), "1 replicates, 1 not settled"),
        LogEntry("commit " + "2" * 10, "cuda", "a · v · b", (1,), "1 replicates"),
    ]
    shown = show_paper(Report("T", "c", runs=runs), Paper("p", "P", "", (table,)))
    assert "2222222222" in shown[shown.index('id="log"') :]
    assert 'id="log"' not in show_paper(Report("T", "c"), Paper("p", "P", "", ()))


def test_every_page_links_to_the_others_and_an_empty_page_is_left_out() -> None:
    """tests/guides adds a page."""
    pages = render_pages(Report("T", "abc", papers=(Paper("toy", "A paper", "ACL", (), short="TOY"),)))
    assert set(pages) == {MAIN, "papers/toy.html", "pages/methods.html", "pages/search.js"}
    assert '<a href="index.html" aria-current="page">Overview</a>' in pages[MAIN]
    assert '<a href="../papers/toy.html" aria-current="page">TOY</a>' in pages["papers/toy.html"]
    assert '<a href="../index.html">Overview</a>' in pages["pages/methods.html"]
    assert '<a href="pages/methods.html">Methods</a>' in pages[MAIN]
