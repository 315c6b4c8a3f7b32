"""Every declared file that a command reads, damaged in every way: a one-line error quickly, or a result."""

import os
import shutil
from pathlib import Path

import pytest

from tests.faults.corruptions import ending_of
from tests.faults.small_project import ROOT, write_project
from tests.faults.yaml_damage import damaged

pytestmark = pytest.mark.thorough
VERIFY = ["verify", "una/table1", "BERT-base UNA", "Avg"]
PLAN = ["plan", "small", "--dry-run"]
FILES: dict[str, list[str]] = {
    "params.yaml": ["list", "runs"],
    "./params.yaml": ["launch", "--dry-run"],
    "recipes/small.yaml": PLAN,
    "recipes/backbones.yaml": PLAN,
    "recipes/corpora.yaml": PLAN,
    "recipes/blocks.yaml": PLAN,
    "leaderboards/hours.yaml": PLAN,
    "leaderboards/tables/una-table1.yaml": VERIFY,
    "leaderboards/published/una.yaml": VERIFY,
    "leaderboards/evidence/una.yaml": VERIFY,
    "leaderboards/evidence/scope.yaml": VERIFY,
    "leaderboards/first_losses.yaml": ["check", "--only", "losses"],
    "leaderboards/audit/una.yaml": ["report"],
    "leaderboards/answers.yaml": ["report"],
    "leaderboards/claims/una.yaml": ["report"],
}
"""Each kind of declared file with a command that reads it."""
SAMPLE = 30


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with its declarations and the recorded scores."""
    folder = write_project(tmp_path / "project")
    for name in ("leaderboards", "recipes"):
        whole = (folder / name).resolve()
        (folder / name).unlink()
        shutil.copytree(whole, folder / name)
    shutil.copytree(ROOT / "tests/harness/report/recorded/scores", folder / "reports/scores")
    shutil.copy(ROOT / "params.yaml", folder)
    for name in ("dvc.yaml", "README.md"):
        shutil.copy(ROOT / name, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    monkeypatch.setattr("harness.commands.check.scoring_problems", list)
    monkeypatch.setattr("harness.commands.check.measured_runs", lambda params: [])
    monkeypatch.setattr("harness.stages.report.render_pages", lambda content: {})
    return folder


QUICK = [name for name, words in FILES.items() if words[0] in ("list", "plan")]
CASES = [
    *((name, SAMPLE) for name in QUICK),
    *(pytest.param(name, 1, marks=pytest.mark.slow) for name in FILES),
]


@pytest.mark.parametrize(("name", "every"), CASES)
def test_a_declared_file_that_is_damaged_in_any_way_is_one_line(
    project: Path, name: str, every: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the kinds of damage one in `every` is tried."""
    wrong, tried = [], 0
    for kind in damaged(project / name, every=every, start=len(name) % every):
        tried += 1
        problem = ending_of(FILES[name], capsys, accepted=(0, 1)).problem
        wrong += [f"{name}, {kind}: {problem}"] if problem else []
        os.chdir(project)
    assert tried >= 40 // every
    assert not wrong, "\n".join(wrong)
