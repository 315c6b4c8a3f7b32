"""Pictures are drawn once each; a declaration without a drawing is one line."""

from pathlib import Path
from typing import Any

import pytest
import vl_convert

from harness.errors import InputError
from harness.report import drawing

SPEC = {"data": {"values": [{"a": 1}]}, "mark": "point", "encoding": {"x": {"field": "a"}}}


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
    drawn: list[Any] = []

    def draw(spec: Any, **options: Any) -> str:
        drawn.append(spec)
        return "<svg>another</svg>"

    monkeypatch.setattr(vl_convert, "vegalite_to_svg", draw)
    assert drawing.svg_of(SPEC, "k") == first
    other: dict[str, Any] = {**SPEC, "mark": "bar"}
    assert drawing.svg_of(other, "k") == "<svg>another</svg>"
    assert drawn == [other]


@pytest.mark.parametrize("release", ["1.9.0", "1.9.1", "1.10.0", "2.9.0"])
def test_a_picture_of_another_release_is_drawn_again(release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(vl_convert, "vegalite_to_svg", lambda spec, **options: drawn.append("") or "<svg/>")
    for name in ("1.9.0.post1", release, release):
        monkeypatch.setattr(drawing, "version", lambda package, name=name: name)
        drawing.svg_of(SPEC, "k")
    assert len(drawn) == 2


def test_an_invalid_drawing_is_one_line_and_the_next_is_drawn(kept: Path) -> None:
    with pytest.raises(InputError, match=r"^picture wrong: ") as caught:
        drawing.svg_of({"mark": "nothing"}, "wrong")
    assert "\n" not in str(caught.value)
    assert drawing.svg_of(SPEC, "k").startswith("<svg")
    assert len(list(kept.iterdir())) == 1
