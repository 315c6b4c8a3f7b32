"""Pages are found by their declaration; tests/guides/test_page_guide.py adds one."""

from harness.report.pages.content import MAIN, Paper, Report
from harness.report.pages.render import render_pages

REPORT = Report("T", "abc", papers=(Paper("toy", "A paper", "ACL", (), short="TOY"),))


def test_every_page_links_to_the_others_and_one_with_nothing_to_show_is_neither_made_nor_linked() -> None:
    pages = render_pages(REPORT)
    names = ("claims", "audit", "ablations", "protocols")
    assert set(pages) == {MAIN, "papers/toy.html", *(f"pages/{name}.html" for name in names)}
    assert '<a href="index.html" aria-current="page">Overview</a>' in pages[MAIN]
    assert '<a href="../papers/toy.html" aria-current="page">TOY</a>' in pages["papers/toy.html"]
    assert '<a href="../index.html">Overview</a>' in pages["pages/claims.html"]
    assert '<a href="pages/claims.html">Claims</a>' in pages[MAIN]
    assert "Speed" not in pages[MAIN]
