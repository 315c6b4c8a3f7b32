"""A training without a dev score that is a number ends in one line: nothing says which weights to keep."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from methods.core.errors import InputError
from tests.faults.small_project import TRAIN, write_project
from tests.support.toy import ROWS, toy_trainer


@pytest.mark.parametrize("untrained", [math.nan, 1.0])
def test_a_training_of_which_no_score_is_a_number_ends_in_one_line(tmp_path: Path, untrained: float) -> None:
    trainer = toy_trainer(tmp_path, {0: untrained, 4: math.nan, 8: math.nan}, eval_every=4)
    with pytest.raises(InputError, match="no dev score after the first step is a number"):
        trainer.fit(ROWS)


def test_one_score_that_is_a_number_is_selected(tmp_path: Path) -> None:
    trainer = toy_trainer(tmp_path, {0: math.nan, 4: -0.5, 8: math.nan}, eval_every=4)
    trainer.fit(ROWS)
    assert (trainer.record.best_step, trainer.record.best) == (4, -0.5)


def test_an_encoder_that_gives_one_vector_is_refused_before_the_first_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    """With every weight 0 all vectors are equal, and no correlation is defined."""
    project = write_project(tmp_path / "project")
    weights = project / "backbones/minilm-l2/model.safetensors"
    save_file({name: torch.zeros_like(value) for name, value in load_file(weights).items()}, weights)
    monkeypatch.chdir(project)
    line = refused(*TRAIN)
    assert "STSB-dev: spearman over all is not defined" in line
    assert not (project / "artefacts").exists()
