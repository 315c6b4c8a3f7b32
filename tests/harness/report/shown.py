"""Single pages as text, without a stage around them."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

from harness.report.pages import index, small
from harness.report.pages.content import Page, Paper, Report
from harness.report.pages.paper import pages
from harness.report.pages.render import fill_page


class ParsedPage(HTMLParser):
    """The tags of a page with their attributes, the tags left open, and every address a page names."""

    VOID = frozenset({"meta", "link", "br", "wbr", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag

    def all(self, name: str) -> list[str]:
        return [value for _, attributes in self.tags if (value := attributes.get(name)) is not None]


def show(page: Page, report: Report, values: Mapping[str, Any] | None = None, **more: Any) -> str:
    """Returns a page; `values` replace the result of its builder."""
    shown = page.build(report) if values is None else values
    assert shown is not None
    return fill_page(page, report, shown, **more)


def show_index(report: Report, **more: Any) -> str:
    return show(index.PAGE, report, **more)


def show_small(report: Report, **more: Any) -> str:
    """Returns the page of the plan's tables and runs."""
    return show(small.pages(report)[0], report, **more)


def show_paper(report: Report, paper: Paper, **more: Any) -> str:
    return show(pages(replace(report, papers=(paper,)))[0], report, **more)


def facts_of(text: str, indices: str) -> list[list[str]]:
    """Returns the facts that a cell of a page names by their places in the page's list."""
    listed = re.search(r'id="facts-data">(.*?)</script>', text)
    entries = json.loads(listed[1]) if listed else []
    return [entries[int(index)] for index in indices.split()]
