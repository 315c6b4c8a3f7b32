"""Views of the model of `distinct_model`, in parts: pages by their elements, files by their lines."""

import csv
import html
import io
import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from harness.evidence.curves import losses_of
from harness.report.formats.card import render_card
from harness.report.formats.latex import to_latex
from harness.report.formats.markdown import to_markdown
from harness.report.formats.summary import to_csv, to_summary
from harness.report.formats.text import to_terminal
from harness.report.pages import audit, evidence
from harness.report.pages.audit import CodeDeviation, MethodAudit
from harness.report.pages.sources import SystemSources
from tests.harness.report.distinct_model import CHART, NUMBER, PAPERS, REPORT, RUNS, STUDY, TABLE
from tests.harness.report.made_judged import judged, measured
from tests.harness.report.shown import facts_of, show, show_index, show_paper, show_small


def plain(text: str) -> str:
    """Returns the text of a part of a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def part(text: str, start: str, end: str) -> str:
    """Returns what lies between two texts of a page, each of which it has."""
    _, found, rest = text.partition(start)
    assert found, start
    inner, found, _ = rest.partition(end)
    assert found, end
    return inner


def rows_in(text: str) -> list[list[str]]:
    """Returns the cells of each row of a part of a page."""
    return [
        [plain(cell) for cell in re.findall(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", row, re.DOTALL)]
        for row in re.findall(r"<tr\b.*?</tr>", text, re.DOTALL)
    ]


def papers_on_the_overview() -> list[tuple[str, ...]]:
    text = part(show_index(REPORT), '<ul class="papers">', "</ul>")
    return [
        tuple(map(plain, re.findall(r"<h3>.*?</h3>|<p class=\"\w+\">.*?</p>", item, re.DOTALL)))
        + tuple(re.findall('<li id="([^"]+)"><h3><a href="([^"]+)"', item)[0])
        for item in re.findall("<li id=.*?</li>", text, re.DOTALL)
    ]


def rest_of_the_overview() -> dict[str, Any]:
    text = show_index(REPORT)
    return {
        "weekend": rows_in(part(text, 'id="weekend"', "</section>")),
        "gpu": re.findall(
            r"take ([\d.]+) of 48 hours of one ([^<]+?) and ([\d.]+) GB of disk. Of ([^,]+), ([\d.]+) are "
            r'.*?<a href="([^"]+)"',
            text,
        ),
        "commands": part(text, "make test-gpu\n", "</pre>").splitlines(),
        "runs": plain(part(text, '<h2 id="runs-title">Runs</h2>', "</section>")),
        "digests": plain(part(text, "Fingerprint of the results of this plan:", ". The record")),
        "problem": plain(part(text, 'class="problems"', "</section>"))[-9:],
        "head": re.findall(r'<title>([^<]+)|og:title" content="([^"]+)|<h1>([^<]+)', text),
        "foot": re.findall(r'<a href="([^"]+)">(repository|glossary)</a>', text),
    }


def head_of_the_paper() -> dict[str, Any]:
    text = show_paper(REPORT, PAPERS[0])
    return {
        "title": re.findall(r"<h1>([^<]+)", text),
        "lede": plain(part(text, '<p class="lede">', "</p>"))[:49],
        "links": re.findall(r'<a href="([^"]+)" rel="noreferrer">([^<]+)', text),
        "notes": plain(part(text, "Before you read a number</h2>", "</section>")),
        "cite": part(text, 'id="citation">', "\n"),
        "own": plain(part(text, '<p class="after-head">', "</p>")),
        "log": rows_in(part(text, 'id="log"', "</section>"))[1:],
    }


def table_on_the_page() -> dict[str, Any]:
    text = show_paper(REPORT, PAPERS[0])
    block = part(text, 'id="table-toy-table1"', '<p class="take">')
    whole = part(text, 'id="table-toy-table1"', "</section>")
    first = part(block, 'id="toy-table1--row-title"', "</tr>")
    return {
        "caption": plain(part(block, "<caption", "</caption>").partition(">")[2]),
        "rows": rows_in(block),
        "columns": re.findall('data-column="([^"]+)"', block),
        "row": re.findall(r'data-(row|runs|backbone)="([^"]*)"', "data-row" + first.partition("data-row")[2])[
            :3
        ],
        "cells": re.findall(r'<td id="([^"]+)"(?: data-order="([^"]+)")?', first),
        "best": re.findall(r'class="(\w+) best">[^<]*(?:<span[^>]*>[^<]*</span>)?([\d.]+)', first),
        "facts": facts_of(text, re.findall(r'data-facts="([^"]+)"', first)[1]),
        "remarks": plain(part(text, '<ul class="remarks">', "</ul>")),
        "protocol": [plain(line) for line in re.findall('<p class="protocol">.*?</p>', whole)],
    }


def runs_on_their_page() -> dict[str, Any]:
    text = show_small(replace(REPORT, tables=(TABLE,)))
    system = part(text, 'id="system-a-method-a-variant-a-backbone"', "</details>")
    return {
        "summary": plain(part(system, "<summary>", "</summary>")),
        "rows": rows_in(system),
        "versions": [plain(words) for words in re.findall('<p class="versions">.*?</p>', system)],
    }


def evidence_on_its_page() -> dict[str, Any]:
    known = judged(NUMBER, measured({"one": 73.0}))
    system = SystemSources("A system", ["Avg", "STS12"], [(STUDY, "a kind")], known)
    text = show(evidence.PAGE, REPORT, {"systems": [system], "conclusion": "a conclusion"})
    return {
        "lede": part(text, '<p class="lede">', "</p>"),
        "description": part(text, '<meta name="description" content="', '"'),
        "summary": plain(part(text, "<summary><span", "</summary>").partition(">")[2]),
        "rows": rows_in(part(text, 'aria-label="Studies of', "</table>")),
        "link": re.findall(r'<a href="([^"]+)" rel="noreferrer">', text),
    }


def audit_on_its_page() -> list[list[str]]:
    difference = CodeDeviation(
        about="a topic", paper="in the paper", code="in the code", ours="here", switch="a.switch",
        choices="a | b", variants=["a-variant"], against="another", effect="an effect", tests=["test_a"],
    )  # fmt: skip
    made = MethodAudit(method="m", title="M", preset="released", opposite="other", differences=[difference])
    values = {"audits": [made], "measure": partial(audit.measure, runs=[]), "conclusion": "c"}
    return rows_in(show(audit.PAGE, REPORT, values))


def card() -> dict[str, Any]:
    values = {
        name: f"the {name}" for name in (
            "header", "name", "pooling", "max_length", "commit", "plan", "origin", "origin_licence", "corpus",
            "corpus_licence", "no_mteb",
        )
    }  # fmt: skip
    flags: dict[str, Any] = {"reported": {"STSB": 77.5}, "mteb": [], "dirty": False, "pooler": False}
    text = render_card(
        [run.result for run in RUNS.values()], settings={"a.name": 5}, values={**values, **flags}
    )
    return {
        "head": text.splitlines()[:5],
        "about": part(text, "\n\n", ".\n"),
        "scores": [line for line in text.splitlines() if line.startswith("| STS")],
        "reported": part(text, "Reported by the paper (x 100): ", "\n"),
        "chosen": part(text, "weights of seed ", ", not"),
        "protocol": [line[2:] for line in text.splitlines() if line.startswith("- ")],
        "settings": [line for line in text.splitlines() if line.startswith("| a.name")],
        "rebuild": part(text, "```sh\n", "\n```").splitlines(),
        "runs": [line for line in text.splitlines() if "e1c0de" in line],
        "foot": text.partition("Data (sha256): ")[2].split("\n"),
    }


def records() -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv([TABLE]))))[:2]


def losses(folder: Path) -> list[dict[str, Any]]:
    (folder / "log").write_text(
        json.dumps({"step": 4, "loss": 0.25, "learning_rate": 0.125, "other": 9}) + "\n"
    )
    return losses_of(folder / "log")


def picture() -> dict[str, str]:
    text = show_paper(REPORT, replace(PAPERS[0], charts={TABLE.key: CHART}))
    shown = part(text, '<figure class="chart" id="figure-a-key">', "</figure>")
    drawn = re.findall(r'class="drawing (\w+)">(<\w+/>)', shown)
    return {**CHART.files, "caption": plain(part(shown, "<figcaption>", "</figcaption>")), **dict(drawn)}


def strip_on_the_page() -> list[tuple[str, str]]:
    first = part(show_paper(REPORT, PAPERS[0]), 'id="toy-table1--row-title--first-key"', "</td>")
    return re.findall(r'<path class="([^"]+)" d="([^"]+)"', first)


def row_of(text: str, name: str) -> str:
    """Returns the first line of a text that has a name."""
    return next(line for line in text.splitlines() if (name in line and "&" in line) or f"| {name}" in line)


def text_forms() -> dict[str, Any]:
    markdown, latex, terminal = to_markdown(TABLE), to_latex(TABLE), to_terminal(TABLE)
    head, ours, published = (row_of(latex, name) for name in ("System", "Row title", "published"))
    return {
        "markdown": [line for line in markdown.splitlines() if line.startswith(("|", "- ", "## "))],
        "latex": [
            head,
            ours,
            published,
            *re.findall(r"^% (?:runs|toy|no).*|\\label.*|\\caption\{[^.]*", latex, re.M),
        ],
        "latex groups": re.findall(r"textit\{(\w group)\}", latex),
        "terminal": [" ".join(line.split()) for line in terminal.splitlines() if line.strip()],
        "summary": to_summary({TABLE.key: TABLE}, ["a problem"], notes=["a note"]).split("\n\n"),
    }
