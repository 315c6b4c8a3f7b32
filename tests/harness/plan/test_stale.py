"""A plan that is older than its recipes, or was edited, is reported with the difference."""

from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.plan.params_file import write_params
from harness.plan.recipes import Recipe, load_recipes
from harness.plan.resolve import resolve
from harness.plan.stale import stale

ROOT = Path(__file__).parents[3]
RECIPES = load_recipes()
NAMES = ["baselines/simcse"]


def changed(**config: Any) -> dict[str, Recipe]:
    """Returns the recipes with other settings of SimCSE's method."""
    home = RECIPES["baselines"]
    system = home.systems["simcse"]
    other = system.model_copy(update={"config": {**system.config, **config}})
    recipe = home.model_copy(update={"systems": {**home.systems, "simcse": other}})
    return {**RECIPES, "baselines": recipe}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "params.yaml"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"seeds": 2},
        {"arithmetic": "portable"},
        {"precision": "bf16"},
        {"seeds": 2, "precision": "bf16"},
        {"seeds": 3, "backbones": ["bert-base-uncased"], "arithmetic": "portable"},
    ],
)
def test_a_plan_written_with_any_options_is_not_stale(path: Path, options: Any) -> None:
    write_params(resolve(RECIPES, NAMES, **options), path)
    assert stale(path) is None


def test_a_changed_recipe_is_named_with_both_values_and_the_command(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two seeds and settings the first is told; the seeds that were planned stay planned."""
    write_params(resolve(RECIPES, NAMES, seeds=2), path)
    monkeypatch.setattr("harness.plan.stale.load_recipes", lambda: changed(temperature=0.06))
    assert stale(path) == (
        f"{path} is older than the recipes: simcse__bert-base-uncased: config.temperature is 0.05, "
        "recipes give 0.06; run `sentbench plan baselines/simcse --seeds 2`",
        False,
    )
    write_params(resolve(changed(temperature=0.06), NAMES, seeds=2), path)
    assert stale(path) is None


@pytest.mark.parametrize("words", [["launch"], ["launch", "--dry-run"], ["check", "--measure"]])
def test_a_plan_that_is_older_than_its_recipes_is_neither_launched_nor_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("recipes", "leaderboards", "dvc.yaml"):
        Path(name).symlink_to(ROOT / name)
    write_params(resolve(RECIPES, NAMES, seeds=2))
    monkeypatch.setattr("harness.plan.stale.load_recipes", lambda: changed(temperature=0.06))
    assert main(words) == 2
    said = capsys.readouterr().err.strip()
    assert said.endswith("recipes give 0.06; run `sentbench plan baselines/simcse --seeds 2`")
    assert "\n" not in said


def test_a_value_changed_in_the_file_is_not_attributed_to_the_recipes(path: Path) -> None:
    """As `dvc exp run -S` does it: one value of one run, and maybe another form of the file."""
    write_params(resolve(RECIPES, NAMES, seeds=1), path)
    path.write_text(path.read_text().replace("learning_rate: 3.0e-05", "learning_rate: 2.0e-05"))
    found = stale(path)
    assert found is not None
    message, edited = found
    assert edited
    assert "was changed after it was written (`dvc exp run -S`, or by hand)" in message
    assert "simcse__bert-base-uncased: train.learning_rate is 2e-05, recipes give 3e-05" in message
    assert message.endswith("`sentbench plan baselines/simcse --seeds 1` undoes it")


def test_without_a_plan_of_a_recipe_there_is_no_message(path: Path) -> None:
    assert stale(path) is None
    params = resolve(RECIPES, NAMES, seeds=1)
    write_params(params.model_copy(update={"plan": ["try"]}), path)
    assert stale(path) is None
