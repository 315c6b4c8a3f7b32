"""Pictures are drawn by another process, once each; if it cannot run, the report has no pictures."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.report import drawing

pytest.importorskip("vl_convert", reason="pictures need the extra `report`")
SPEC = {"data": {"values": [{"a": 1}]}, "mark": "point", "encoding": {"x": {"field": "a"}}}
LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))
from pathlib import Path
from harness.report import drawing
drawing.cache = lambda: Path("here")
spec = {"data": {"values": [{"a": 1}]}, "mark": "point"}
print([drawing.svg_of(spec, "k") for _ in range(2)])
"""


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(drawing, "cache", lambda: tmp_path)
    return tmp_path / "pictures"


def test_an_equal_declaration_is_drawn_once_and_another_again(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = drawing.svg_of(SPEC, "k")
    assert first.startswith("<svg")
    (file,) = kept.iterdir()
    assert file.read_text(encoding="utf-8") == first
    asked: list[str] = []

    def draw(line: str) -> dict[str, str]:
        asked.append(line)
        return {"svg": "<svg>another</svg>"}

    monkeypatch.setattr(drawing, "_pen", lambda: type("Pen", (), {"draw": staticmethod(draw)}))
    assert drawing.svg_of(SPEC, "k") == first
    other: dict[str, Any] = {**SPEC, "mark": "bar"}
    assert drawing.svg_of(other, "k") == "<svg>another</svg>"
    assert len(asked) == 1


def test_an_invalid_drawing_is_one_line_and_the_next_is_drawn(kept: Path) -> None:
    with pytest.raises(InputError, match=r"^picture wrong: "):
        drawing.svg_of({"mark": "nothing"}, "wrong")
    assert drawing.svg_of(SPEC, "k").startswith("<svg")
    assert len(list(kept.iterdir())) == 1


def test_a_memory_limit_disables_pictures_with_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(Path(__file__).parents[3])},
    )  # fmt: skip
    assert done.stdout == "['', '']\n"
    assert done.stderr.count("\n") == 1
    assert "pages have none" in done.stderr
    assert not (tmp_path / "here").exists()


def test_a_drawing_process_that_was_killed_is_one_line_and_gives_no_pictures(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pen = drawing._Pen()
    pen.process.kill()
    pen.process.wait()
    assert [pen.draw("{}") for _ in range(2)] == [{"svg": ""}] * 2
    assert capsys.readouterr().err.count("\n") == 1
