"""The lines that `sentbench data fetch` and `data check` print."""

from pathlib import Path

import pytest

from harness.commands.data import check_sources, fetch_sources
from harness.data.sources import SOURCES
from harness.errors import InputError
from methods.core import progress
from tests.harness.data.small_sources import TEXT, WHEEL, sha256, write_wheel
from tests.support.sources import made_up_source


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two sources: `pinned` in a wheel, `loose` in a mirror and without a known hash."""
    write_wheel(tmp_path / ".cache" / "wheels" / WHEEL, {"tiny_words/words.txt": TEXT})
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "words.txt").write_bytes(TEXT)
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text("plan: [small]\n")
    monkeypatch.setenv("SENTBENCH_MIRROR", "mirror")
    wheel = {"wheel": "tiny-words==1.0", "folder": "tiny_words", "sha256": {"words.txt": sha256(TEXT)}}
    for name, providers in {"pinned": {"embedded": wheel}, "loose": {"mirror": {}}}.items():
        monkeypatch.setitem(SOURCES, name, made_up_source(providers, name=name))
    return ["pinned", "loose"]


def test_a_fetched_source_is_a_line_and_check_stops_at_the_first_that_is_not_whole(
    two: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    fetch_sources(two, directory=Path("data"), providers=None)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines] == [["pinned", "embedded", "3"], ["loose", "mirror", "3"]]
    check_sources(two, directory=Path("data"))
    assert capsys.readouterr().out.splitlines() == lines
    Path("data/pinned/words.txt").write_bytes(b"one\ntwo\n")
    with pytest.raises(InputError, match=r"data/pinned/words\.txt: ends after line 2, expected 3 lines"):
        check_sources(two, directory=Path("data"))
    assert capsys.readouterr().out == ""


def test_a_bar_is_drawn_below_the_lines_of_long_work_alone(
    two: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch_sources(two, directory=Path("data"), providers=None)
    lines, bar = capsys.readouterr()
    assert (len(lines.splitlines()), bar) == (2, "")
    monkeypatch.setattr(progress, "SOON", 0.0)
    monkeypatch.setattr(progress, "PERIOD", 0.0)
    check_sources(two, directory=Path("data"))
    shown, bar = capsys.readouterr()
    assert shown == lines
    assert "1/2" in bar
    assert "2/2" in bar


def test_a_source_that_cannot_be_had_stops_no_other_and_each_missing_one_is_named_with_its_reason(
    two: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = made_up_source({"mirror": {"folder": "gone", "obtain": "copy it"}}, name="gone")
    monkeypatch.setitem(SOURCES, "gone", gone)
    with pytest.raises(InputError, match=r"^2 of 3 sources are missing: gone, pinned$"):
        fetch_sources(["gone", "pinned", "loose"], directory=Path("data"), providers=["mirror"])
    assert Path("data/loose/words.txt").read_bytes() == TEXT
    assert [path.name for path in Path("data").iterdir()] == ["loose"]
    first, second = capsys.readouterr().err.splitlines()
    assert "mirror/gone/words.txt does not exist" in first
    assert "copy it" in first
    assert second.startswith("missing source pinned: not in mirror (it exists in embedded only)")
