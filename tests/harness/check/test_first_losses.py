"""The first losses of a run: repeatable, and different for different settings."""

import copy
import json
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from harness.check import first_losses
from harness.check.first_losses import (
    MOST_ROWS,
    QUEUE,
    STEPS,
    evaluate,
    measure_run,
    measure_runs,
    measured_runs,
    read_losses,
    representatives,
    small_config,
    write_losses,
)
from harness.data.corpora import read_corpus
from harness.errors import InputError
from harness.io.records import rounded
from harness.plan.entries import Params
from harness.plan.params_file import read_params
from methods.core.networks import Networks
from methods.core.resume import LOG
from methods.core.rows import Row
from methods.core.streams import INITIALISE, subset, torch_seed
from methods.core.trainer import Trainer
from tests.faults.small_project import RUN, write_project
from tests.support import tiny
from tests.support.yaml_files import load_yaml


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of one run of a tiny encoder."""
    return write_project(tmp_path_factory.mktemp("losses") / "project")


@pytest.fixture
def params(made: Path, monkeypatch: pytest.MonkeyPatch) -> Params:
    monkeypatch.chdir(made)
    return read_params()


def changed(params: Params, **more: Any) -> Params:
    """Returns the plan with other settings of its run: of the method, the training or the run."""
    raw = params.model_dump(by_alias=True)
    run = raw["runs"][RUN]
    for name, value in more.items():
        (next(part for part in (run["config"], run["train"], run) if name in part))[name] = value
    return Params.model_validate(raw)


def test_three_losses_are_the_same_each_time_also_in_another_process(params: Params) -> None:
    losses = measure_run(params, RUN)
    assert len(losses) == STEPS == len(set(losses))
    assert all(loss == float(f"{loss:.10g}") for loss in losses)
    assert measure_run(params, RUN) == losses
    assert measure_runs(params, [RUN]) == {RUN: losses}


def test_a_measurement_leaves_no_file(
    params: Params, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that ends early; its training writes into a temporary folder."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    before = {path for path in Path().rglob("*") if ".cache" not in path.parts}
    measure_run(params, RUN)

    def interrupted(*given: Any, **more: Any) -> None:
        assert [*(tmp_path / "temporary").iterdir()]
        raise KeyboardInterrupt

    monkeypatch.setattr(first_losses, "evaluate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        measure_run(params, RUN)
    assert not [*(tmp_path / "temporary").iterdir()]
    assert {path for path in Path().rglob("*") if ".cache" not in path.parts} == before


@pytest.mark.parametrize(
    ("name", "value", "first"),
    [("temperature", 0.06, 0), ("seed", 1, 0), ("learning_rate", 0.011, 1), ("weight_decay", 0.3, 1)],
)
def test_a_changed_setting_changes_a_loss(params: Params, name: str, value: Any, first: int) -> None:
    """Settings of the update change only the losses after the first step."""
    losses, other = measure_run(params, RUN), measure_run(changed(params, **{name: value}), RUN)
    assert losses[:first] == other[:first]
    assert losses[first] != other[first]


@pytest.mark.parametrize("seed", [0, 3])
def test_the_seed_of_a_run_draws_its_head_its_share_of_the_rows_and_its_batches(
    params: Params, seed: int, tmp_path: Path
) -> None:
    """The same three steps put together here, where each of the three seeds is given by hand.

    The head of SimCSE is drawn, half of the rows are read, and a step has half of these.
    """
    planned = changed(params, seed=seed, corpus_share=0.5)
    run = planned.run(RUN)
    method, config, settings = run.read_settings()
    assert config.head == "mlp"
    settings = settings.model_copy(
        update={"steps": STEPS, "epochs": None, "eval_every": 1, "eval_within": "run", "save_every": STEPS}
    )
    torch.manual_seed(torch_seed(seed, INITIALISE))
    built = method(config, Networks(Path(run.backbone), pooling=run.pooling, parent=None))
    trainer = Trainer(built, settings, seed, evaluate, tmp_path)
    trainer.fit(subset(read_corpus(Path(run.corpus)), 0.5, seed=seed))
    entries = [json.loads(line) for line in (tmp_path / LOG).read_text().splitlines()]
    expected = [rounded(entry["loss"]) for entry in entries if "evaluation" not in entry]
    assert measure_run(planned, RUN) == expected
    assert measure_run(changed(params, seed=5, corpus_share=0.5), RUN) != expected


def test_a_queue_leaves_rows_for_the_steps_of_the_first_losses() -> None:
    """Of 640 rows 3 x 16 are trained on; a queue of 512 or less stays, a larger one is cut to 512."""
    config = SimpleNamespace(
        queue_size=600, model_copy=lambda update: SimpleNamespace(**{"queue_size": 600, **update})
    )
    assert small_config(config, MOST_ROWS).queue_size == QUEUE == 512
    assert small_config(config, 100).queue_size == 100 - 48
    config.queue_size = 511
    assert small_config(config, MOST_ROWS).queue_size == 511


def test_each_core_measures_runs_and_a_corpus_is_read_once_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On twelve cores; two runs have a corpus of three rows, the one between them a corpus of five."""
    asked: list[int | None] = []
    read: list[Path] = []
    sizes = {tmp_path / "three": 3, tmp_path / "five": 5}
    corpora = {"first": "three", "second": "five", "third": "three"}
    plan: Any = SimpleNamespace(run=lambda key: SimpleNamespace(corpus=str(tmp_path / corpora[key])))

    class Threads(ThreadPoolExecutor):
        def __init__(self, workers: int | None, *_: Any, **settings: Any) -> None:
            asked.append(workers)
            super().__init__(2)

    def rows_of(folder: Path) -> list[Row]:
        read.append(folder)
        return tiny.rows(sizes[folder])

    def measured(params: Any, key: str) -> list[float]:
        return [float(len(first_losses._corpora[params.run(key).corpus]))]

    for folder in sizes:
        folder.mkdir()
    monkeypatch.setattr(os, "cpu_count", lambda: 12)
    monkeypatch.setattr(first_losses, "ProcessPoolExecutor", Threads)
    monkeypatch.setattr("harness.data.corpora.read_corpus", rows_of)
    monkeypatch.setattr(first_losses, "measure_run", measured)
    ended: list[str] = []
    losses = measure_runs(plan, list(corpora), ended=ended.append)
    assert ended == ["first", "second", "third"]
    assert losses == {"first": [3.0], "second": [5.0], "third": [3.0]}
    assert asked == [12]
    assert sorted(read) == sorted(sizes)
    assert first_losses._corpora == {}, "a later measurement reads its corpora again"

    def interrupted(key: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure_runs(plan, list(corpora), ended=interrupted)
    assert first_losses._corpora == {}, "also after one that was interrupted"


def test_runs_without_a_step_have_no_loss(params: Params) -> None:
    assert measured_runs(params) == [RUN]
    assert measured_runs(changed(params, steps=0)) == []


def test_runs_that_differ_only_in_their_seed_share_the_first_losses_of_the_first(params: Params) -> None:
    """A seed with a setting of its own is measured too."""
    raw = params.model_dump(by_alias=True)
    other = RUN.replace("__s0", "__s{}").format
    for seed, temperature in ((1, None), (2, 0.07)):
        run = raw["runs"][other(seed)] = copy.deepcopy(raw["runs"][RUN])
        run["seed"] = seed
        run["config"]["temperature"] = temperature or run["config"]["temperature"]
    plan = Params.model_validate(raw)
    assert representatives(plan) == {RUN: RUN, other(1): RUN, other(2): other(2)}
    assert measured_runs(plan) == [RUN, other(2)]


def test_the_file_has_a_line_for_each_run_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "losses.yaml"
    known = {"a__b__s0": [0.1, 1e-8, 123456.7891], "c__d__s10": [1.0, 2.0, 3.0]}
    write_losses(path, known)
    assert read_losses(path) == known
    comment, *lines = path.read_text().splitlines()
    assert comment.startswith("# ")
    assert [load_yaml(line) for line in lines] == [{key: losses} for key, losses in known.items()]
    path.write_text("a__b__s0: [1.0, 2.0]\n")
    with pytest.raises(InputError, match="a__b__s0"):
        read_losses(path)
    with pytest.raises(InputError, match="check --measure"):
        read_losses(tmp_path / "none.yaml")
