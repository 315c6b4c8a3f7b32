"""Pages are found by their declaration; tests/guides/test_page_guide.py adds one."""

from __future__ import annotations

from harness.report.formats.templates import TEMPLATES
from harness.report.pages.content import MAIN, Paper, Report
from harness.report.pages.render import declared_pages, render_pages

REPORT = Report("T", "abc", papers=(Paper("toy", "A paper", "ACL", (), short="TOY"),))


def test_the_pages_stand_in_their_order_and_each_has_a_file_of_its_own() -> None:
    pages = declared_pages(REPORT)
    assert [page.title for page in pages] == [
        "Overview", "TOY", "Claims", "Compare", "Own tables", "Small plans", "Paper and code", "Cite",
        "Own models", "Pairs", "Ablations", "Contributed", "Runs", "Protocols", "Speed",
    ]  # fmt: skip
    assert len({page.file for page in pages}) == len(pages)
    for page in pages:
        assert (TEMPLATES / page.template).is_file()
        assert page.file == MAIN or page.file.split("/")[0] in ("pages", "papers")


def test_every_page_links_to_the_others_and_one_with_nothing_to_show_is_neither_made_nor_linked() -> None:
    pages = render_pages(REPORT)
    names = ("claims", "audit", "ablations", "protocols")
    assert set(pages) == {MAIN, "papers/toy.html", *(f"pages/{name}.html" for name in names)}
    assert '<a href="index.html" aria-current="page">Overview</a>' in pages[MAIN]
    assert '<a href="../papers/toy.html" aria-current="page">TOY</a>' in pages["papers/toy.html"]
    assert '<a href="../index.html">Overview</a>' in pages["pages/claims.html"]
    assert '<a href="pages/claims.html">Claims</a>' in pages[MAIN]
    assert "Speed" not in pages[MAIN]
