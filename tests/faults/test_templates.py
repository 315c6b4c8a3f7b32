"""A damaged template, style or script of the pages is a one-line error, without waiting."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.report.formats.templates import TEMPLATES
from harness.report.pages import render
from harness.report.pages.content import Report
from tests.faults.corruptions import SHAPES, no_waiting
from tests.harness.report.shown import show_index

ITSELF = "{% include 'index.html.j2' %}", "{% extends 'index.html.j2' %}"
WRONG = *ITSELF, "{% include 'nowhere' %}", "{% if %}", "{{ unknown }}", "{{ report.unknown() }}"
DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    **{name: SHAPES[name] for name in ("not UTF-8", "a folder", "a pipe", "a loop of links")},
}
WRITTEN = {text: partial(Path.write_text, data=text) for text in WRONG}
CASES = [
    *((file, name) for file in ("layout.html.j2", "page.css", "cells.js") for name in DAMAGES),
    *((file, text) for file in ("index.html.j2", "layout.html.j2") for text in WRITTEN),
]


@pytest.mark.parametrize(("file", "damage"), CASES)
def test_a_damaged_template_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, damage: str
) -> None:
    folder = shutil.copytree(TEMPLATES, tmp_path / "templates")
    monkeypatch.setattr(render, "TEMPLATES", folder)
    {**DAMAGES, **WRITTEN}[damage](folder / file)
    with no_waiting(), pytest.raises(InputError, match="restore it from the repository") as caught:
        show_index(Report("T", "abc"))
    assert len(str(caught.value).splitlines()) == 1
