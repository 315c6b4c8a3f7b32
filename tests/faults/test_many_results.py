"""Commands keep only the scores they need: all scores of 20,000 result files take a gigabyte."""

import json
from pathlib import Path

import pytest

from harness.cli import main
from harness.evidence import further
from harness.io.files import write_record
from tests.faults.small_project import ROOT

pytestmark = pytest.mark.thorough
SHARES = {
    "report": (2, 1 / 2),
    "compare simcse-small pcl-small --no-pairs": (2, 1 / 10),
    "verify pcl/table2 SimCSE Avg": (0, 0),
}
"""Command -> how often it reads all files (once for the recipes), and the largest share of scores it keeps.

No run of the plan is of a system of pcl/table2.
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the committed results, and each once more under a seed that is not planned."""
    for name in ("leaderboards", "recipes", "params.yaml", "harness", "methods"):
        (tmp_path / name).symlink_to(ROOT / name)
    scores = tmp_path / "reports/scores"
    scores.mkdir(parents=True)
    for path in (ROOT / "reports/scores").glob("*.json"):
        result = json.loads(path.read_text())
        del result["digest"]
        for seed in (result["run"]["seed"], 100 + result["run"]["seed"]):
            run = result["run"] | {"seed": seed, "key": f"{path.stem.rpartition('__s')[0]}__s{seed}"}
            write_record(scores / f"{run['key']}.json", result | {"run": run})
    monkeypatch.setattr("harness.stages.report.render_pages", lambda content: {})
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", SHARES)
def test_scores_that_are_not_needed_are_not_kept(
    project: Path, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, slim = [], further.slim
    monkeypatch.setattr(further, "slim", lambda *given: kept.append(slim(*given)) or kept[-1])
    assert main(words.split()) == 0
    scores = sum(len(json.loads(path.read_text())["scores"]) for path in project.glob("reports/scores/*"))
    read, most = SHARES[words]
    assert len(kept) == read * len(list(project.glob("reports/scores/*")))
    assert sum(len(result.scores) for result in kept) <= most * scores
