"""A setting, loss or score that is not a number ends a training in one line and leaves no file."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from harness.cli import main
from methods.core.errors import InputError
from methods.core.train_config import Settings, TrainConfig
from methods.core.types import Batch, Loss
from methods.simcse.method import SimCSE
from tests.faults.small_project import RUN, train, write_project
from tests.faults.trees import tree_but
from tests.support.plan import small_plan
from tests.support.toy import ROWS, toy_trainer
from tests.support.yaml_files import dump_yaml, load_yaml

FLOATS = {"1e300": 1e300, "1e-300": 1e-300, "inf": float("inf"), "nan": float("nan"), "-1": -1.0}
WHOLE = {"10**20": 10**20, "-1": -1, "zero": 0}
TRAIN = {
    **dict.fromkeys(("learning_rate", "weight_decay", "epsilon", "max_grad_norm", "warmup_share"), FLOATS),
    **dict.fromkeys(("batch_size", "eval_every", "save_every"), WHOLE),
    "steps": {"10**20": 10**20, "-1": -1},
    "betas": {"below zero": [-0.5, 0.9], "nan": [0.9, float("nan")], "one": [0.9, 1.0]},
}
PLANNED = "simcse-small__words-50d__s0"
MODELS: dict[str, type[Settings]] = {"train": TrainConfig, "config": SimCSE.Config}
CONFIG = {"temperature": FLOATS, "max_length": WHOLE}
CASES = [
    (block, key, values)
    for block, settings in (("train", TRAIN), ("config", CONFIG))
    for key, values in settings.items()
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_project(tmp_path / "project")
    monkeypatch.chdir(folder)
    return folder


def left(project: Path) -> dict[str, Any]:
    """Returns all that is there but locks and kept tokens, which any command may leave."""
    actual = tree_but(project, ".cache/locks", ".cache/pieces", ".cache/texts")
    return {name: value for name, value in actual.items() if name not in (".cache", ".cache/resume")}


def train_with(project: Path, block: str, **settings: Any) -> dict[str, Any]:
    """Writes settings into the plan's run, trains it and returns the previous files."""
    path = project / "params.yaml"
    params = load_yaml(path.read_text())
    params["runs"][RUN][block] |= settings
    path.write_text(dump_yaml(params))
    before = left(project)
    assert main(train(RUN)) == 2
    return before


@pytest.mark.parametrize(("block", "key", "values"), CASES)
def test_an_absurd_setting_is_refused_by_name(block: str, key: str, values: dict[str, Any]) -> None:
    model, entry = MODELS[block], small_plan()["runs"][PLANNED][block]
    model.model_validate(entry)
    for value in values.values():
        with pytest.raises(ValueError, match=key):
            model.model_validate({**entry, key: value})


def test_an_absurd_setting_is_one_line_before_any_work(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = train_with(project, "train", learning_rate=math.nan)
    message = capsys.readouterr().err
    assert message.startswith("sentbench: ")
    assert message.count("\n") == 1
    assert "learning_rate" in message
    assert left(project) == before


def test_a_loss_that_is_not_a_number_leaves_no_resume_point(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = SimCSE.loss

    def infinite(self: SimCSE, batch: Batch) -> Loss:
        loss = plain(self, batch)
        return loss._replace(total=loss.total + math.inf)

    monkeypatch.setattr(SimCSE, "loss", infinite)
    before = train_with(project, "train", steps=4)
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("step ")]
    assert len(lines) == 1
    assert "the loss is not finite" in lines[0]
    assert left(project) == before


@pytest.mark.parametrize("untrained", [math.nan, 1.0])
def test_a_training_of_which_no_score_is_a_number_ends_in_one_line(tmp_path: Path, untrained: float) -> None:
    trainer = toy_trainer(tmp_path, {0: untrained, 4: math.nan, 8: math.nan}, eval_every=4)
    with pytest.raises(InputError, match="all dev scores after the first step are nan"):
        trainer.fit(ROWS)


def test_an_encoder_that_gives_one_vector_is_refused_before_the_first_step(
    project: Path, refused: Callable[..., str]
) -> None:
    """With every weight 0 all vectors are equal, and no correlation is defined."""
    weights = project / "backbones/minilm-l2/model.safetensors"
    save_file({name: torch.zeros_like(value) for name, value in load_file(weights).items()}, weights)
    assert "STSB-dev: spearman over all is not defined" in refused(*train(RUN))
    assert not (project / "artefacts").exists()
