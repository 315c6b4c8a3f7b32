"""`sentbench contribute` in one project and `accept` in another: a cell there has a seed more."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.identity import run_code
from harness.plan.known_runs import recipe_hashes
from harness.plan.recipes import load_recipes
from harness.report.tables.build import build_table
from harness.report.tables.model import Cell
from harness.report.tables.spec import load_specs
from harness.results.store import read_result, read_results, write_result
from harness.stages.report import evidence_without_plan

ROOT = Path(__file__).parents[3]
OWN, KEY = "simcse-small__words-50d__s0", "simcse-small__words-50d__s7"
CONTRIBUTE = ("contribute", KEY, "--out", "bundle.zip", "--name", "Anna's lab", "--may-be-cited")


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a result of seed 7 by today's recipe, run from a commit."""
    return project(tmp_path / "there", monkeypatch, {KEY: {"seed": 7, "encoder": "7" * 64}})


@pytest.fixture
def here(there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another project, with our seed 0; its leaderboards are a copy, for results are added to them."""
    found = project(tmp_path / "here", monkeypatch, {OWN: {"seed": 0, "encoder": "0" * 64}})
    monkeypatch.chdir(there)
    return found


def project(folder: Path, monkeypatch: pytest.MonkeyPatch, runs: dict[str, dict[str, Any]]) -> Path:
    (folder / "reports/scores").mkdir(parents=True)
    (folder / "leaderboards").mkdir()
    (folder / "recipes").symlink_to(ROOT / "recipes")
    for path in (ROOT / "leaderboards").iterdir():
        (folder / "leaderboards" / path.name).symlink_to(path)
    monkeypatch.chdir(folder)
    recipes = recipe_hashes(load_recipes())
    model = read_result(ROOT / f"reports/scores/{OWN}.json")
    for key, run in runs.items():
        record = model.run.model_copy(update={"key": key, "seed": run["seed"], "recipe": recipes[key]})
        provenance = model.provenance.model_copy(
            update={"git_commit": "a" * 40, "git_dirty": False, "encoder_sha256": run["encoder"]}
        )
        result = model.model_copy(update={"run": record, "provenance": provenance})
        write_result(Path("reports/scores") / f"{key}.json", result)
    return folder


def change_recipe(path: Path) -> None:
    result = read_result(path)
    write_result(path, result.model_copy(update={"run": result.run.model_copy(update={"recipe": "0" * 64})}))


def shown() -> Cell:
    """The cell of SimCSE on STS-B in the small table of the current project."""
    evidence = evidence_without_plan(read_results(Path("reports/scores").glob("*.json")))
    table = build_table(load_specs(Path("leaderboards/tables"))["small-sts"], evidence)
    row = next(row for row in table.rows if row.title == "SimCSE")
    return row.cells[[column.key for column in table.columns].index("STSB")]


def test_a_bundle_of_one_project_adds_a_seed_to_a_cell_of_another(
    there: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(CONTRIBUTE) == 0
    assert "1 runs, 1 files, by Anna's lab" in capsys.readouterr().out
    os.chdir(here)
    before = shown()
    assert main(["accept", str(there / "bundle.zip")]) == 0
    after = shown()
    assert (before.n, before.elsewhere) == (1, 0)
    assert (after.n, after.elsewhere, after.runs) == (2, 1, (OWN, KEY))
    evidence = evidence_without_plan(read_results(Path("reports/scores").glob("*.json")))
    assert evidence.contributors == {KEY: "Anna's lab"}


def test_a_seed_that_we_ran_too_counts_once_and_one_of_another_recipe_not_at_all(
    there: Path, here: Path
) -> None:
    assert main(CONTRIBUTE) == 0
    os.chdir(here)
    assert main(["accept", str(there / "bundle.zip")]) == 0
    (accepted,) = Path("leaderboards/contributed").glob("*/scores/*.json")
    own = Path(f"reports/scores/{KEY}.json")
    own.write_bytes(accepted.read_bytes())
    assert (shown().n, shown().elsewhere) == (2, 0)
    own.unlink()
    change_recipe(accepted)
    assert (shown().n, shown().elsewhere) == (1, 0)


def test_a_bundle_is_accepted_once_and_a_changed_recipe_is_refused(
    there: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(CONTRIBUTE) == 0
    change_recipe(Path(f"reports/scores/{KEY}.json"))
    assert main([*CONTRIBUTE[:3], "other.zip", *CONTRIBUTE[4:]]) == 0
    os.chdir(here)
    assert main(["accept", str(there / "other.zip")]) == 2
    assert "another recipe than here" in capsys.readouterr().err
    assert not Path("leaderboards/contributed").exists()
    assert main(["accept", str(there / "bundle.zip")]) == 0
    assert main(["accept", str(there / "bundle.zip")]) == 2
    assert "which is here" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ((*CONTRIBUTE, "--vectors"), "no stored vectors"),
        (("contribute", "simcse__s0", *CONTRIBUTE[2:]), "expected the result of a run"),
        ((*CONTRIBUTE, "--link", "http://x"), "--link"),
        (("accept", "nothing.zip"), "nothing.zip"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    words: tuple[str, ...], fault: str, there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(there.rglob("*"))
    assert main(words) == 2
    error = capsys.readouterr().err
    assert fault in error
    assert error.count("\n") == 1
    assert sorted(there.rglob("*")) == before


def test_a_result_gets_the_commit_of_its_code_when_it_is_packed_and_other_code_is_refused(
    there: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(f"reports/scores/{KEY}.json")
    result = read_result(path)
    code = run_code(result.run.method, [score.task for score in result.scores])

    def made_by(code: str) -> None:
        stated = {"git_commit": None, "git_dirty": None, "code_sha256": code}
        provenance = result.provenance.model_copy(update=stated)
        write_result(path, result.model_copy(update={"provenance": provenance}))

    monkeypatch.setattr("harness.commands.contribute.git_state", lambda: ("b" * 40, False))
    made_by("0" * 64)
    assert main(CONTRIBUTE) == 2
    assert "made by other code than is here" in capsys.readouterr().err
    made_by(code)
    assert main(CONTRIBUTE) == 0
    with zipfile.ZipFile("bundle.zip") as bundle:
        packed = json.loads(bundle.read(f"scores/{KEY}.json"))
    assert packed["provenance"]["git_commit"] == "b" * 40
    assert "git_commit" not in json.loads(path.read_text())["provenance"]
