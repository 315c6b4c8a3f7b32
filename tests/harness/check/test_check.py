"""`sentbench check`: bands come from committed scores and are two-sided; a missing score fails too."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.paths import SCORES
from harness.report.formats.markdown import annotation
from harness.results.agreement import FLOOR, Band, bands_of, outside
from harness.results.schema import ResultFile
from harness.results.store import read_results
from tests.support.git import commit

ROOT = Path(__file__).parents[3]
RECORDED = Path(__file__).parents[1] / "report/recorded/scores"
KEY = ("whitening", "bert", "STSB", "spearman", "all", "best-dev")
PARTS = ("sources", "backbones", "corpora", "teachers", "reads", "runs")
"""The keys of a plan that name its stages."""
COMMITTED = read_results((ROOT / SCORES).glob("*.json"))


def result(points: float, seed: int = 0) -> ResultFile:
    """Returns the first recorded result with another seed and one score of KEY."""
    raw: dict[str, Any] = COMMITTED[0].model_dump(by_alias=True)
    raw["run"] |= {"key": f"{KEY[0]}__{KEY[1]}__s{seed}", "id": KEY[0], "backbone": KEY[1], "seed": seed}
    names = dict(zip(("task", "metric", "setting", "selection"), KEY[2:], strict=True))
    raw["scores"] = [{**names, "value": points / 100, "n": 9}]
    return ResultFile.model_validate(raw)


def results(*points: float) -> list[ResultFile]:
    return [result(value, seed) for seed, value in enumerate(points)]


def test_a_band_is_five_standard_deviations_or_half_a_point_whichever_is_more() -> None:
    """Seeds 60, 61, 62: mean 61, sample sd 1, band 56 to 66. One seed: 60 -+ 0.5."""
    assert bands_of(results(60.0, 61.0, 62.0)) == {KEY: Band(56.0, 66.0)}
    assert bands_of(results(60.0)) == {KEY: Band(59.5, 60.5)}


def test_committed_scores_raise_no_alarm_and_every_one_that_moves_past_its_band_does() -> None:
    """A shift by the width of a band leaves it wherever the score was; one of 0.0005 points does not."""
    bands = bands_of(COMMITTED)
    assert len(bands) > 200
    assert outside(bands, COMMITTED) == []
    assert outside(bands, [moved(one, dict.fromkeys(bands, FLOOR / 1000)) for one in COMMITTED]) == []
    watched = sum(key in bands for one in COMMITTED for key in keys(one))
    for sign, word in ((1, "too high"), (-1, "too low")):
        points = {key: sign * (band.high - band.low) for key, band in bands.items()}
        found = outside(bands, [moved(one, points) for one in COMMITTED])
        assert len(found) == watched
        assert all(line.startswith(word) for line in found)


def keys(one: ResultFile) -> list[tuple[str, ...]]:
    return [
        (one.run.id, one.run.backbone, score.task, score.metric, score.setting, score.selection)
        for score in one.scores
    ]


def moved(one: ResultFile, points: Mapping[tuple[str, ...], float]) -> ResultFile:
    """Returns a result whose scores are so many points higher."""
    scores = [
        score.model_copy(update={"value": score.value + points.get(key, 0.0) / 100})
        for key, score in zip(keys(one), one.scores, strict=True)
    ]
    return one.model_copy(update={"scores": scores})


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with committed scores and reference losses, and no run to measure."""
    parts = "\n".join(f"{part}: {{}}" for part in PARTS)
    (tmp_path / "params.yaml").write_text(f"plan: [made-up]\nproviders: [embedded]\n{parts}\n")
    (tmp_path / "leaderboards").mkdir()
    (tmp_path / "leaderboards/reference_losses.yaml").write_text("runs: {simcse: {loss: [1.0, 0.1]}}\n")
    shutil.copytree(RECORDED, tmp_path / SCORES)
    commit(tmp_path, "all")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("harness.commands.check.scoring_problems", list)
    return tmp_path


def test_a_check_is_one_object_or_annotations_with_its_exit_code(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--json"]) == 0
    good = json.loads(capsys.readouterr().out)
    assert (good["problems"], good["runs"]) == ([], 4)
    next(SCORES.glob("whitening*.json")).unlink()
    assert main(["check", "--json"]) == 1
    problems = json.loads(capsys.readouterr().out)["problems"]
    assert problems
    assert all(problem.startswith("missing  whitening") for problem in problems)
    assert main(["check", "--format", "github"]) == 1
    *lines, summary = capsys.readouterr().out.splitlines()
    assert lines == [annotation("error", "sentbench check", problem) for problem in problems]
    assert f"{len(problems)} problems" in summary


def test_scores_are_compared_with_those_of_another_state(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A moved score that is committed agrees with HEAD; the state before it still tells."""
    shutil.copytree(SCORES, "before")
    path = next(SCORES.glob("whitening*.json"))
    raw = json.loads(path.read_text())
    for score in raw["scores"]:
        score["value"] += 0.02
    path.write_text(json.dumps(raw))
    assert main(["check"]) == 1
    commit(project, "all")
    assert main(["check"]) == 0
    capsys.readouterr()
    for before in ("before", "HEAD~1"):
        assert main(["check", "--against", before]) == 1
        assert "too high whitening" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--json", "--format", "github"], "drop one"),
        (["--measure", "--json"], "drop it"),
        (["--against", "nowhere"], "neither a folder of scores nor a git revision"),
    ],
)
def test_options_of_a_check_that_are_wrong_are_refused(
    project: Path, capsys: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    assert main(["check", *options]) == 2
    assert told in capsys.readouterr().err
