"""A damaged template, style or script of the pages is a one-line error."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.report.formats.templates import TEMPLATES
from harness.report.pages import render
from harness.report.pages.content import Report
from tests.faults.corruptions import insert_foreign_bytes
from tests.harness.report.shown import show_index

ITSELF = "{% include 'index.html.j2' %}", "{% extends 'index.html.j2' %}"
WRONG = *ITSELF, "{% include 'nowhere' %}", "{% if %}", "{{ unknown }}", "{{ report.unknown() }}"
DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "not UTF-8": insert_foreign_bytes,
    **{text: partial(Path.write_text, data=text) for text in WRONG},
}
FILES = ("layout.html.j2", "page.css", "cells.js")
CASES = [
    *((file, kind) for file in FILES for kind in ("missing", "not UTF-8")),
    *((file, text) for file in ("index.html.j2", "layout.html.j2") for text in WRONG),
]


@pytest.mark.parametrize(("file", "damage"), CASES)
def test_a_damaged_template_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, damage: str
) -> None:
    folder = shutil.copytree(TEMPLATES, tmp_path / "templates")
    monkeypatch.setattr(render, "TEMPLATES", folder)
    DAMAGES[damage](folder / file)
    with pytest.raises(InputError, match="restore it from the repository") as caught:
        show_index(Report("T", "abc"))
    assert len(str(caught.value).splitlines()) == 1
