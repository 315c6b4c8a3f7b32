"""The HTML pages as text: cells, links, and no external requests."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

import sentbench
from harness.report.chart import Chart
from harness.report.formats.text import describe_seeds, row_seeds
from harness.report.pages.cells import show_cell, verdict_counts
from harness.report.pages.content import MAIN, Paper, Report, Site
from harness.report.pages.paper import LogEntry, log_of
from harness.report.pages.render import render_pages
from harness.report.pages.search import search_file
from harness.report.runs import RunDetail
from harness.report.tables.model import Cell, Column, Table, TableRow, reading_order
from tests.harness.report.example_report import make_report
from tests.harness.report.made_results import result
from tests.harness.report.shown import ParsedPage, facts_of, show_index, show_paper

COLUMN = Column("stsb", "STSB")
CELL = Cell(
    75.107, 0.84, 3, 76.25, "inconclusive", more=11,
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
    pytest.importorskip("vl_convert", reason="pictures need the extra `report`")
    return make_report(wide=False)


@pytest.fixture(scope="module")
def index(report: Report) -> str:
    return show_index(report)


def test_a_cell_without_a_run_shows_the_published_value_or_a_dash() -> None:
    table = table_of(Cell(published=61.3))
    missing = show_cell(table, COLUMN, Cell(published=61.3), {})
    cited = show_cell(table, COLUMN, Cell(published=61.3, wanted=False), {})
    assert (missing.ours, missing.published, missing.link, missing.order) == ("", "61.30", "", 61.3)
    assert show_cell(table, COLUMN, Cell(value=60.1, published=61.3), {}).order == 60.1, (
        "ours sorts the column"
    )
    assert (cited.ours, cited.published) == ("", "61.30")
    assert dict(missing.facts)["Ours"] == "not run"
    page = show_index(Report("T", "abc", tables=(table_of(Cell(published=61.3), Cell()),)))
    first, second = re.findall(r"<td id=.*?</td>", page)
    assert (first.count("–"), second.count("–")) == (0, 1)


def test_a_tally_counts_reported_scores_and_no_settings_which_have_no_seeds() -> None:
    same = Cell(65536.0, published=65536.0, verdict="replicates")
    unrun = Cell(published=72.56, verdict="no independent result")
    row = TableRow("r", "SCT", (same, unrun, CELL, Cell(1.0)))
    columns = (Column("queue", "queue", plain=True), *(Column(key, key) for key in "abc"))
    table = Table("t", "A table", columns, (row,))
    assert verdict_counts(table) == [("inconclusive", "?", 1), ("no independent result", "", 1)]
    known: Any = SimpleNamespace(reported=SimpleNamespace(fact=("sct@b", "Avg", 72.56)))
    quoted = [replace(cell, evidence=known) for cell in (unrun, CELL, unrun)]
    assert verdict_counts(table_of(*quoted)) == [("inconclusive", "?", 1)]
    settings = replace(table, columns=columns[:1], rows=(replace(row, cells=(same,)),))
    assert describe_seeds(settings) == "Ours: what the recipes declare."
    assert row_seeds(settings.rows[0]) == ""


def test_a_papers_tables_precede_its_figures_and_main_tables_the_appendix() -> None:
    keys = ["p/fig1", "p/table-a1", "p/table2", "p/table1"]
    made = [replace(table_of(), key=key, kind="figure" if "fig" in key else "table") for key in keys]
    assert sorted(made, key=reading_order) == made[::-1]


def test_a_cell_links_to_its_runs_and_carries_its_facts() -> None:
    text = show_index(Report("T", "abc", tables=(table_of(CELL),), runs=RUNS))
    page = ParsedPage(text)
    (cell,) = [attributes for tag, attributes in page.tags if attributes.get("class") == "cell"]
    assert cell["href"] == "#system-a-released-bert"
    (row,) = [attributes for _, attributes in page.tags if "data-row" in attributes]
    assert (row["data-runs"], row["id"]) == ("a-s0 a-s1 a-s2", "t--a-row")
    assert "t--a-row--c0" in page.all("id")
    assert facts_of(text, cell["data-facts"] or "") == [
        ["Ours", "75.11 ± 0.84, n = 3 seeds"],
        ["Published", "76.25"],
        ["Difference", "−1.14"],
        ["Verdict", "inconclusive: 11 more seeds up to the next look"],
        ["Rank", "1 to 2"],
        ["Each seed", "0: 74.30, 1: 75.10, 2: 75.92"],
        ["Best on dev", "75.90"],
        ["Note", "reported twice"],
    ]
    assert "system-a-released-bert" in page.all("id")


def test_each_run_shows_its_command_commit_data_and_device(index: str, report: Report) -> None:
    assert len(report.runs) == 18
    for run in report.runs.values():
        assert index.count(f'data-run="{run.about.key}"') == 1
        assert f"<code>{run.result.provenance.encoder_sha256[:16]}</code>" in index
        assert all(digest[:16] in index for digest in run.result.provenance.data_sha256.values())
    assert "<code>dvc repro evaluate@RUN</code>" in index
    assert "commit 3f9d1c7ab2</code>" in index
    assert index.count("Not trained.") == 3


def test_a_page_closes_its_tags_and_has_each_id_once_and_every_link_a_target(index: str) -> None:
    page = ParsedPage(index)
    assert page.open == []
    ids = page.all("id")
    assert len(ids) == len(set(ids)) > 50
    inner = {address[1:] for address in page.all("href") if address.startswith("#")}
    assert len(inner) > 10
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
    text = search_file(report, {"Words": "pages/doc-words.html"})
    listed = json.loads(text.removeprefix("searchFound(").removesuffix(");\n"))
    assert listed["places"] == [
        ["paper", "A paper", "papers/p.html"],
        ["document", "Words", "pages/doc-words.html"],
    ]
    columns = [["c0", "Column 0"], ["c1", "Column 1"], ["c2", "Column 2"]]
    first, second = listed["tables"]
    assert first == {
        "kind": "table", "title": "A table", "page": "index.html", "id": "table-t", "columns": columns,
        "rows": [["A row (group)", "t--a-row", "76.25", "", "61.34"]],
    }  # fmt: skip
    assert (second["page"], second["id"]) == ("papers/p.html", "table-p-t")
    assert second["rows"] == [["A row (group)", "p-t--a-row", "76.25", "", "61.34"]]


def test_a_system_is_searched_by_the_id_that_commands_take() -> None:
    places = json.loads(search_file(Report("T", "abc", runs=RUNS), {})[len("searchFound(") : -3])["places"]
    first = next(iter(RUNS.values()))
    assert ["system", f"{first.about.id}: {first.system}", f"index.html#{first.anchor}"] in places


def test_a_paper_page_has_charts_next_to_their_tables_and_the_command_of_each() -> None:
    table = table_of(CELL, kind="figure")
    paper = Paper(
        "p", "A paper", "ACL", (table,),
        charts={"t": Chart("chart-t", "A chart", "Diamonds.", "", (), ("<svg></svg>", "<svg></svg>"))},
    )  # fmt: skip
    text = show_paper(Report("T", "abc", runs=RUNS), paper)
    assert "To run it: <code>sentbench plan t &amp;&amp; dvc repro</code>" in text
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
        Cell(70.0, published=70.0, verdict="replicates", runs=("a-s0", "a-s1")),
        Cell(70.0, published=72.0, verdict="inconclusive", runs=("a-s0",)),
        Cell(70.0, runs=("a-s0",)),
    )
    assert log_of([table], runs) == [
        LogEntry("commit " + "1" * 10, "cpu", "a · v · b", (0,), "1 replicates, 1 inconclusive"),
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
