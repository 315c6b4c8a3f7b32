"""Bands are two-sided: too high fails like too low, and a band without a score fails too."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from harness.cli import main
from harness.errors import InputError
from harness.paths import TABLES
from harness.report.formats.annotations import annotation
from harness.results.bands import band, outside, read_bands

ROOT = Path(__file__).parents[3]
PARTS = ("sources", "backbones", "corpora", "teachers", "reads", "runs")
"""The keys of a plan that name its stages."""
NAMES = {
    "id": "simcse",
    "backbone": "tiny",
    "task": "STSB",
    "metric": "spearman",
    "setting": "all",
    "selection": "best-dev",
}


def frame(*points: float) -> pd.DataFrame:
    return pd.DataFrame([{**NAMES, "seed": seed, "value": value / 100} for seed, value in enumerate(points)])


def test_a_band_is_five_spreads_or_half_a_point_whichever_is_more() -> None:
    """Seeds 60, 61, 62: mean 61, sample sd 1, band 56 to 66. One seed: 60 -+ 0.5."""
    wide = band(NAMES, frame(60.0, 61.0, 62.0))
    assert (wide.mean, wide.low, wide.high, wide.runs) == (61.0, 56.0, 66.0, 3)
    narrow = band(NAMES, frame(60.0))
    assert (narrow.low, narrow.high) == (59.5, 60.5)


@pytest.mark.parametrize(("score", "word"), [(55.9, "too low"), (66.1, "too high")])
def test_scores_outside_on_either_side_are_named(score: float, word: str) -> None:
    bands = [band(NAMES, frame(60.0, 61.0, 62.0))]
    assert outside(bands, frame(60.0, 61.0)) == []
    (problem,) = outside(bands, frame(60.0, score))
    assert problem.startswith(word)
    assert "seed 1" in problem


def test_a_band_without_a_score_is_a_problem() -> None:
    (problem,) = outside([band({**NAMES, "task": "STS12"}, frame(60.0))], frame(60.0))
    assert problem.startswith("missing")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "not YAML"),
        ("bands: []", "bands is .*at least 1 item"),
        ("bands:\n- {id: a}", "key bands.0.backbone is missing"),
        ("", "its top level is null"),
        ("bands: [{}]\nbands: []", "line 2: key 'bands' stands twice"),
    ],
)
def test_band_files_that_are_off_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "b.yaml").write_text(text)
    with pytest.raises(InputError, match=message):
        read_bands(tmp_path / "b.yaml")
    with pytest.raises(InputError, match="no such file"):
        read_bands(tmp_path / "none.yaml")


def test_a_band_upside_down_is_refused(tmp_path: Path) -> None:
    entry: dict[str, Any] = {**NAMES, "runs": 1, "mean": 1.5, "low": 2, "high": 1}
    (tmp_path / "b.yaml").write_text("bands:\n- {" + ", ".join(f"{k}: {v}" for k, v in entry.items()) + "}\n")
    with pytest.raises(InputError, match="low 2 above high 1"):
        read_bands(tmp_path / "b.yaml")


def test_bands_that_are_not_utf8_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_bytes(b"bands: \xff")
    with pytest.raises(InputError, match="byte 7 is not UTF-8"):
        read_bands(tmp_path / "b.yaml")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with the recorded scores, the bands that they lie in, and no run to probe."""
    parts = "\n".join(f"{part}: {{}}" for part in PARTS)
    (tmp_path / "params.yaml").write_text(f"plan: [made-up]\ntiers: [embedded]\n{parts}\n")
    (tmp_path / TABLES.parent).mkdir()
    (tmp_path / TABLES).symlink_to(ROOT / TABLES)
    monkeypatch.setattr("harness.commands.check.probe_names", lambda params: ["statistics"])
    shutil.copytree(Path(__file__).parents[1] / "report/recorded/scores", tmp_path / "reports/scores")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("harness.commands.check.sentinel_problems", list)
    assert main(["check", "--measure"]) == 0
    return tmp_path


def test_a_check_is_one_object_or_annotations_with_its_exit_code(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["check", "--json"]) == 0
    good = json.loads(capsys.readouterr().out)
    assert (good["problems"], good["runs"]) == ([], 4)
    next(Path("reports/scores").glob("whitening*.json")).unlink()
    assert main(["check", "--json"]) == 1
    problems = json.loads(capsys.readouterr().out)["problems"]
    assert problems
    assert all(problem.startswith("missing  whitening") for problem in problems)
    assert main(["check", "--format", "github"]) == 1
    *lines, summary = capsys.readouterr().out.splitlines()
    assert lines == [annotation("error", "sentbench check", problem) for problem in problems]
    assert f"{len(problems)} problems" in summary


@pytest.mark.parametrize("options", [["--json", "--format", "github"], ["--measure", "--json"]])
def test_options_of_a_check_that_do_not_go_together_are_refused(
    project: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    before = Path("leaderboards/bands.yaml").read_bytes()
    assert main(["check", *options]) == 2
    assert "drop" in capsys.readouterr().err
    assert Path("leaderboards/bands.yaml").read_bytes() == before
