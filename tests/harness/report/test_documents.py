"""Documents as pages of the report: their list and their links."""

import re
from pathlib import Path

import pytest

from harness.report.pages.content import Report
from harness.report.pages.documents import documents_of, to_html
from harness.report.pages.render import render_pages

KNOWN = {"docs/table.md": "doc-table.html", "README.md": "doc-readme.html"}


@pytest.mark.parametrize(
    ("written", "leads_to"),
    [
        ("table.md", "doc-table.html"),
        ("table.md#tonight", "doc-table.html#doc-tonight"),
        ("#tonight", "#doc-tonight"),
        ("../README.md", "doc-readme.html"),
        ("decisions/index.md", "../../docs/decisions/index.md"),
        ("../harness/data/SOURCES.md#a", "../../harness/data/SOURCES.md#a"),
        ("https://example.org/table.md", "https://example.org/table.md"),
    ],
)
def test_a_link_leads_to_the_page_of_a_document_and_else_to_the_file(written: str, leads_to: str) -> None:
    html = to_html(f"See [it]({written}).", Path("docs/index.md"), KNOWN)
    assert html == f'<p>See <a href="{leads_to}">it</a>.</p>\n'


def test_headings_tables_and_pictures_of_a_document() -> None:
    html = to_html(
        "## Tonight, on a laptop\n\n| a | b |\n| - | - |\n| 1 | <2 |\n\n![one](pictures/x.png)\n",
        Path("docs/index.md"),
        KNOWN,
    )
    assert '<h2 id="doc-tonight-on-a-laptop">Tonight, on a laptop</h2>' in html
    assert '<table class="plain">' in html
    assert html.count('<th scope="col">') == 2
    assert "<td>&lt;2</td>" in html
    assert '<img src="../../docs/pictures/x.png" alt="one" />' in html


def test_a_heading_without_text_is_a_plain_cell_of_a_documents_table() -> None:
    html = to_html("| | a | b |\n| - | -: | - |\n| 1 | 2 | 3 |\n", Path("docs/index.md"), KNOWN)
    assert html.count("<th") == html.count("</th>") + html.count("<thead>") == 3
    assert re.findall(r'<th [^>]*scope="col"[^>]*>(.*?)</th>', html) == ["a", "b"]
    assert "<tr>\n<td></td>\n<th " in html


def test_every_document_has_a_page_in_search_and_footer_and_not_in_the_navigation(
    tmp_path: Path,
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (tmp_path / "README.md").write_text("# Project\n\nSee [words](docs/glossary.md).\n", encoding="utf-8")
    (docs / "index.md").write_text("# Start\n\nText.\n\n```{toctree}\nglossary\n```\n", encoding="utf-8")
    (docs / "glossary.md").write_text("# Words\n\n- one\n", encoding="utf-8")
    (docs / "api.md").write_text("# Made of docstrings\n\n```{eval-rst}\n.. f::\n```\n", encoding="utf-8")
    names = [title for title, _ in documents_of(docs).values()]
    assert names == ["Project", "Words", "Start"]
    pages = render_pages(Report("T", "abc", documents=docs))
    assert '<a href="doc-glossary.html">words</a>' in pages["pages/doc-readme.html"]
    assert "toctree" not in pages["pages/doc-index.html"]
    assert '["document","Words","pages/doc-glossary.html"]' in pages["pages/search.js"]
    links = re.findall(r'href="(pages/doc-[^"]+)"', pages["index.html"])
    assert links == ["pages/doc-index.html", "pages/doc-index.html", "pages/doc-glossary.html"]
    assert documents_of(tmp_path / "none") == {}
