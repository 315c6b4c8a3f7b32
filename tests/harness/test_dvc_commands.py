"""DVC's own commands on the pipeline, for users who know only DVC."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness.evidence.curves import LOSSES, POINTS, losses_of
from harness.evidence.store import read_results
from harness.report.formats.summary import flat_metrics, metrics_files
from tests.support.git import commit
from tests.support.plan import small_plan
from tests.support.yaml_files import dump_yaml

pytestmark = pytest.mark.thorough
ROOT = Path(__file__).parents[2]
SYSTEM = "simcse-small__words-50d"
RUN = f"{SYSTEM}__s0"
METRICS = Path("reports/tables/metrics")


def write_metrics() -> None:
    for name, text in metrics_files(read_results(sorted(Path("reports/scores").glob("*.json")))).items():
        (Path("reports") / name).write_text(text)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The committed pipeline, the plan of one system and the files of two of its runs, all in one commit."""
    folder = tmp_path_factory.mktemp("project")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        shutil.copy(ROOT / "dvc.yaml", "dvc.yaml")
        plan = small_plan()
        plan["runs"] = {key: run for key, run in plan["runs"].items() if key.startswith(SYSTEM)}
        Path("params.yaml").write_text(dump_yaml(plan))
        for path in (METRICS, Path("reports/scores"), Path("reports/curves"), LOSSES, Path(".dvc")):
            path.mkdir(parents=True)
        shutil.copy(ROOT / ".dvc/config", ".dvc/config")
        for seed in range(2):
            for part in ("scores", "curves"):
                name = f"reports/{part}/{SYSTEM}__s{seed}.json"
                shutil.copy(ROOT / name, name)
        steps = [{"step": step, "loss": 1 / (1 + step), "learning_rate": 0.01} for step in range(20)]
        (LOSSES / f"{RUN}.json").write_text(json.dumps({"losses": steps}))
        write_metrics()
        commit(Path(), "one")
    return folder


def dvc(project: Path, *words: str) -> Any:
    """Runs a command of DVC and returns its output, parsed if it is JSON."""
    done = subprocess.run(["dvc", *words], cwd=project, capture_output=True, text=True, check=True)
    return json.loads(done.stdout) if "--json" in words else done.stdout


def test_dvc_metrics_show_is_a_table_of_scores_with_a_row_for_each_run(project: Path) -> None:
    """The scores are x 100; the mean is that over STS-B test and five parts, as in the report's table."""
    head, *rows = dvc(project, "metrics", "show").splitlines()
    assert sorted(head.split()) == sorted(
        ["Path", "Mean", "STSB", "STSB-dev", *(f"STS{year}-part" for year in range(12, 17))]
    )
    assert [row.split()[0] for row in rows] == [f"{METRICS}/{SYSTEM}__s{seed}.json" for seed in range(2)]
    scores = dict(zip(head.split(), rows[0].split(), strict=True))
    values = [float(value) for name, value in scores.items() if name not in ("Path", "Mean", "STSB-dev")]
    assert float(scores["Mean"]) == pytest.approx(sum(values) / 6, abs=1e-3)
    stored = json.loads((ROOT / f"reports/scores/{RUN}.json").read_text())["scores"][0]
    assert float(scores["STSB"]) == pytest.approx(100 * stored["value"], abs=1e-3)


def test_dvc_metrics_diff_shows_changes_since_the_commit(project: Path) -> None:
    path = project / METRICS / f"{RUN}.json"
    before = path.read_text()
    changed = json.loads(before)
    changed["STSB"] += 1.5
    path.write_text(json.dumps(changed))
    try:
        shown = dvc(project, "metrics", "diff", "--json")
        assert set(shown) == {f"{METRICS}/{RUN}.json"}
        assert shown[f"{METRICS}/{RUN}.json"]["STSB"]["diff"] == pytest.approx(1.5)
    finally:
        path.write_text(before)


def test_dvc_plots_draws_dev_curves_and_losses_over_steps(project: Path) -> None:
    """DVC's own check of the data is the absence of errors; a JSON Lines file would be one."""
    targets = [f"reports/{part}/{RUN}.json" for part in ("curves", "losses", "scores")]
    actual = dvc(project, "plots", "diff", "HEAD", "workspace", "--json", "--split", "--targets", *targets)
    assert not actual.get("errors")
    axes = {}
    for path, (plot,) in actual["data"].items():
        anchors = plot["anchor_definitions"]
        axes[path.split("/")[1]] = [anchors[f"<DVC_METRIC_{axis}_LABEL>"] for axis in "XY"]
        points = anchors["<DVC_METRIC_DATA>"]
        assert {point["rev"] for point in points} == {"HEAD", "workspace"}
    assert axes == {"curves": ["step", "score"], "losses": ["step", "loss"], "scores": ["value", "task"]}


def test_losses_are_thinned_and_a_log_without_steps_has_one_entry_without_a_loss(tmp_path: Path) -> None:
    log = tmp_path / "train.jsonl"
    evaluated = {"step": 0, "evaluation": True, "score": 0.5}
    log.write_text(json.dumps(evaluated) + "\n")
    assert losses_of(log) == [{"step": 0, "loss": None}]
    lines = [evaluated, *({"step": n, "loss": n / 3, "learning_rate": 0.1, "kl": 1} for n in range(1201))]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    kept = losses_of(log)
    assert [entry["step"] for entry in kept] == list(range(0, 1201, 3))
    assert len(kept) <= POINTS
    assert kept[1] == {"step": 3, "loss": 1.0, "learning_rate": 0.1}


def test_flat_metrics_have_one_number_for_each_task_only_from_the_selected_weights() -> None:
    (result,) = read_results([ROOT / f"reports/scores/{RUN}.json"])
    last = [score.model_copy(update={"selection": "last", "value": 0.0}) for score in result.scores]
    both = result.model_copy(update={"scores": [*result.scores, *last]})
    assert flat_metrics(both) == flat_metrics(result)
    accuracy = result.scores[0].model_copy(update={"task": "MR", "metric": "accuracy", "value": 0.81236})
    actual = flat_metrics(result.model_copy(update={"scores": [accuracy]}))
    assert actual == {"MR": 81.236, "Mean": 81.236}
