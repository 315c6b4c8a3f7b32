"""The guide "Add a page" followed: a module and a template make a page that every page links to."""

from __future__ import annotations

from tests.guides.conftest import Checkout

MODULE = '''"""A page that greets."""

from __future__ import annotations

from harness.report.pages.content import Page, Report


def toy_values(report: Report) -> dict[str, str]:
    """Returns what the template shows."""
    return {"greeting": f"hello {report.code}"}


PAGE = Page("Toys", "pages/toy.html", "toy.html.j2", toy_values, order=9)
'''
TEMPLATE = '{% extends "layout.html.j2" %}{% block content %}<p>{{ greeting }}</p>{% endblock %}'
RENDER = """
from harness.report.pages.content import Report
from harness.report.pages.render import render_pages

for name, text in render_pages(Report("T", "abc")).items():
    print("FILE", name)
    print(text)
"""


def test_a_page_is_its_module_and_its_template(checkout: Checkout) -> None:
    files = {"harness/report/pages/toy.py": MODULE, "leaderboards/templates/toy.html.j2": TEMPLATE}
    checkout.write(files)
    assert checkout.touched() == set(files)
    assert len(files) == 2
    pages = dict(part.split("\n", 1) for part in checkout.run("-c", RENDER).split("FILE ")[1:])
    assert "<p>hello abc</p>" in pages["pages/toy.html"]
    assert '<a href="pages/toy.html">Toys</a>' in pages["index.html"]
