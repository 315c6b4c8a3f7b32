"""The laptop plan: its systems from other recipes, a row of every paper, in a night on eight cores."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import methods
from harness import paths
from harness.cli import main
from harness.errors import InputError
from harness.evidence.spec import load_specs
from harness.plan.estimate import Estimate, hours_at_once
from harness.plan.hours import KnownHours, read_hours
from harness.plan.inputs import narrowed
from harness.plan.names import limited_tasks, select
from harness.plan.recipes import Recipe, load_recipes
from harness.plan.resolve import resolve
from harness.tasks.registry import SELECTION, members
from tests.support.yaml_files import dump_yaml

NIGHT, CORES, THREADS = 12.0, 8, 2
"""`sentbench launch --jobs 4`: two threads a run, for one thread of CT takes longer than a night."""
STS = {"STS12", "STS13", "STS14", "STS15", "STS16", "STSB", "SICKR"}


@pytest.fixture(autouse=True)
def nothing_is_left_included(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(paths.INCLUDE, "")
    searched, folders = list(methods.__path__), list(paths.FOLDERS)
    yield
    methods.__path__[:], paths.FOLDERS[:] = searched, folders


@pytest.fixture(scope="module")
def recipes() -> dict[str, Recipe]:
    return load_recipes()


@pytest.fixture(scope="module")
def committed() -> KnownHours:
    return read_hours()


def test_it_takes_a_night_on_eight_cores_by_the_known_hours(
    recipes: dict[str, Recipe], committed: KnownHours
) -> None:
    params = resolve(recipes, ["laptop"], tables=load_specs())
    estimate = Estimate(params, committed)
    costs = [estimate.run(run) for run in params.runs.values()]
    assert not params.teachers
    assert None not in costs
    hours = [cost.cpu_hours / THREADS for cost in costs if cost]
    assert max(hours) > NIGHT / 2
    assert hours_at_once(hours, CORES // THREADS) <= NIGHT


def test_every_system_is_in_a_table_and_every_paper_has_a_row(recipes: dict[str, Recipe]) -> None:
    shown = [
        (key.partition("/")[0], (run.system, run.backbone))
        for key, spec in load_specs().items()
        for run in spec.choices()
    ]
    taken = [
        (selection.system, name) for selection in recipes["laptop"].takes for name in selection.backbones
    ]
    assert {run for _, run in shown} >= set(taken)
    assert {paper for paper, run in shown if run in taken} >= {"pcl", "dclr", "ptbert", "sct", "una"}


def test_its_runs_are_evaluated_only_on_the_sts_sets_and_the_selection_set(
    recipes: dict[str, Recipe],
) -> None:
    params = resolve(recipes, ["laptop"], tables=load_specs())
    evaluated = {part for run in params.runs.values() for name in run.tasks for part in members(name)}
    assert STS <= evaluated <= STS | {"SICK-E"} | set(SELECTION)
    assert "small" in recipes
    assert limited_tasks(recipes, ["laptop", "small"], {}) == {"laptop": recipes["laptop"].tasks}


def test_a_run_keeps_the_tasks_whose_data_a_table_or_selection_reads(
    recipes: dict[str, Recipe],
) -> None:
    (run,) = resolve(recipes, ["baselines/simcse"], seeds=1, backbones=["bert-base-uncased"]).runs.values()
    kept = narrowed({"run": run}, ["STS12"], ["embedded", "hub"])["run"].tasks
    parts = {part for name in kept for part in members(name)}
    assert parts >= {"STS12", "STSB", "STSB-dev"}
    assert "STS13" not in parts


def test_a_taken_system_has_the_first_of_its_seeds_and_the_backbones_that_are_named(
    recipes: dict[str, Recipe],
) -> None:
    systems = select(recipes, ["laptop"], {})
    assert (systems["ct"].seeds, systems["ct"].backbones) == (
        recipes["ct"].systems["ct"].seeds[:1],
        ["bert-base-uncased"],
    )
    assert systems["sct-simcse"].backbones == ["bert-tiny", "bert-mini"]
    assert systems["sct-simcse"].seeds == recipes["sct"].systems["sct-simcse"].seeds


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"name": "mine"}, "needs `runs` or `takes`"),
        (
            {"name": "mine", "takes": [{"system": "ct", "backbones": ["bert-tiny"]}]},
            "takes ct@bert-tiny, which no",
        ),
        (
            {"name": "mine", "takes": 2 * [{"system": "ct", "backbones": ["bert-base-uncased"]}]},
            "takes ct twice",
        ),
    ],
)
def test_a_wrong_selection_is_one_line(
    content: dict[str, object], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes/mine.yaml").write_text(dump_yaml(content))
    assert main(["--include", str(tmp_path), "plan", "mine", "--dry-run"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert message in lines[0]


def test_a_custom_selection_is_a_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taken = [{"system": "glove", "backbones": ["glove-6b-300d"]}]
    (tmp_path / "recipes").mkdir()
    content = {"name": "mine", "takes": taken, "tasks": ["STSB"]}
    (tmp_path / "recipes/mine.yaml").write_text(dump_yaml(content))
    assert main(["--include", str(tmp_path), "plan", "mine", "--dry-run"]) == 0
    output = capsys.readouterr().out
    assert "glove                        glove-6b-300d           1 " in output
    assert "sts12" not in output


def test_an_unknown_task_of_a_selection_is_refused(tmp_path: Path) -> None:
    recipes = load_recipes()
    wrong = recipes["laptop"].model_copy(update={"tasks": ["STS99"]})
    with pytest.raises(InputError, match="STS99"):
        resolve({**recipes, "laptop": wrong}, ["laptop"])
