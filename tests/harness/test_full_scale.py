"""The way of a user at full scale, walked with tiny networks: plan, fetch, train, evaluate, report.

A hub on this machine holds every repository in its layout, so that all of the harness but the size is real.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cli import main
from harness.data.sources import SOURCES
from harness.paths import SCORES
from harness.plan.params_file import read_params
from harness.plan.recipes import load_recipes
from tests.support.hub_server import Hub, reached
from tests.support.leaderboards import write_leaderboards
from tests.support.small_hub import fill, small_files, small_table, write_mirror, write_wheel

ROOT = Path(__file__).parents[2]

WALKS = {
    "baselines": "baselines/simcse-roberta",  # no pooler, transfer tasks
    "pcl": "pcl/pcl-tied --backbone bert-large-uncased",  # gamma, beta, prefix, heads of pre-training
    "dclr": "dclr/dclr",  # an artefact as complement, so two trainings
    "ptbert": "ptbert/pt-bert",
    "sct": "sct/sct-aug-mlm15-bert-small",  # weights as a pickle only; a corpus with masks filled by BERT
    "una": "una/una-roberta",
    "competitors": "competitors/ckd-original",  # a teacher with vocab.json and merges.txt
    "augmentations": "augmentations/simcse-eda-synonym",  # WordNet of a mirror
    "checkpoints": "checkpoints/declutr",  # no training
    "ct": "ct/ct",
    "diffcse": "diffcse/diffcse-roberta",  # a language model whose output layer is the generator
    "earlier": "earlier/sg-opt",  # sentences of test sets
    "laptop": "laptop --backbone bert-tiny",  # systems of another recipe
    "mirror-bert": "mirror-bert/mirror-bert",
    "scd": "scd/scd",
}
"""Full-scale recipe -> the plan of its walk."""


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub with all that full scale reads, and a project in an empty folder without other access."""
    files = small_files()
    for name, source in small_table(files).items():
        monkeypatch.setitem(SOURCES, name, source)
    monkeypatch.chdir(tmp_path)
    for room in ("harness", "methods", "recipes"):
        Path(room).symlink_to(ROOT / room)
    write_leaderboards(Path("leaderboards"))
    write_mirror(Path("mirror"), files)
    write_wheel(Path(".cache/wheels"), files)
    monkeypatch.setenv("SENTBENCH_MIRROR", str(tmp_path / "mirror"))
    for name in ("SENTBENCH_HUB", "SENTBENCH_DATA"):
        monkeypatch.delenv(name, raising=False)
    with reached(monkeypatch, tmp_path / "client") as server:
        fill(server, files)
        yield server


def run(line: str) -> None:
    """Runs one command line of `sentbench`, which must succeed."""
    assert main(line.split()) == 0, line


def walk(plan: str) -> None:
    """Plans, fetches, and runs the stages of the pipeline in its order, as `dvc repro` does."""
    run(f"plan {plan} --seeds 1")
    params = read_params()
    for name in params.sources:
        run(f"data fetch {name}")
    run("stage entries")
    run("stage fingerprint")
    for name in params.reads:
        run(f"stage fingerprint --data {name}")
    for part, command in (
        (params.backbones, "backbone"),
        (params.corpora, "corpus"),
        (params.teachers, "teacher"),
    ):
        for name in part:
            run(f"stage {command} {name}")
    for key in params.runs:
        run(f"stage train {key} --out artefacts/{key} --resume")
        run(f"stage evaluate {key}")
    run("report")


def check_walked() -> None:
    """Every run of the plan has a finite score of every task, and the report shows it."""
    for key in read_params().runs:
        result = json.loads((SCORES / f"{key}.json").read_text())
        assert all(isinstance(score["value"], float) for score in result["scores"])
        assert {score["task"] for score in result["scores"]} >= {"STS12", "STSB", "SICKR"}
    assert "html" in Path("reports/index.html").read_text(encoding="utf-8")[:200]


def test_every_full_scale_recipe_has_a_walk() -> None:
    assert set(WALKS) == {
        name for name, recipe in load_recipes(ROOT / "recipes").items() if "hub" in recipe.providers
    }


@pytest.mark.thorough
def test_a_checkpoint_with_a_pickle_alone_is_fetched_and_trained(hub: Hub) -> None:
    walk("sct/sct-simcse --backbone bert-mini")
    check_walked()
    assert hub.sent["senteval.tar"] == len(
        hub.repositories["datasets/princeton-nlp/datasets-for-simcse"].files["senteval.tar"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("recipe", WALKS)
def test_one_run_of_a_full_scale_recipe_goes_from_its_plan_to_the_report(hub: Hub, recipe: str) -> None:
    walk(WALKS[recipe])
    check_walked()
