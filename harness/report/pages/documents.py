"""The documents as pages of the report, so its links open in a browser."""

import posixpath
import re
from collections.abc import Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from harness.report.pages.content import Page, Report

DOCUMENTS = Path("docs")
README = "README.md"
DIRECTIVES = re.compile(r"^```\{.*?^```\n?", re.MULTILINE | re.DOTALL)
"""Parts that only the documentation's site shows: its menus, and references made of docstrings."""
MARK = "doc-"
"""Starts the name of a page that is a document, and the ids of its headings."""


def pages(report: Report) -> list[Page]:
    """Returns a page for the README and for every document of the folder; none without the folder."""
    return [
        Page(title, file, "document.html.j2", partial(_values, path=path), order=9, linked=False)
        for path, (title, file) in documents_of(report.documents).items()
    ]


def documents_of(folder: Path | None) -> dict[Path, tuple[str, str]]:
    """Returns title and file (relative to the main page) of each document with text, by path."""
    if folder is None or not folder.is_dir():
        return {}
    documents = {}
    for path in [folder.parent / README, *sorted(folder.glob("*.md"))]:
        text = _text_of(path) if path.is_file() else ""
        title = re.match(r"# (.+)\n", text)
        if title and text[title.end() :].strip():
            documents[path] = (title[1], f"pages/{MARK}{path.stem.lower()}.html")
    return documents


def _text_of(path: Path) -> str:
    return DIRECTIVES.sub("", path.read_text(encoding="utf-8")).lstrip()


def _values(report: Report, path: Path) -> dict[str, Any]:
    known = {
        posixpath.normpath(other.as_posix()): Path(file).name
        for other, (_, file) in documents_of(report.documents).items()
    }
    title, _, text = _text_of(path).partition("\n")
    return {"heading": title.removeprefix("# "), "document": to_html(text, path, known)}


def to_html(text: str, path: Path, known: Mapping[str, str]) -> Markup:
    """Returns a document as HTML. known: the page of each document by path; other links point to files."""
    parser = MarkdownIt("commonmark").enable("table")
    tokens = parser.parse(text)
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", MARK + _slug(tokens[index + 1].content))
        if token.type == "table_open":
            token.attrSet("class", "plain")
        if token.type == "th_open":
            _head(token, tokens[index + 1], tokens[index + 2])
        for part in token.children or ():
            _lead(part, path.parent, known)
    html = parser.renderer.render(tokens, parser.options, {})
    number = count(1)
    html = re.sub("<table", lambda match: _box(next(number)) + match[0], html)
    html = html.replace("</table>", "</table></div>")
    html = html.replace("\n\n", "\n&#10;")  # pages have no blank lines except in code
    return Markup(html.replace("<pre>", '<pre tabindex="0">'))


def _head(opening: Token, content: Token, closing: Token) -> None:
    """Marks the heading of a column; the empty corner of a table is a plain cell, not a heading."""
    if content.content.strip():
        opening.attrSet("scope", "col")
    else:
        opening.tag = closing.tag = "td"


def _box(number: int) -> str:
    """Returns the start of the box in which a table scrolls; its name is unique on the page."""
    return f'<div class="scroller" tabindex="0" role="region" aria-label="Table {number}">'


def _lead(part: Token, folder: Path, known: Mapping[str, str]) -> None:
    """Adjusts the address of a link or an image in a document of `folder` for a page of the report."""
    name = {"link_open": "href", "image": "src"}.get(part.type)
    address = str(part.attrGet(name) or "") if name else ""
    if not name or re.match(r"\w+:", address):
        return
    file, mark, anchor = address.partition("#")
    path = posixpath.normpath((folder / file).as_posix())
    page = known.get(path, f"../../{path}") if file else ""
    part.attrSet(name, f"{page}{mark}{MARK if anchor and (not file or path in known) else ''}{anchor}")


def _slug(heading: str) -> str:
    """Returns the anchor of a heading, as on GitHub and in the documentation."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
