"""How a page is declared, and how declared pages are found.

A page is one module of this package, which ends in its declaration `PAGE`, and one template. Several pages
of one kind, as those of papers, are made by a function `pages` of their module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import harness.report.pages as room
from harness.report.pages.content import Report

MAIN = "index.html"
GROUPS = ("Numbers", "Papers", "Systems", "Methods", "About")
"""The menus of the navigation, in their order."""


@dataclass(frozen=True)
class Page:
    """One page. title: its name in the navigation. file: where it is, as seen from the main page.

    build: returns the values that the template shows besides the report, None if there is nothing to show:
    then there is neither page nor link. order: pages are in their menu by it. group: one of `GROUPS`.
    """

    title: str
    file: str
    template: str
    build: Callable[[Report], Mapping[str, Any] | None]
    order: int
    group: str = "Numbers"

    @property
    def root(self) -> str:
        """The way from this page to the folder of the main page."""
        return "../" * self.file.count("/")


def declared_pages(report: Report) -> list[Page]:
    """Returns every page that a module of this package declares, in their order."""
    found: list[Page] = []
    for name in sorted(info.name for info in iter_modules(room.__path__)):
        module = import_module(f"{room.__name__}.{name}")
        if hasattr(module, "PAGE"):
            found.append(module.PAGE)
        if hasattr(module, "pages"):
            found += module.pages(report)
    return sorted(found, key=lambda page: page.order)
