"""The scale of a report follows from its runs."""

import shutil
from pathlib import Path

import pytest

from harness.cli import main
from harness.evidence.store import read_result, write_result
from harness.plan.params_file import read_params
from tests.support.leaderboards import write_leaderboards

ROOT = Path(__file__).parents[3]
SCORED = ROOT / "reports/scores/simcse-small__words-50d__s0.json"
YEARS = ("STS12", "STS13", "STS14", "STS15", "STS16")
FULL, SMALL = "simcse/released@bert-base-uncased", "simcse/released@words-50d"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a small leaderboard and the committed scores of one small run."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "leaderboards").symlink_to(write_leaderboards(tmp_path / "leaderboards").resolve())
    for name in ("recipes", "harness", "methods"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    (folder / "reports/scores").mkdir(parents=True)
    shutil.copy(SCORED, folder / "reports/scores")
    monkeypatch.chdir(folder)
    return folder


SCALE = "Small-scale: one small encoder"


def report_of(project: Path, *names: str) -> tuple[str, str]:
    """Returns index.md and the page of runs of a plan; runs on BERT-base get the scores of the small run."""
    assert main(["plan", *names, "--seeds", "3"]) == 0
    small = read_result(SCORED)
    years = [small.scores[0].model_copy(update={"task": task}) for task in YEARS]
    for key, run in read_params().runs.items():
        if run.backbone_name == "bert-base-uncased":
            made = {"key": key, "backbone": run.backbone_name, "recipe": run.recipe_hash(), "seed": run.seed}
            named = small.run.model_copy(update={**made, "id": run.id, "identity": "made"})
            result = small.model_copy(update={"run": named, "scores": [*small.scores, *years]})
            write_result(project / f"reports/scores/{key}.json", result)
    assert main(["report"]) == 0
    summary, page = (project / "reports" / name for name in ("index.md", "pages/small.html"))
    return summary.read_text(), page.read_text()


def section(text: str, title: str) -> str:
    """Returns the part of a Markdown page below a title."""
    return text.partition(title)[2].partition("\n#")[0]


def test_a_report_of_full_scale_runs_shows_their_scores_without_calling_them_small(project: Path) -> None:
    summary, page = report_of(project, "baselines/simcse")
    for text in (summary, page):
        assert SCALE not in text
        assert "Small plan: regression table" not in text
        assert FULL in text.replace("<wbr>", "")
    assert FULL in section(summary, "Semantic textual similarity of the runs")
    assert not (project / "reports/tables/small.md").exists()


def test_a_report_of_both_lists_each_where_it_belongs(project: Path) -> None:
    summary, page = report_of(project, "small", "baselines/simcse")
    small, others = (
        section(summary, title) for title in ("Small plan", "Semantic textual similarity of the runs")
    )
    assert SMALL in small
    assert FULL not in small
    assert FULL in others
    assert SMALL not in others
    assert SCALE in summary
    assert SCALE in page
