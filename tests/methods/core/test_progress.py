"""Progress bars: one function draws all of them, on a terminal and in a log."""

import ast
import io
import sys
from pathlib import Path

import pytest

from methods.core import progress
from methods.core.progress import progress_bar

ROOT = Path(__file__).parents[3]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "least"), [(Terminal(), 0.1), (io.StringIO(), progress.PERIOD)])
def test_a_terminal_is_redrawn_often_and_a_log_gets_a_state_now_and_then(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, least: float
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "SOON", 0.0)
    with progress_bar(4, "rows") as bar:
        assert bar.mininterval == least
        bar.update(3)
        bar.update()
    drawn = [text for text in stream.getvalue().split("\r") if text.strip()]
    assert "4/4" in drawn[-1]
    assert drawn[-1].endswith("rows/s]\n")
    assert not any("3/4" in text for text in drawn), "both updates lie within one interval"


def test_short_work_and_a_bar_that_is_not_shown_print_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for shown, soon in ((True, 60.0), (False, 0.0)):
        monkeypatch.setattr(sys, "stderr", stream := Terminal())
        monkeypatch.setattr(progress, "SOON", soon)
        with progress_bar(4, "rows", shown=shown) as bar:
            bar.update(4)
        assert stream.getvalue() == ""


def test_every_bar_of_the_project_is_drawn_by_this_function() -> None:
    using = {
        str(path.relative_to(ROOT))
        for package in ("harness", "methods", "sentbench")
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tqdm")
        or (isinstance(node, ast.Import) and any(name.name.split(".")[0] == "tqdm" for name in node.names))
    }
    assert using == {"methods/core/progress.py"}


def test_three_seconds_of_work_draw_nothing_and_a_log_gets_a_state_every_ten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress_bar(4, "rows") as bar:
        assert (bar.delay, bar.mininterval, bar.total, bar.unit) == (3.0, 10.0, 4, " rows")
        assert not bar.disable
