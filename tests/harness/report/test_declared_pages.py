"""Pages are found by their declaration: a new one is a module and a template, no other file knows of it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness.report.pages as room
from harness.report.formats.templates import TEMPLATES
from harness.report.pages import render
from harness.report.pages.content import MAIN, Paper, Report
from harness.report.pages.render import declared_pages, render_pages

REPORT = Report("T", "abc", papers=(Paper("toy", "A paper", "ACL", (), short="TOY"),))
MODULE = """
from harness.report.pages.content import Page, Report


def toy_values(report: Report) -> dict[str, str] | None:
    return {"greeting": f"hello {report.code}"} if report.code else None


PAGE = Page("Toys", "pages/toy.html", "toy.html.j2", toy_values, order=9)
"""
TEMPLATE = '{% extends "layout.html.j2" %}{% block content %}<p>{{ greeting }}</p>{% endblock %}'


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The guide of CONTRIBUTING followed: one module next to the others, one template among the others."""
    (tmp_path / "toy.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setattr(room, "__path__", [*room.__path__, str(tmp_path)])
    templates = tmp_path / "templates"
    shutil.copytree(TEMPLATES, templates)
    (templates / "toy.html.j2").write_text(TEMPLATE, encoding="utf-8")
    monkeypatch.setattr(render, "TEMPLATES", templates)
    yield
    sys.modules.pop(f"{room.__name__}.toy", None)


def test_the_pages_stand_in_their_order_and_each_has_a_file_of_its_own() -> None:
    pages = declared_pages(REPORT)
    titles = [page.title for page in pages]
    assert titles == [
        "Overview", "TOY", "Claims", "Compare", "Own tables", "Small plans", "Paper and code", "Cite",
        "Own models", "Pairs", "Ablations", "Contributed", "Protocols", "Runs", "Speed",
    ]  # fmt: skip
    assert len({page.file for page in pages}) == len(pages)
    for page in pages:
        assert (TEMPLATES / page.template).is_file()
        assert page.file == MAIN or page.file.split("/")[0] in ("pages", "papers")


@pytest.mark.usefixtures("toy")
def test_a_module_and_a_template_are_a_page_that_every_other_page_links_to() -> None:
    pages = render_pages(REPORT)
    assert "<p>hello abc</p>" in pages["pages/toy.html"]
    assert '<a href="pages/toy.html">Toys</a>' in pages[MAIN]
    assert '<a href="../pages/toy.html">Toys</a>' in pages["papers/toy.html"]
    assert '<a href="../index.html">Overview</a>' in pages["pages/toy.html"]
    assert '<a href="index.html" aria-current="page">Overview</a>' in pages[MAIN]
    assert '<a href="../papers/toy.html" aria-current="page">TOY</a>' in pages["papers/toy.html"]


@pytest.mark.usefixtures("toy")
def test_a_page_with_nothing_to_show_is_neither_made_nor_linked() -> None:
    pages = render_pages(Report("T", ""))
    assert set(pages) == {
        MAIN, "pages/claims.html", "pages/audit.html", "pages/ablations.html", "pages/protocols.html",
    }  # fmt: skip
    assert "Toys" not in pages[MAIN]
    assert "Speed" not in pages[MAIN]
