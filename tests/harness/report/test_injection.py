"""Markup in texts of declarations and results: every form of a table and every page shows it as text."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.evidence.printed import PublishedPaper
from harness.evidence.schema import ResultFile
from harness.io.declarations import read_declaration, read_record
from harness.report.bibtex import paper_entry
from harness.report.formats import latex, markdown, summary
from harness.report.formats.readmes import to_deviations
from harness.report.formats.text import to_terminal
from harness.report.pages.audit import CodeDeviation, MethodAudit
from harness.report.pages.content import Paper, Report, Site
from harness.report.pages.render import render_pages
from harness.report.tables.model import Cell, Column, Table, TableRow
from tests.harness.report.made_judged import printed
from tests.harness.report.shown import ParsedPage

MARKUP = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=alert(1)>",
    "[click](javascript:alert(1))",
    "| a | b\n| - | -",
    "\\input{/etc/passwd}",
    "}\\end{table*}\\write18{id}",
    "{{ 7 * 7 }}<% x %>",
    "=HYPERLINK(1)",
    "@sum(1)",
    "`x` **bold** _it_ $x^2$",
)
LINKS = (
    "javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd",
    "//evil.org", "http://a.org", " https://a.org", 'https://a.org/"onclick=x', "https://a.org/ x",
    "https://a.org/<x>", "https://a.org/`x`", "https://", "https:///x", "https://u:p@a.org",
    "https://a.org\njavascript:x", "https://a.org/{x}", "https://a.org/\\x",
)  # fmt: skip
RUNS_OR_LOADS = {
    "a", "base", "embed", "form", "iframe", "img", "input", "link", "meta", "object", "script", "style",
    "svg",
}  # fmt: skip
"""Elements that do something, or fetch something, on a page."""


def table_with(text: str) -> Table:
    """Returns a table with this text wherever a declaration can put one."""
    cell = Cell(50.0, 1.0, 3, number=printed(49.0), wanted=True, note=text, runs=("a__b__s0",))
    row = TableRow(text, text, (cell,), group=text, source=text, note=text)
    return Table("small", text, (Column("c", text, text),), (row,), protocol=text, notes=(text,), unit=text)


@pytest.mark.parametrize("text", MARKUP)
def test_pages_show_markup_as_text(text: str) -> None:
    def tags_of(shown: str) -> list[tuple[str, list[str]]]:
        table = table_with(shown)
        paper = Paper("made", shown, shown, (table,), notes=(shown,), short=shown, bibtex=shown)
        more = {"tables": (table,), "papers": (paper,), "notes": (shown,), "problems": (shown,)}
        pages = render_pages(Report(shown, "c" * 64, plan=shown, **more))
        actual = [
            tag for name, page in pages.items() if name.endswith(".html") for tag in ParsedPage(page).tags
        ]
        assert not any(name.startswith("on") for _, attributes in actual for name in attributes)
        links = [attributes.get("href") or "" for _, attributes in actual]
        assert not any(link.lower().startswith(("javascript:", "data:text", "vbscript:")) for link in links)
        return sorted((tag, sorted(attributes)) for tag, attributes in actual if tag in RUNS_OR_LOADS)

    assert tags_of(text) == tags_of("plain")


@pytest.mark.parametrize("text", MARKUP)
def test_text_forms_of_a_table_show_markup_as_text(text: str) -> None:
    table = table_with(text)
    for form in (markdown.to_markdown, to_terminal, latex.to_latex):
        assert form(table).count("\n") == form(table_with("plain")).count("\n"), form.__name__
    shown = markdown.to_markdown(table) + summary.to_summary({"a": table}, [text], notes=[])
    assert "<" not in shown.replace("<br>", "")
    assert not re.search(r"(?<!\\)\[click(?<!\\)\]\(", shown)
    tex = latex.to_latex(table)
    assert not re.search(r"\\(input|write18)\b", tex)
    assert tex.count("\\end{table*}") == 1
    cells = list(csv.DictReader(io.StringIO(summary.to_csv([table]))))
    assert not cells[0]["title"].startswith(("=", "@"))


@pytest.mark.parametrize("text", MARKUP)
def test_a_citation_and_a_readme_show_markup_as_text(text: str) -> None:
    paper = PublishedPaper(paper="k", title=text, authors=[text], venue=text, year=2020, tables={})
    actual = paper_entry(paper)
    assert not re.search(r"\\(input|end|write18)\b", actual)
    plain = re.sub(r"\\textbackslash|\\textascii\w+|\\[{}]", "", actual)
    assert plain.count("{") == plain.count("}")
    difference = CodeDeviation(about=text, ours=text, paper=text)
    section = to_deviations(MethodAudit(method="a", title="a", preset="a", differences=[difference]))
    assert not re.search(r"<script|<img|\]\(javascript", section)


@pytest.mark.parametrize("address", LINKS)
def test_a_link_of_a_declaration_is_https_or_one_line(address: str, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    paper = {"paper": "a", "title": "t", "venue": "v", "tables": {}}
    for kind, fields in (
        (PublishedPaper, {**paper, "link": address}),
        (PublishedPaper, {**paper, "code": address}),
        (Site, {"repository": address}),
    ):
        path.write_text(json.dumps(fields))
        with pytest.raises(InputError, match="https") as caught:
            read_declaration(path, kind)
        assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("sign", ["\x1b[31m", "\u202e", "\x9b"])
@pytest.mark.parametrize("escaped", [True, False])
def test_a_result_with_a_control_character_is_one_line(sign: str, escaped: bool, tmp_path: Path) -> None:
    source = next((Path(__file__).parent / "recorded/scores").glob("*.json"))
    actual = json.loads(source.read_text())
    actual.pop("digest", None)
    actual["run"]["variant"] = f"a{sign}b"
    path = tmp_path / "a.json"
    path.write_text(json.dumps(actual, ensure_ascii=escaped))
    with pytest.raises(InputError) as caught:
        read_record(path, ResultFile)
    assert str(caught.value).isprintable()
