"""The lines that `sentbench data fetch` and `data check` print."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.data.sources import SOURCES
from harness.errors import InputError
from harness.stages.data import check_sources, fetch_sources
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


def test_one_line_a_source(two: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    fetch_sources(two, directory=Path("data"), providers=None)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [
        ["pinned", "embedded", "3", "rows", "14", "bytes"],
        ["loose", "mirror", "3", "rows", "14", "bytes"],
    ]
    check_sources(two, directory=Path("data"))
    assert capsys.readouterr().out.splitlines() == lines


def test_check_stops_at_the_first_source_that_is_not_whole(
    two: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    fetch_sources(two, directory=Path("data"), providers=None)
    Path("data/pinned/words.txt").write_bytes(b"one\ntwo\n")
    capsys.readouterr()
    with pytest.raises(InputError, match=r"data/pinned/words\.txt: ends after line 2, expected 3 lines"):
        check_sources(two, directory=Path("data"))
    assert capsys.readouterr().out == ""


def test_a_source_that_cannot_be_had_stops_no_other_and_each_missing_one_is_named_with_its_reason(
    two: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        SOURCES, "gone", made_up_source({"mirror": {"folder": "gone", "obtain": "copy it"}}, name="gone")
    )
    with pytest.raises(InputError, match=r"^2 of 3 sources are missing: gone, pinned$"):
        fetch_sources(["gone", "pinned", "loose"], directory=Path("data"), providers=["mirror"])
    assert Path("data/loose/words.txt").read_bytes() == TEXT
    assert [path.name for path in Path("data").iterdir()] == ["loose"]
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 1
    first, second = said.err.splitlines()
    assert first.startswith(
        "missing source gone: not in mirror (mirror: mirror/gone/words.txt does not exist;"
    )
    assert "copy it" in first
    assert second.startswith("missing source pinned: not in mirror (it exists in embedded only)")


def test_a_single_source_that_cannot_be_had_is_one_line(
    two: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match=r"^source pinned: not in mirror"):
        fetch_sources(["pinned"], directory=Path("data"), providers=["mirror"])
    assert capsys.readouterr() == ("", "")


def test_wrong_names_are_refused_before_anything_is_fetched(two: list[str]) -> None:
    with pytest.raises(InputError, match="source 'nothing' is not in the sources table"):
        fetch_sources([*two, "nothing"], directory=Path("data"), providers=None)
    with pytest.raises(InputError, match="provider 'moon' is not known"):
        fetch_sources(two, directory=Path("data"), providers=["moon"])
    with pytest.raises(InputError, match=r"revision '\.\./main'"):
        fetch_sources(two, directory=Path("data"), providers=None, revision="../main")
    assert not Path("data").exists()
