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
    for name, tiers in {"pinned": {"embedded": wheel}, "loose": {"mirror": {}}}.items():
        monkeypatch.setitem(SOURCES, name, made_up_source(tiers, name=name))
    return ["pinned", "loose"]


def test_one_line_a_source_and_one_more_for_a_hash_nobody_pinned(
    two: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    fetch_sources(two, directory=Path("data"), tiers=None)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[:2]] == [
        ["pinned", "embedded", "3", "rows", "14", "bytes"],
        ["loose", "mirror", "3", "rows", "14", "bytes"],
    ]
    assert lines[2:] == [
        f"  words.txt: sha256 {sha256(TEXT)} is not in the sources table; recorded in data/loose/source.json"
    ]
    check_sources(two, directory=Path("data"))
    assert capsys.readouterr().out.splitlines() == lines[:2]


def test_check_stops_at_the_first_source_that_is_not_whole(
    two: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    fetch_sources(two, directory=Path("data"), tiers=None)
    Path("data/pinned/words.txt").write_bytes(b"one\ntwo\n")
    capsys.readouterr()
    with pytest.raises(InputError, match=r"data/pinned/words\.txt: ends after line 2, expected 3 lines"):
        check_sources(two, directory=Path("data"))
    assert capsys.readouterr().out == ""


def test_tiers_are_passed_on(two: list[str]) -> None:
    with pytest.raises(InputError, match="source pinned: not in mirror"):
        fetch_sources(two, directory=Path("data"), tiers=["mirror"])
    with pytest.raises(InputError, match="source 'nothing' is not in the sources table"):
        fetch_sources(["nothing"], directory=Path("data"), tiers=None)
