"""The made plan that the report's benchmark writes up, and what stops or shortens that benchmark."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import pages
from benchmarks.pages import shown_scores, write_project
from benchmarks.runner import Disagreement
from harness.paths import CURVES, PARAMS, SCORES
from harness.plan.entries import read_params
from harness.report.runs import read_curve
from harness.results.store import read_results
from harness.tasks.registry import members
from tests.support.chromium import installed_chromium

RUNS = 12


@pytest.fixture
def browser() -> str:
    pytest.importorskip("playwright.sync_api", reason="browser tests need the extra `browser`")
    found = installed_chromium()
    if found is None:
        pytest.skip("no Chromium on this machine")
    return found


def test_made_runs_are_the_plans_and_have_every_score_that_a_table_shows_of_their_tasks(
    tmp_path: Path,
) -> None:
    write_project(tmp_path, RUNS)
    params = read_params(tmp_path / PARAMS)
    results, shown = read_results((tmp_path / SCORES).glob("*.json")), shown_scores()
    assert {result.run.key for result in results} == set(params.runs)
    assert len(results) == RUNS
    for result in results:
        run = params.runs[result.run.key]
        assert result.run.recipe == run.recipe_hash()
        tasks = {task for name in run.tasks for task in members(name)}
        found = {(score.task, score.metric, score.setting) for score in result.scores}
        assert found == {score for score in shown if score[0] in tasks} != set()
        curve = read_curve(tmp_path / CURVES / f"{result.run.key}.json", run.seed)
        assert len(curve) == (0 if run.train["steps"] == 0 else 21)


def test_a_plan_is_made_the_same_again_and_a_longer_one_begins_with_it(tmp_path: Path) -> None:
    for name, wanted in (("one", 3), ("two", 3), ("more", 4)):
        (tmp_path / name).mkdir()
        write_project(tmp_path / name, wanted)
    one, two, more = (
        {path.name: path.read_bytes() for path in (tmp_path / name / SCORES).iterdir()}
        for name in ("one", "two", "more")
    )
    assert one == two
    assert one.items() < more.items()


def test_a_report_of_other_runs_stops_the_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "output_of", lambda command, folder: "x.html: 9 tables, 12 runs, 0 problems\n")
    assert pages.write_report(tmp_path, RUNS) == pytest.approx(0, abs=0.01)
    for told in ("x.html: 9 tables, 12 runs, 1 problems\n", "x.html: 9 tables, 112 runs, 0 problems\n"):
        monkeypatch.setattr(pages, "output_of", lambda command, folder, told=told: told)
        with pytest.raises(Disagreement, match="expected a report of 12 runs without problems"):
            pages.write_report(tmp_path, RUNS)


def test_without_a_browser_the_first_paint_is_left_out_with_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert pages.paint_time(tmp_path / "index.html", 1) == []
    assert "first paint left out" in capsys.readouterr().out


def test_first_paint_is_read_from_the_browser_once_a_round(tmp_path: Path, browser: str) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>words", encoding="utf-8")
    painted = pages.first_paints(page, browser, 2)
    assert len(painted) == 2
    assert all(0 < seconds < pages.PATIENCE / 1e3 for seconds in painted)


def test_a_page_without_content_stops_the_benchmark(
    tmp_path: Path, browser: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PATIENCE", 100)
    page = tmp_path / "page.html"
    page.write_text("<p>", encoding="utf-8")
    with pytest.raises(Disagreement, match="has not painted"):
        pages.first_paints(page, browser, 1)
