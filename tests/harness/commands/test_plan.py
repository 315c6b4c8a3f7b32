"""`sentbench plan`: every table and figure, near matches, finished runs, and a dry run without writes."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import main
from harness.commands.plan import describe_plan, systems
from harness.evidence.schema import ResultFile
from harness.evidence.spec import load_specs
from harness.evidence.store import write_result
from harness.plan.entries import Params
from harness.plan.estimate import Estimate
from harness.plan.hours import read_hours
from harness.plan.params_file import read_params
from harness.plan.recipes import load_recipes
from harness.plan.resolve import resolve
from harness.plan.stale import outdated, recorded_recipes
from tests.support.results import raw_result

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.usefixtures("checkout")


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


TABLES = load_specs(ROOT / "leaderboards/tables")
PLANNABLE = sorted(key for key, spec in TABLES.items() if list(spec.choices()))
"""Every table and figure that shows runs."""


def test_every_table_and_figure_can_be_planned_by_its_name() -> None:
    recipes = load_recipes()
    for key in PLANNABLE:
        params = resolve(recipes, [key], seeds=1, tables=TABLES)
        assert params.runs, key
    assert len(PLANNABLE) > 25
    assert {"pcl/table2", "dclr/fig6a", "ptbert/table5c", "sct/table2", "una/table1"} <= set(PLANNABLE)


def test_a_table_needs_the_data_of_its_columns_and_a_recipe_of_all_its_tasks() -> None:
    """Tables 2 of SCT and DCLR print STS alone; their systems are re-ranked and classified elsewhere."""
    recipes = load_recipes()

    def sources(*names: str) -> set[str]:
        return set(resolve(recipes, names, seeds=1, tables=TABLES).sources)

    for table in ("sct/table2", "dclr/table2"):
        assert not sources(table) & {"askubuntu", "scidocs", "snli", "mr", "trec"}
        assert {"sts12", "sts16", "sickr", "stsb"} <= sources(table)
    assert {"askubuntu", "scidocs"} <= sources("sct/table3")
    assert {"askubuntu", "scidocs", "snli"} <= sources("sct")
    assert sources("sct/table2", "sct/table3") >= sources("sct/table3")
    assert sources("sct/table2", "dclr") >= sources("dclr")
    recipe = "baselines/whitening"
    assert sources("dclr/table2", recipe) == sources("dclr/table2") | sources(recipe)


def test_runs_of_a_table_keep_every_task_whose_data_is_there_anyway() -> None:
    """SICK-E reads the file of SICK-R; SNLI, the other task of its suite, has a separate file."""
    params = resolve(load_recipes(), ["sct/table2"], seeds=1, tables=TABLES)
    tasks = params.runs["sct-bert-tiny__bert-tiny__s0"].tasks
    assert tasks == ["sts", "STSB-dev", "SICK-E"]


def test_a_dry_run_writes_no_file_and_a_plan_writes_the_params(
    checkout: Path, printed: Callable[..., str]
) -> None:
    before = files(checkout)
    shown = printed("plan", "pcl/fig2", "--seeds", "1", "--dry-run")
    assert files(checkout) == before
    assert printed("plan", "pcl/fig2", "--seeds", "1").startswith(shown)
    assert files(checkout) == before | {"params.yaml"}
    assert len(read_params().runs) == 5


def test_a_listing_has_the_cost_of_every_system_the_total_and_their_basis() -> None:
    params = resolve(load_recipes(), ["pcl/fig2"], seeds=2, tables=TABLES)
    lines = describe_plan(params).splitlines()
    assert " ".join(lines[0].split()) == "system backbone runs done steps of batch GPU h core h disk"
    rows = {line.split()[0]: line.split() for line in lines[1:]}
    assert rows["pcl-k7"][1:4] == ["bert-base-uncased", "2", "0"]
    costs = [float(rows[f"pcl-k{k}"][7].replace(",", "")) for k in (1, 3, 5, 7)]
    assert all(cost > 0 for cost in costs)
    assert rows["total"][1:3] == ["10", "0"]
    assert "counted: evaluations on sts, with their vectors" in lines


def test_hours_that_are_less_than_a_start_are_not_counted_in_seconds(printed: Callable[..., str]) -> None:
    """A training of the small plan has 0.00024 GPU hours of operations."""
    rows = [line.split() for line in printed("plan", "small", "--dry-run").splitlines()]
    (ct,) = (row for row in rows if row[:1] == ["ct-small"])
    assert ct[7] == "<0.01"


def test_a_plan_in_bf16_trains_in_it_and_promises_no_gain(capsys: pytest.CaptureFixture[str]) -> None:
    """An encoder that is not trained keeps its settings, and so its results."""
    names, recipes = ["pcl/table2"], load_recipes()
    usual = resolve(recipes, names, tables=TABLES)
    other = resolve(recipes, names, tables=TABLES, precision="bf16")
    changed = {run.id: run.train["precision"] for key, run in other.runs.items() if run != usual.runs[key]}
    trained = {run.id for run in usual.runs.values() if run.train["steps"] != 0}
    assert changed == dict.fromkeys(trained, "bf16")
    assert "simcse" in trained < {run.id for run in usual.runs.values()}
    lines = [describe_plan(plan).splitlines() for plan in (usual, other)]
    assert [line for line in lines[0] if line.startswith("total")] == [
        line for line in lines[1] if line.startswith("total")
    ]
    (basis,) = (line for line in lines[1] if line.startswith("GPU hours in bf16: "))
    assert "; bf16 counts like fp32: " in basis
    assert any(re.match(r"a seed of pcl .* estimated in bf16, 2.5 stated", line) for line in lines[1])
    assert main(["plan", "small", "--precision", "bf16", "--dry-run"]) == 2
    assert "portable arithmetic, which needs fp32" in capsys.readouterr().err


def test_without_an_estimate_of_any_system_no_total_and_no_hours_are_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A method of an included folder has no measured step time: "about 0 hours" would be wrong."""
    params = resolve(load_recipes(), ["pcl/fig2"], seeds=2, tables=TABLES)
    known = Estimate.run
    monkeypatch.setattr(Estimate, "run", lambda self, run: None)
    lines = describe_plan(params).splitlines()
    rows = {line.split()[0]: line.split() for line in lines[1:]}
    assert rows["total"][1:] == ["10", "0", "?", "?", "?"]
    assert rows["still"][3:] == ["10", "?", "?", "?"]
    assert not any(line.startswith("still to run on this machine") for line in lines)
    monkeypatch.setattr(Estimate, "run", lambda self, run: known(self, run) if run.id == "pcl-k7" else None)
    (line,) = [line for line in describe_plan(params).splitlines() if line.startswith("still to run on this")]
    assert line.endswith(" hours, without the systems that have no estimate")


def done(params: Params) -> dict[str, int]:
    """Returns the number of finished runs of each system, in the order of the plan."""
    return {system.id: system.done for system in systems(params, Estimate(params, read_hours()))}


def test_a_run_is_done_if_its_score_and_those_it_needs_are_of_the_present_recipe(checkout: Path) -> None:
    """DCLR learns from SimCSE of its seed: seed 0 of SimCSE has other settings, seed 2 of PCL no result."""
    params, former = read_params(ROOT / "params.yaml"), {"simcse-small": 3, "dclr-small": 3, "pcl-small": 2}
    params = params.model_copy(
        update={"runs": {key: run for key, run in params.runs.items() if run.id in former and run.is_first}}
    )
    for key, run in params.runs.items():
        if key != "pcl-small__words-50d__s2":
            names = {"id": run.id, "backbone": run.backbone_name, "seed": run.seed}
            made = raw_result(key, recipe=run.recipe_hash(), **names)
            write_result(Path(f"reports/scores/{key}.json"), ResultFile.model_validate(made))
    assert done(params) == former
    key = "simcse-small__words-50d__s0"
    other = params.runs[key].model_copy(update={"config": {"max_length": 31}})
    changed = params.model_copy(update={"runs": {**params.runs, key: other}})
    assert done(changed) == {"simcse-small": 2, "dclr-small": 2, "pcl-small": 2}
    assert outdated(changed, recorded_recipes(changed)) == [key, "dclr-small__words-50d__s0"]
    lines = [line for line in describe_plan(changed).splitlines() if line.startswith("9 runs")]
    assert lines[0].startswith("9 runs (6 done), ")


def test_a_plan_that_the_cores_of_this_machine_finish_in_a_week_says_that_it_needs_no_gpu(
    printed: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On two cores the laptop plan takes two days, a table of BERT-base months."""
    monkeypatch.setattr("harness.commands.plan.cores_here", lambda: 2)
    for name, words in {"laptop": "; no GPU needed", "pcl/table3": ""}.items():
        lines = printed("plan", name, "--dry-run").splitlines()
        (line,) = (line for line in lines if line.startswith("still to run on this machine"))
        assert line.partition(" hours")[2] == words


def test_a_dry_run_checks_runs_that_params_yaml_does_not_have(
    checkout: Path, printed: Callable[..., str], refused: Callable[..., str]
) -> None:
    """A run that was written is not checked again, which would load torch; a changed recipe is refused."""
    printed("plan", "baselines/simcse", "--seeds", "1")
    words = ("plan", "baselines/simcse", "--seeds", "1", "--dry-run")
    shown = "import sys; from harness.cli import main; main(sys.argv[1:]); print('torch' in sys.modules)"

    def loads_torch() -> str:
        done = subprocess.run(
            [sys.executable, "-c", shown, *words], capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()[-1]

    assert loads_torch() == "False"
    (checkout / "recipes").unlink()
    shutil.copytree(ROOT / "recipes", checkout / "recipes")
    for path in (checkout / "recipes").glob("*.yaml"):
        path.write_text(path.read_text().replace("temperature: 0.05", "temperature: -0.05"))
    assert "config.temperature" in refused(*words) or "temperature is -0.05" in refused(*words)
